/** Lets `count` callers do something at once; the others wait in the order in which they came. */
export class Places {
  #free: number
  readonly #waiting = new Set<() => void>()

  constructor(count: number) {
    this.#free = count
  }

  /** Waits for a place; the returned function frees it. Rejects with the signal's reason when that comes first. */
  async take(signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted()
    if (this.#free > 0) this.#free -= 1
    else await this.#turn(signal)
    let isFreed = false
    return () => {
      if (isFreed) return
      isFreed = true
      const [next] = this.#waiting
      if (next === undefined) this.#free += 1
      else next()
    }
  }

  async #turn(signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const next = () => {
      this.#waiting.delete(next)
      resolve()
    }
    const leave = () => {
      this.#waiting.delete(next)
      reject(signal.reason)
    }
    this.#waiting.add(next)
    signal.addEventListener('abort', leave, { once: true })
    try {
      await promise
    } finally {
      signal.removeEventListener('abort', leave)
    }
  }
}
