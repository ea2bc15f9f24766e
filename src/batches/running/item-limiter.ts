import { assert } from '../../core/assert.ts'
import { organizationShareOf } from '../../core/limits/batches.ts'
import type { Ramp } from './ramp.ts'

/**
 * A bound on how many items run at once, shared by everything that runs items in this process. One organization never
 * has all places: otherwise one with slow items would keep the other organizations waiting.
 */
export interface ItemLimiter {
  /** Resolves with a function that gives the place back, or with null when the signal aborted first. */
  acquire(organizationId: string, signal: AbortSignal): Promise<(() => void) | null>
  /** Gives free places to waiting items. Must be called now and then, because the ramp grows with time without an event. */
  admit(): void
  readonly running: number
  readonly max: number
}

interface Waiting {
  organizationId: string
  resolve(release: (() => void) | null): void
}

/**
 * A limiter for `max` items, or for as many as the ramp allows. A free place goes to the organization with the fewest
 * places, and among equals to the item that asked first.
 */
export function createItemLimiter(max: number, ramp: Ramp): ItemLimiter {
  assert(max > 0, 'a limiter lets something through')
  const held = new Map<string, number>()
  const waiting = new Set<Waiting>()
  let running = 0

  const heldBy = (organizationId: string): number => held.get(organizationId) ?? 0
  function isFree(organizationId: string): boolean {
    const { itemsMax, gathered } = ramp
    if (running >= max || running + gathered >= itemsMax) return false
    // The share is of `max`, not of what the ramp allows now: places that the ramp adds go to the organization with the fewest.
    return heldBy(organizationId) < organizationShareOf(max)
  }

  function take(organizationId: string): () => void {
    running++
    held.set(organizationId, heldBy(organizationId) + 1)
    let isReleased = false
    return () => {
      assert(!isReleased, 'a place is given back once')
      isReleased = true
      running--
      const left = heldBy(organizationId) - 1
      if (left === 0) held.delete(organizationId)
      else held.set(organizationId, left)
      admit()
    }
  }

  function nextOf(): Waiting | null {
    let next: Waiting | null = null
    for (const place of waiting) {
      if (!isFree(place.organizationId)) continue
      if (next === null || heldBy(place.organizationId) < heldBy(next.organizationId)) next = place
    }
    return next
  }

  function admit(): void {
    for (let next = nextOf(); next !== null; next = nextOf()) {
      waiting.delete(next)
      next.resolve(take(next.organizationId))
    }
  }

  ramp.listen(admit)
  return {
    max,
    admit,
    get running() {
      return running
    },
    async acquire(organizationId, signal) {
      if (signal.aborted) return null
      if (isFree(organizationId)) return take(organizationId)
      const { promise, resolve } = Promise.withResolvers<(() => void) | null>()
      const place: Waiting = { organizationId, resolve }
      const leave = (): void => {
        if (waiting.delete(place)) resolve(null)
      }
      waiting.add(place)
      signal.addEventListener('abort', leave, { once: true })
      const release = await promise
      signal.removeEventListener('abort', leave)
      if (release === null || !signal.aborted) return release
      release()
      return null
    },
  }
}
