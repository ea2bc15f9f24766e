import type { ItemOutcome } from '../item-contract.ts'

/**
 * Tries of an item whose provider exceeded the time limit, beyond those of a live call: each may take long and be charged.
 * And the first wait between any two tries; it doubles.
 */
export const itemTimeoutsMax = 4
const itemRetryMs = 5_000
/** Tries of an item whose provider failed, over ten minutes: the provider may restart, or the item itself may be the cause. */
export const itemFailuresMax = 8
/**
 * Tries of an item that was refused by a rate limit or for its credential, over fifty minutes. That is not the item's
 * fault: its batch's other items may fill the rate limit's window, and an operator can replace a refused credential.
 */
export const itemRefusalsMax = 16
/** Bounds on how long an item is put back for. */
export const itemRestMinMs = 50
const itemRestMaxMs = 300_000

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
 * time until the batch's deadline. Not asked while the provider counts as down: then `lanes/lane-room.ts` rests all items.
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
