import type { Batch } from '../../canonical/batch.ts'
import type { ItemError } from '../../formats/batch/result-line.ts'
import { laneOf } from './choose-lane.ts'

/** Why an item left the lane of its batch for the emulated one: near the deadline, or the type of the error that it ended with. */
export type MoveReason = string

/** Errors that say something of the lane's provider or tier, and not of the item: another tier or provider may answer. */
const movingErrors: ReadonlySet<string> = new Set([
  'provider_failed',
  'provider_overloaded',
  'provider_timeout',
  'upstream_rate_limited',
  'no_healthy_endpoint',
])

/** Milliseconds until the unfinished items leave the lane; null where they never do. */
export function leavesInMs(batch: Batch, nowMs: number): number | null {
  const { leavesBeforeMs } = laneOf(batch.lane)
  if (batch.laneChoice !== 'auto' || leavesBeforeMs === null) return null
  return Math.max(0, batch.expiresAtMs - leavesBeforeMs - nowMs)
}

/** Why an item that failed for good in its lane is run again in the emulated one; null when it is not. */
export function moveAfter(
  batch: Batch,
  { type, param }: Pick<ItemError, 'type' | 'param'>,
): MoveReason | null {
  if (batch.laneChoice !== 'auto' || laneOf(batch.lane).tier === null) return null
  // The provider, or the route, has no such tier any more.
  return movingErrors.has(type) || param === 'service_tier' ? type : null
}
