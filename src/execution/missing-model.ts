import { GatewayError } from '../core/errors.ts'
import type { ExecutionDependencies } from './dependencies.ts'

/**
 * Runs what asks for a model. Where nothing serves it, the providers' listings are read again (bounded in time, and each
 * provider seldom), because somebody may have just loaded it; it runs once more when that has brought the model.
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
  if (!isServed(model, dependencies)) throw error
  return run()
}

function isServed(model: string, { serving }: ExecutionDependencies): boolean {
  const { catalog } = serving()
  return catalog.model(catalog.resolve(model).base) !== null
}
