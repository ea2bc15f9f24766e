import type { Clock } from '../../core/clock.ts'

/**
 * The database's clock as this process knows it: the newest reading plus the monotonic time since. Decides windows of
 * key limits; never decides whether a lease has expired, which only the database itself does.
 */
export class DatabaseClock {
  readonly #clock: Clock
  #aheadMs: number | null = null

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** A reading that the database sent just now. */
  observe(databaseMs: number): void {
    this.#aheadMs = databaseMs - this.#clock.monotonicMs()
  }

  /** Unix milliseconds; the wall clock until the first reading. */
  nowMs(): number {
    return this.#aheadMs === null
      ? this.#clock.nowMs()
      : Math.floor(this.#aheadMs + this.#clock.monotonicMs())
  }
}
