import { assert } from '../../core/assert.ts'
import type { Clock } from '../../core/clock.ts'
import { type PlaceClaim, FairQueue } from '../../core/fair-queue.ts'
import { organizationShareOf } from '../../core/limits/batches.ts'
import { type LiveCalls, LoopRoom } from './loop-room.ts'
import type { Ramp } from './ramp.ts'

/** Items that begin in one turn of the event loop; further ones let live calls pass first. */
export const itemsPerTurn = 8

/**
 * A bound on how many items run at once, shared by everything that runs items in this process. One organization never
 * has all places: otherwise one with slow items would keep the other organizations waiting.
 */
export interface ItemLimiter {
  /** Resolves with a function that gives the place back, or with null when the signal aborted first. */
  acquire(claim: PlaceClaim, signal: AbortSignal): Promise<(() => void) | null>
  /** Gives free places to waiting items. Must be called now and then, because the ramp grows with time without an event. */
  admit(): void
  readonly running: number
  readonly max: number
}

/** A limiter for `max` items, or for as many as the ramp and live calls allow. `FairQueue` says who gets a free place. */
export function createItemLimiter(
  max: number,
  ramp: Ramp,
  { clock, live }: { clock: Pick<Clock, 'nowMs' | 'monotonicMs'>; live: LiveCalls },
): ItemLimiter {
  assert(max > 0, 'a limiter lets something through')
  const queue = new FairQueue(() => clock.nowMs())
  const room = new LoopRoom({ itemsMax: max, live, clock }, () => queue.running)
  let begunInTurn = 0

  function isFree(ownHeld: number): boolean {
    const { itemsMax, gathered } = ramp
    if (begunInTurn >= itemsPerTurn) return false
    if (queue.running >= Math.min(max, room.itemsMax) || queue.running + gathered >= itemsMax) return false
    // The share is of `max`, not of what the ramp allows now: places that the ramp adds go to the organization with the fewest.
    return ownHeld < organizationShareOf(max)
  }

  function take(claim: PlaceClaim): () => void {
    const giveBack = queue.take(claim)
    room.watch(admit)
    if (begunInTurn === 0) setImmediate(nextTurn)
    begunInTurn += 1
    return () => {
      giveBack()
      admit()
    }
  }

  function nextTurn(): void {
    begunInTurn = 0
    admit()
  }

  function admit(): void {
    queue.admit(isFree)
  }

  ramp.listen(admit)
  return {
    max,
    admit,
    get running() {
      return queue.running
    },
    async acquire(claim, signal) {
      if (signal.aborted) return null
      if (isFree(queue.heldBy(claim.ownerId))) return take(claim)
      const { promise, resolve } = Promise.withResolvers<(() => void) | null>()
      const stopWaiting = queue.wait(claim, () => resolve(take(claim)))
      const leave = (): void => {
        if (stopWaiting()) resolve(null)
      }
      signal.addEventListener('abort', leave, { once: true })
      const release = await promise
      signal.removeEventListener('abort', leave)
      if (release === null || !signal.aborted) return release
      release()
      return null
    },
  }
}
