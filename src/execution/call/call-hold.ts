import type { Billing } from '../../billing/billing.ts'
import type { CaptureRow } from '../../billing/ledger/capture-row.ts'
import type { BudgetRef } from '../../billing/budgets/budget-ids.ts'
import type { Hold } from '../../billing/budgets/hold.ts'
import { atMost } from '../../core/at-most.ts'
import { GatewayError } from '../../core/errors.ts'
import type { RequestScope } from './scope.ts'

/**
 * How long a call that cost more than its hold waits for a larger hold; after that, only the amount held is charged.
 * Nobody waits for the answer of a batch item, so there only storage that has stopped ends the wait.
 */
const coverWaitMs = 2_000
const itemCoverWaitMs = 60_000
/**
 * How often a batch is enlarged for one item while others take what was added. On a busy machine two in a hundred items
 * need a second time and one in a thousand a third; four were not always enough.
 */
const coverTriesMax = 64

/**
 * Owns a call's hold until it is captured or released, exactly once, however the call ends: finished, failed, left by
 * its caller, or never started. Every request to settle after the first does nothing.
 */
export class CallHold {
  readonly #billing: Billing
  readonly #scope: RequestScope
  readonly #place: { releasePermit(): void }
  readonly #budgets: readonly BudgetRef[]
  #hold: Hold
  #settled = false
  /** Why the last amount could not be added, where that will pass; null when the budgets have no more. */
  #trouble: unknown = null

  /** `budgets` are those that the hold was taken from. `place` is released once, as soon as the call needs nothing more of its provider. */
  constructor(
    hold: Hold,
    dependencies: {
      billing: Billing
      scope: RequestScope
      budgets: readonly BudgetRef[]
      place: { releasePermit(): void }
    },
  ) {
    this.#hold = hold
    this.#billing = dependencies.billing
    this.#scope = dependencies.scope
    this.#budgets = dependencies.budgets
    this.#place = dependencies.place
  }

  get held(): Hold {
    return this.#hold
  }

  get isSettled(): boolean {
    return this.#settled
  }

  /**
   * Resolves when the capture is durable; at once for a batch item, whose part makes the capture durable. Rejects when
   * that takes too long; a caller who was shown `nothing` of the answer then pays nothing.
   */
  capture(row: CaptureRow, shown: 'nothing' | 'part'): Promise<void> {
    if (this.#settled) return Promise.resolve()
    this.#settled = true
    this.#place.releasePermit()
    this.#scope.facts.costNanocredits = row.costNanocredits
    if (this.#scope.batch) {
      this.#scope.batch.defer({ hold: this.#hold, row })
      return Promise.resolve()
    }
    const { showCapture } = this.#scope
    const capturing = this.#billing.capture(this.#hold, row, shown === 'part' ? 'keep' : 'void')
    const captured = showCapture === undefined ? capturing : shownTo(showCapture, row, capturing)
    return shown === 'part' ? captured : this.#forNothing(captured)
  }

  /** A capture whose failure makes the call cost nothing. */
  async #forNothing(captured: Promise<void>): Promise<void> {
    try {
      await captured
    } catch (error) {
      this.#scope.facts.costNanocredits = 0n
      throw error
    }
  }

  /** Whether no budget limits the call: then its whole cost is charged. */
  get isUnlimited(): boolean {
    return this.#budgets.length === 0
  }

  /**
   * Sets more money aside for a call that cost more than its hold: as much as the budgets have, up to this cost.
   * Resolves with how much of the cost is covered: all of it where no budget limits the call. Rejects only for an answer
   * of a job, with `storage_unavailable` when that cannot be known now: nobody waits for it, and it is charged later.
   */
  async cover(costNanocredits: bigint): Promise<bigint> {
    if (this.isUnlimited) return costNanocredits
    if (this.#settled || costNanocredits <= this.#hold.amount) return this.#hold.amount
    this.#trouble = null
    const holdingMore = this.#holdMore(costNanocredits)
    const { batch } = this.#scope
    if (batch?.isJob) {
      await holdingMore
      if (this.#trouble !== null && this.#hold.amount < costNanocredits) throw notNow(this.#trouble)
    } else await atMost(batch ? itemCoverWaitMs : coverWaitMs, holdingMore)
    return this.#hold.amount
  }

  /**
   * First asks for the whole missing amount: other processes give back what they do not use, and a batch's budget is
   * enlarged. This is tried more than once, because another item of the batch may take first what was added for this
   * one. Then takes as much as there is.
   */
  async #holdMore(cost: bigint): Promise<void> {
    const missing = () => cost - this.#hold.amount
    for (let tries = 0; tries < coverTriesMax; tries += 1) {
      if (await this.#add(missing(), missing())) return
      if (this.#settled || !(await this.#enlarge(missing()))) break
    }
    if (!this.#settled && missing() > 0n) await this.#add(missing(), 1n)
  }

  /** False when there is less than the smallest amount, or when storage is unavailable. */
  async #add(amount: bigint, smallestAmount: bigint): Promise<boolean> {
    try {
      const more = await this.#billing.hold({ budgets: this.#budgets, amount, smallestAmount })
      // The caller may have left meanwhile, which settles the call.
      if (this.#settled) this.#billing.release(more)
      else this.#hold = this.#billing.join(this.#hold, more)
      return true
    } catch (thrown) {
      this.#note(thrown)
      return false
    }
  }

  /** Adds to the budget of the call's batch. False when it has none, when not all of it was added, or when storage is unavailable. */
  async #enlarge(missing: bigint): Promise<boolean> {
    try {
      return (await this.#scope.batch?.enlarge?.(missing)) ?? false
    } catch (thrown) {
      this.#note(thrown)
      return false
    }
  }

  #note(thrown: unknown): void {
    const isShort = thrown instanceof GatewayError && thrown.type === 'payment_required'
    if (!isShort) this.#trouble = thrown
  }

  /** Gives the whole hold back, for a call that is not charged. */
  release(): void {
    if (this.#settled) return
    this.#settled = true
    this.#place.releasePermit()
    this.#billing.release(this.#hold)
  }
}

function notNow(cause: unknown): GatewayError {
  return new GatewayError('storage_unavailable', 'What an answer cost could not be set aside now.', { cause })
}

async function shownTo(
  showCapture: NonNullable<RequestScope['showCapture']>,
  row: CaptureRow,
  capturing: Promise<void>,
): Promise<void> {
  await capturing
  showCapture(row)
}
