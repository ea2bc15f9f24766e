import { GatewayError } from '../core/errors.ts'

/** To callers of batches three failures look alike, a 502: storage is out of order, a commit's outcome is unknown, the process stops. */
export async function answerable<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (thrown) {
    const isOutOfOrder =
      thrown instanceof GatewayError &&
      (thrown.type === 'storage_unavailable' || thrown.type === 'shutting_down')
    throw isOutOfOrder ? unavailable(thrown) : thrown
  }
}

/** The 502 of batches; `cause` is for the log. */
export function unavailable(cause?: unknown): GatewayError {
  return new GatewayError('batch_unavailable', 'The batch service is unavailable. Try again shortly.', {
    cause,
    retryAfterSeconds: 5,
  })
}
