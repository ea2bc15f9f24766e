import type { Report } from '../billing-events.ts'
import type { Timing } from '../timing.ts'

/** After this long without a durable capture, while captures fail, new calls are refused before anything is spent. */
const captureStallMs = 1_000

/** Whether captures become durable; reports when that changes. */
export class CaptureHealth {
  readonly #timing: Timing
  readonly #report: Report
  #failingSinceMs: number | null = null

  constructor({ timing, report }: { timing: Timing; report: Report }) {
    this.#timing = timing
    this.#report = report
  }

  get isFailing(): boolean {
    return this.#failingSinceMs !== null
  }

  /** Captures have failed for so long that nothing new should be spent. */
  get isStalled(): boolean {
    if (this.#failingSinceMs === null) return false
    return this.#timing.clock.monotonicMs() - this.#failingSinceMs >= captureStallMs
  }

  /** Storage has answered, with success or refusal. */
  noteAnswer(): void {
    if (this.#failingSinceMs === null) return
    this.#failingSinceMs = null
    this.#report({ type: 'captures_recovered' })
  }

  /** `sinceMs`: monotonic. */
  noteFailure(cause: Error, sinceMs = this.#timing.clock.monotonicMs()): void {
    if (this.#failingSinceMs !== null) return
    this.#failingSinceMs = sinceMs
    this.#report({ type: 'captures_failing', cause })
  }
}
