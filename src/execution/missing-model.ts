import { GatewayError } from '../core/errors.ts'
import { discoveryRetryMs } from '../core/limits/catalog.ts'
import { modelIdLengthMax } from '../core/limits/http.ts'
import type { ExecutionDependencies } from './dependencies.ts'

/**
 * Runs what asks for a model. Where nothing serves it, the providers' listings are read again (bounded in time, and each
 * provider seldom), because somebody may have just loaded it; it runs once more when that has brought the model. Rejects with
 * `no_healthy_endpoint` while a provider that may have the model has not told its models since the start.
 */
export function seekingModel<T>(
  model: string,
  run: () => Promise<T>,
  dependencies: ExecutionDependencies,
): Promise<T> {
  return run().catch((error: unknown) => seekModel(error, { model, run, dependencies }))
}

/** The same after what was run has failed: rejects with that failure, or runs once more. */
export async function seekModel<T>(
  error: unknown,
  { model, run, dependencies }: { model: string; run: () => Promise<T>; dependencies: ExecutionDependencies },
): Promise<T> {
  if (!(error instanceof GatewayError) || error.type !== 'model_not_found') throw error
  if (isServed(model, dependencies)) throw error
  await dependencies.readListings(() => isServed(model, dependencies))
  if (!isServed(model, dependencies)) throw notTold(model, dependencies) ?? error
  return run()
}

/** Who asks right after a start must not be told that there is no such model because its provider fails at that moment. */
function notTold(model: string, { serving }: ExecutionDependencies): GatewayError | null {
  const providers = serving().catalog.awaitedProviders(model)
  if (providers.length === 0) return null
  const shown = JSON.stringify(model.slice(0, modelIdLengthMax))
  const retryAfterSeconds = Math.ceil(discoveryRetryMs / 1000)
  const message = `${shown} may be served by ${providers.join(', ')}, whose list of models could not be read yet. Try again in ${retryAfterSeconds} seconds.`
  return new GatewayError('no_healthy_endpoint', message, { param: 'model', retryAfterSeconds })
}

function isServed(model: string, { serving }: ExecutionDependencies): boolean {
  const { catalog } = serving()
  return catalog.model(catalog.resolve(model).base) !== null
}
