import type { Billing } from '../../billing/billing.ts'
import type { CaptureRow } from '../../billing/ledger/capture-row.ts'
import type { BudgetRef } from '../../billing/budgets/budget-ids.ts'
import type { Hold } from '../../billing/budgets/hold.ts'
import { atMost } from '../../core/at-most.ts'
import { enlargeTriesMax } from '../../core/limits/batches.ts'

/** How long a call that cost more than its hold waits for a larger one; after that the amount held is charged. */
const coverWaitMs = 2_000
import type { RequestScope } from './scope.ts'

/**
 * Owns a call's hold until it is captured or released, exactly once, whatever way the call ends: finished, failed,
 * left, never started. The second and every later request to settle does nothing.
 */
export class CallHold {
  readonly #billing: Billing
  readonly #scope: RequestScope
  readonly #onSettled: () => void
  readonly #budgets: readonly BudgetRef[]
  #hold: Hold
  #settled = false

  /** `budgets` are those that the hold was taken from. `onSettled` runs once, as soon as the call needs nothing more of its provider. */
  constructor(
    hold: Hold,
    dependencies: {
      billing: Billing
      scope: RequestScope
      budgets: readonly BudgetRef[]
      onSettled: () => void
    },
  ) {
    this.#hold = hold
    this.#billing = dependencies.billing
    this.#scope = dependencies.scope
    this.#budgets = dependencies.budgets
    this.#onSettled = dependencies.onSettled
  }

  get held(): Hold {
    return this.#hold
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
      this.#scope.batch.defer({ hold: this.#hold, row })
      return Promise.resolve()
    }
    if (shown === 'part') return this.#billing.capture(this.#hold, row, 'keep')
    return this.#billing.capture(this.#hold, row, 'void').catch((error: unknown) => {
      this.#scope.facts.costNanocredits = 0n
      throw error
    })
  }

  /** Whether nothing limits what the call may cost: then all of it is charged. */
  get isUnlimited(): boolean {
    return this.#budgets.length === 0
  }

  /**
   * Sets more aside for a call that turned out dearer than its hold: as much as there is, up to this cost. Resolves with
   * how much of the cost is covered, which is all of it where nothing limits the account. Never rejects.
   */
  async cover(costNanocredits: bigint): Promise<bigint> {
    if (this.isUnlimited) return costNanocredits
    if (!this.#settled && costNanocredits > this.#hold.amount)
      await atMost(coverWaitMs, this.#holdMore(costNanocredits))
    return this.#hold.amount
  }

  /**
   * First all that is missing, for which other processes are asked to give back what they do not use, and a batch's
   * budget is enlarged, more than once: another item of the batch may take first what was added for this one. Then as
   * much of it as there is.
   */
  async #holdMore(cost: bigint): Promise<void> {
    const missing = () => cost - this.#hold.amount
    for (let tries = 0; tries < enlargeTriesMax; tries += 1) {
      if (await this.#add(missing(), missing())) return
      if (this.#settled || !(await this.#scope.batch?.enlarge?.(missing()))) break
    }
    if (!this.#settled && missing() > 0n) await this.#add(missing(), 1n)
  }

  /** False when there is less than the smallest amount, or storage is away. */
  async #add(amount: bigint, smallestAmount: bigint): Promise<boolean> {
    try {
      const more = await this.#billing.hold({ budgets: this.#budgets, amount, smallestAmount })
      // The caller may have left meanwhile, and the call be settled by that.
      if (this.#settled) this.#billing.release(more)
      else this.#hold = this.#billing.join(this.#hold, more)
      return true
    } catch {
      return false
    }
  }

  /** Gives the hold back: nothing was answered. */
  release(): void {
    if (this.#settled) return
    this.#settled = true
    this.#onSettled()
    this.#billing.release(this.#hold)
  }
}
