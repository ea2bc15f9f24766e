import {
  budgetSettleMs,
  leaseIdleMs,
  leaseRestMs,
  leasesPerRoundMax,
  recallBudgetsMax,
  recallWatchMs,
} from '../../core/limits/billing.ts'
import { commitPoints } from '../ledger-commit-points.ts'
import type { BudgetState, Ledger } from '../ledger/ledger-repository.ts'
import { closeLease } from './lease-repository.ts'
import type { Leases } from './leases.ts'
import type { Slice } from './slices.ts'
import type { Timing } from '../timing.ts'

/**
 * Keeps this process's leases as they should be: renewed while used, given back when idle, recalled or overdrawn. Every
 * round is bounded and looks at what is there, so a round that was missed or failed is made up by the next.
 */
export class Renewals {
  readonly #ledger: Ledger
  readonly #leases: Leases
  readonly #timing: Timing

  constructor(dependencies: { ledger: Ledger; leases: Leases; timing: Timing }) {
    this.#ledger = dependencies.ledger
    this.#leases = dependencies.leases
    this.#timing = dependencies.timing
  }

  /** Renews what is used and closes what is not. Rejects when storage fails; then some are left for the next round. */
  async renew(): Promise<void> {
    await this.#leases.closeUnanswered()
    await this.#forEach([...this.#leases.retired], (slice) => this.#leases.close(slice))
    await this.#forEach([...this.#leases.slices.values()], async (slice) => {
      const nowMs = this.#timing.clock.monotonicMs()
      if (slice.holdsLive === 0 && nowMs - slice.lastUsedMs >= leaseIdleMs) await this.#leases.close(slice)
      else if (isRenewalDue(slice, nowMs)) await this.#leases.renew(slice, false)
    })
  }

  /** Gives back what budgets under recall, or overdrawn ones, want back. Costs one read while anything is unheld. */
  async watchRecalls(): Promise<void> {
    const watched = [...this.#leases.slices.values()].filter(
      (slice) => slice.free > 0n || slice.holdsLive === 0,
    )
    for (let start = 0; start < watched.length; start += recallBudgetsMax) {
      const page = watched.slice(start, start + recallBudgetsMax)
      const found = await this.#ledger.loadBudgets(page.map((slice) => slice.budget.budgetId))
      if (found.nowMs !== null) this.#leases.databaseClock.observe(found.nowMs)
      await this.#forEach(page, async (slice) => {
        const state = found.budgets.get(slice.budget.budgetId)
        if (state) await this.#obey(slice, state)
      })
    }
  }

  /** Gives everything back that no call holds; after it, `slices` has only what running calls hold. */
  async returnAll(): Promise<void> {
    await this.#leases.closeUnanswered()
    await this.#forEach([...this.#leases.slices.values(), ...this.#leases.retired], (slice) =>
      slice.holdsLive === 0 ? this.#leases.close(slice) : this.#leases.renew(slice, true),
    )
  }

  /**
   * Has every lease on a budget closed, here and elsewhere, so that the budget can be ended. False when that did not
   * succeed in time because calls still hold from it; then try again later. A lease that expired is closed with what it
   * holds: its owner is frozen or cut off, and what ends a batch has seen to it that nothing more is captured there.
   */
  async settle(budgetId: string): Promise<boolean> {
    const untilMs = this.#timing.clock.monotonicMs() + budgetSettleMs
    let isRecalled = false
    for (;;) {
      const own = [...this.#leases.slices.values(), ...this.#leases.retired].filter(
        (slice) => slice.budget.budgetId === budgetId,
      )
      await this.#forEach(own, (slice) => this.#leases.close(slice))
      for (const lease of await this.#ledger.listExpiredLeasesOn(budgetId, leasesPerRoundMax)) {
        // Somebody else's doing, if it fails; the look below tells.
        await this.#ledger.commit(commitPoints.reap, closeLease(lease, 'expired'))
      }
      if (!(await this.#ledger.hasLeases(budgetId))) return true
      if (this.#timing.clock.monotonicMs() >= untilMs) return false
      if (!isRecalled) await this.#ledger.recall([budgetId])
      isRecalled = true
      await this.#timing.sleep(recallWatchMs)
    }
  }

  async #obey(slice: Slice, state: BudgetState): Promise<void> {
    const isRecalled = state.recallAtMs > slice.recallSeenMs
    const isOverdrawn = state.granted > state.limit
    if (!isRecalled && !isOverdrawn) return
    // A mark stays unobeyed when giving back fails, so that the next look tries again.
    if (slice.holdsLive === 0) await this.#leases.close(slice)
    // Also with nothing to give: a row that says less than is held looks like one whose owner does not answer.
    else if (slice.returnable > 0n || isUntold(slice)) await this.#leases.renew(slice, true)
    if (slice.doubt === null) slice.recallSeenMs = state.recallAtMs
  }

  /** Runs a task for slices, each while its budget is locked, many at once but not all. */
  async #forEach(slices: readonly Slice[], task: (slice: Slice) => Promise<void>): Promise<void> {
    for (let start = 0; start < slices.length; start += leasesPerRoundMax) {
      const page = slices.slice(start, start + leasesPerRoundMax)
      await Promise.all(
        page.map((slice) => this.#leases.locks.run([slice.budget.budgetId], () => task(slice))),
      )
    }
  }
}

/** A lease that says what is true already is left alone for a while. */
function isRenewalDue(slice: Slice, nowMs: number): boolean {
  const isChanged = slice.captured > 0n || slice.doubt !== null || isUntold(slice)
  return isChanged || nowMs - slice.lastRenewedMs >= leaseRestMs
}

/** Whether the row says something else than what is held. */
function isUntold(slice: Slice): boolean {
  return slice.held - slice.owed !== slice.reportedHeld
}
