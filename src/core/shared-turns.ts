import { systemClock, type Clock } from './clock.ts'

/**
 * Spreads the steps of many streams over turns of the event loop. One step of a millisecond delays no other call, but two
 * hundred streams that are ready in the same turn would block it for a fifth of a second. When a turn is used up, a step
 * waits for a later turn; waiting steps run in the order in which they asked.
 */
export class SharedTurns {
  readonly #turnMs: number
  readonly #clock: Pick<Clock, 'monotonicMs'>
  readonly #waiting: (() => void)[] = []
  #startedMs: number | null = null

  /** A turn is used up when its steps have taken `turnMs` milliseconds together. */
  constructor(turnMs: number, clock: Pick<Clock, 'monotonicMs'> = systemClock) {
    this.#turnMs = turnMs
    this.#clock = clock
  }

  /**
   * Called before each step. Null when the step may run now; it must then run at once, because its time counts from
   * here. Otherwise a promise that resolves when the step may run.
   */
  next(): Promise<void> | null {
    const nowMs = this.#clock.monotonicMs()
    this.#startedMs ??= this.#begin(nowMs)
    const hasTime = nowMs - this.#startedMs < this.#turnMs
    if (hasTime && this.#waiting.length === 0) return null
    const turn = new Promise<void>((resolve) => void this.#waiting.push(resolve))
    if (hasTime) this.#waiting.shift()?.()
    return turn
  }

  #begin(nowMs: number): number {
    setImmediate(() => this.#onTurn())
    return nowMs
  }

  /** One waiting step begins the turn; the others of this turn follow as steps end and ask for more. */
  #onTurn(): void {
    this.#startedMs = this.#waiting.length > 0 ? this.#begin(this.#clock.monotonicMs()) : null
    this.#waiting.shift()?.()
  }
}
