import {
  itemFailuresMax,
  itemRefusalsMax,
  itemRestMaxMs,
  itemRestMinMs,
  itemRetryMs,
  itemTimeoutsMax,
} from '../../core/limits/batches.ts'
import type { ItemOutcome } from '../item-contract.ts'

/** Numbers of tries after failures that are not the item's fault and may be over a while later. */
const attemptsMax: ReadonlyMap<string, number> = new Map([
  ['provider_failed', itemFailuresMax],
  ['provider_overloaded', itemRefusalsMax],
  ['provider_timeout', itemTimeoutsMax],
  ['upstream_rate_limited', itemRefusalsMax],
  ['rate_limit_exceeded', itemRefusalsMax],
  ['no_healthy_endpoint', itemRefusalsMax],
])

/**
 * How long an item is put back for; null when its outcome is final. `attempts` counts the earlier tries; `leftMs` is the
 * time until the batch's deadline.
 */
export function retryRestMs(
  { response, retryLaterMs, error }: ItemOutcome,
  { attempts, leftMs }: { attempts: number; leftMs: number },
): number | null {
  if (response !== null) return null
  if (retryLaterMs !== null) return Math.min(Math.max(retryLaterMs, itemRestMinMs), itemRestMaxMs)
  if (attempts + 1 >= (attemptsMax.get(error?.type ?? '') ?? 0)) return null
  const waitMs = Math.min(itemRetryMs * 2 ** attempts, itemRestMaxMs)
  return waitMs < leftMs ? waitMs : null
}
