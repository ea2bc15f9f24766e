import { leasesPerRoundMax, recallWatchMs } from '../../core/limits/billing.ts'
import { commitPoints } from '../ledger-commit-points.ts'
import type { BudgetState, Ledger } from '../ledger/ledger-repository.ts'
import { closeLease } from './lease-repository.ts'
import type { Leases } from './leases.ts'
import type { Slice } from './slices.ts'
import type { Timing } from '../timing.ts'

/** A lease without any change is renewed only this often, well inside `leaseGrantMs`. */
const leaseRestMs = 2_500
/** A lease that was not used for this long is given back, so that an idle process writes nothing. */
const leaseIdleMs = 3_000
/** Budgets named in one query of the recall watch. */
const recallBudgetsMax = 200
/** How long settling a batch's budget waits for other owners to close their leases. */
export const budgetSettleMs = 2_000

/**
 * Keeps this process's leases in order: renewed while used, given back when idle, recalled or overdrawn. Every round is
 * bounded and starts from the present state, so the next round makes up for one that was missed or failed.
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

  /** Renews the leases in use and closes the idle ones. Rejects when storage fails; the next round does the rest. */
  async renew(): Promise<void> {
    await this.#leases.closeUnanswered()
    await this.#forEach([...this.#leases.retired], (slice) => this.#leases.close(slice))
    await this.#forEach([...this.#leases.slices.values()], async (slice) => {
      const nowMs = this.#timing.clock.monotonicMs()
      if (slice.holdsLive === 0 && nowMs - slice.lastUsedMs >= leaseIdleMs) await this.#leases.close(slice)
      else if (isRenewalDue(slice, nowMs)) await this.#leases.renew(slice, false)
    })
  }

  /** Returns the free part of leases on budgets that are under recall or overdrawn. Costs one read while any slice has something free. */
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

  /** Gives back everything that no call holds; afterwards the slices have only what running calls hold. */
  async returnAll(): Promise<void> {
    await this.#leases.closeUnanswered()
    await this.#forEach([...this.#leases.slices.values(), ...this.#leases.retired], (slice) =>
      slice.holdsLive === 0 ? this.#leases.close(slice) : this.#leases.renew(slice, true),
    )
  }

  /**
   * Has every lease on a budget closed, in this process and in others, so that the budget can be ended. False when calls
   * still hold from it after a bounded wait; then try again later. An expired lease is closed together with its held part:
   * its owner is frozen or cut off, and the end of a batch makes sure that nothing more is captured on it.
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
        // This fails when another process changed the lease; `hasLeases` below tells what is left.
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
    // The mark counts as obeyed only when giving back succeeded; otherwise the next look tries again.
    if (slice.holdsLive === 0) await this.#leases.close(slice)
    // Also renewed when only the row's `held` is too low: to other processes such an owner looks as if it did not answer.
    else if (slice.returnable > 0n || isUntold(slice)) await this.#leases.renew(slice, true)
    if (slice.doubt === null) slice.recallSeenMs = state.recallAtMs
  }

  /** Runs a task for slices, each while its budget is locked; at most `leasesPerRoundMax` at once. */
  async #forEach(slices: readonly Slice[], task: (slice: Slice) => Promise<void>): Promise<void> {
    for (let start = 0; start < slices.length; start += leasesPerRoundMax) {
      const page = slices.slice(start, start + leasesPerRoundMax)
      await Promise.all(
        page.map((slice) => this.#leases.locks.run([slice.budget.budgetId], () => task(slice))),
      )
    }
  }
}

/** A lease whose row is up to date is left alone for a while. */
function isRenewalDue(slice: Slice, nowMs: number): boolean {
  const isChanged = slice.captured > 0n || slice.doubt !== null || isUntold(slice)
  return isChanged || nowMs - slice.lastRenewedMs >= leaseRestMs
}

/** Whether the row's `held` differs from what is held. */
function isUntold(slice: Slice): boolean {
  return slice.held - slice.owed !== slice.reportedHeld
}
