import type { Call } from '../../canonical/call.ts'
import { GatewayError } from '../../core/errors.ts'
import { discoveryRetryMs } from '../../core/limits/catalog.ts'
import { modelIdLengthMax } from '../../core/limits/http.ts'
import type { ExecutionDependencies } from '../dependencies.ts'
import { endpointsOf, routedCallOf } from './route-model.ts'
import type { RequestScope } from '../call/scope.ts'

/**
 * Looks for the model of a call that no deployment serves; null where one does. The providers' listings are read again
 * (bounded in time, and each provider seldom), because a server may have just loaded the model. Never rejects: the
 * route of the call says that there is no such model.
 */
export function seekModel(
  call: Call,
  scope: RequestScope,
  dependencies: ExecutionDependencies,
): Promise<unknown> | null {
  if (isServed(call.model, dependencies)) return null
  // A call that is refused anyway, or that a fallback model can answer, does not wait for listings.
  if (!dependencies.billing.canAccept() || hasFallback(call, scope, dependencies)) return null
  return readListingsFor(call.model, dependencies)
}

/**
 * The same for a batch, which has one model. `run` is called after the listings were read, and its failure is told as
 * `asUntold` does.
 */
export async function seekingModel<T>(
  model: string,
  run: () => T,
  dependencies: ExecutionDependencies,
): Promise<T> {
  if (!isServed(model, dependencies)) await readListingsFor(model, dependencies)
  try {
    return run()
  } catch (error) {
    throw asUntold(error, model, dependencies)
  }
}

function readListingsFor(model: string, dependencies: ExecutionDependencies): Promise<unknown> {
  return dependencies.readListings(() => isServed(model, dependencies))
}

function hasFallback(call: Call, scope: RequestScope, dependencies: ExecutionDependencies): boolean {
  if (call.fallbackModels.length === 0) return false
  const routed = routedCallOf(call, [], scope, dependencies.serving())
  return endpointsOf(routed, call.fallbackModels, dependencies).length > 0
}

/**
 * Turns `model_not_found` into `no_healthy_endpoint` when a provider that may have the model has not listed its models
 * since the start, for example because it fails at this moment. Returns any other failure as it is.
 */
export function asUntold(error: unknown, model: string, dependencies: ExecutionDependencies): unknown {
  if (!(error instanceof GatewayError) || error.type !== 'model_not_found') return error
  if (isServed(model, dependencies)) return error
  const providers = dependencies.serving().catalog.awaitedProviders(model)
  if (providers.length === 0) return error
  const shown = JSON.stringify(model.slice(0, modelIdLengthMax))
  const retryAfterSeconds = Math.ceil(discoveryRetryMs / 1000)
  const message = `${shown} may be served by ${providers.join(', ')}, whose list of models could not be read yet. Try again in ${retryAfterSeconds} seconds.`
  return new GatewayError('no_healthy_endpoint', message, { param: 'model', retryAfterSeconds })
}

function isServed(model: string, { serving }: ExecutionDependencies): boolean {
  const { catalog } = serving()
  return catalog.model(catalog.resolve(model).base) !== null
}
