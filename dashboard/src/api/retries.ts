import { asFailure } from './failure.ts'

const firstRetryMs = 500
const slowestRetryMs = 8000

/** How long after so many failed tries the next one comes: as late as the gateway wants, else later each time. */
export function retryWaitMs(count: number, error: unknown): number {
  return asFailure(error).retryAfterMs ?? Math.min(slowestRetryMs, firstRetryMs * 2 ** count)
}
