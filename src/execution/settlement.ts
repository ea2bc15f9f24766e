import type { Billing } from '../billing/billing.ts'
import type { CaptureRow } from '../billing/ledger/capture-row.ts'
import type { Hold } from '../billing/budgets/hold.ts'
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

  /**
   * Resolves when the capture is durable; for a batch item at once, because its part makes it durable. Where that takes
   * too long it rejects, and a caller who is shown that error and `nothing` of the answer pays nothing.
   */
  capture(row: CaptureRow, shown: 'nothing' | 'part'): Promise<void> {
    if (this.#settled) return Promise.resolve()
    this.#settled = true
    this.#onSettled()
    this.#scope.facts.costNanocredits = row.costNanocredits
    if (this.#scope.batch) {
      this.#scope.batch.defer({ hold: this.hold, row })
      return Promise.resolve()
    }
    if (shown === 'part') return this.#billing.capture(this.hold, row, 'keep')
    return this.#billing.capture(this.hold, row, 'void').catch((error: unknown) => {
      this.#scope.facts.costNanocredits = 0n
      throw error
    })
  }

  /** Gives the hold back: nothing was answered. */
  release(): void {
    if (this.#settled) return
    this.#settled = true
    this.#onSettled()
    this.#billing.release(this.hold)
  }
}
