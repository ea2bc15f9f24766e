import type { Billing } from '../billing/billing.ts'
import type { CaptureRow } from '../billing/capture-row.ts'
import type { Hold } from '../billing/hold.ts'
import type { RequestScope } from './scope.ts'

/**
 * Owns a call's hold until it is captured or released, exactly once, whatever way the call ends: finished, failed,
 * left, never started. The second and every later request to settle does nothing.
 */
export class Settlement {
  readonly hold: Hold
  readonly #billing: Billing
  readonly #scope: RequestScope
  readonly #onSettled: () => void
  #settled = false

  /** `onSettled` runs once, as soon as the call needs nothing more of its provider. */
  constructor(hold: Hold, parts: { billing: Billing; scope: RequestScope; onSettled: () => void }) {
    this.hold = hold
    this.#billing = parts.billing
    this.#scope = parts.scope
    this.#onSettled = parts.onSettled
  }

  get isSettled(): boolean {
    return this.#settled
  }

  /** Resolves when the capture is durable; for a batch item at once, because its part makes it durable. */
  capture(row: CaptureRow): Promise<void> {
    if (this.#settled) return Promise.resolve()
    this.#settled = true
    this.#onSettled()
    this.#scope.facts.costNanocredits = row.costNanocredits
    if (!this.#scope.batch) return this.#billing.capture(this.hold, row)
    this.#scope.batch.defer({ hold: this.hold, row })
    return Promise.resolve()
  }

  /** Gives the hold back: nothing was answered. */
  release(): void {
    if (this.#settled) return
    this.#settled = true
    this.#onSettled()
    this.#billing.release(this.hold)
  }
}
