import { assert } from '../core/assert.ts'

/** A bound on how many items run at once, shared by everything that runs items in this process. */
export interface ItemLimiter {
  /** Resolves with how to give the place back, or with null when the signal aborted first. */
  acquire(signal: AbortSignal): Promise<(() => void) | null>
  readonly running: number
  readonly max: number
}

/** A limiter for `max` items, first come first served. */
export function createItemLimiter(max: number): ItemLimiter {
  assert(max > 0, 'a limiter lets something through')
  let running = 0
  const waiting = new Set<() => void>()

  const isFull = (): boolean => running >= max

  function wakeNext(): void {
    const [next] = waiting
    next?.()
  }

  function release(): () => void {
    let isReleased = false
    return () => {
      assert(!isReleased, 'a place is given back once')
      isReleased = true
      running--
      wakeNext()
    }
  }

  return {
    max,
    get running() {
      return running
    },
    async acquire(signal) {
      while (isFull() && !signal.aborted) await turn(waiting, signal)
      if (signal.aborted) {
        // The turn may have been this one's: somebody else takes it.
        if (!isFull()) wakeNext()
        return null
      }
      running++
      return release()
    },
  }
}

/** Resolves when a place may be free or the signal aborts. */
function turn(waiting: Set<() => void>, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const done = (): void => {
    waiting.delete(done)
    signal.removeEventListener('abort', done)
    resolve()
  }
  waiting.add(done)
  signal.addEventListener('abort', done, { once: true })
  return promise
}
