import { atMost } from '../core/at-most.ts'

/** Counts running requests, so that a stop can refuse new ones and wait, for a bounded time, until the running ones end. */
export class Activity {
  #running = 0
  #begun = 0
  #isStopping = false
  #idle: (() => void) | null = null

  get running(): number {
    return this.#running
  }

  /** Requests since the start. */
  get begun(): number {
    return this.#begun
  }

  get isStopping(): boolean {
    return this.#isStopping
  }

  begin(): void {
    this.#running += 1
    this.#begun += 1
  }

  end(): void {
    this.#running -= 1
    if (this.#running === 0) this.#idle?.()
  }

  /** Refuses new work from now on. Resolves when nothing runs any more, or after `waitMs`. */
  async drain(waitMs: number): Promise<void> {
    this.#isStopping = true
    if (this.#running === 0) return
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#idle = resolve
    await atMost(waitMs, promise)
  }
}
