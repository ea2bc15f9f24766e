import { newId } from '../../core/ids.ts'
import { leaseMs, leasesPerRoundMax } from '../../core/limits/billing.ts'
import { BudgetLocks } from './budget-locks.ts'
import type { BudgetRef } from './budget-ids.ts'
import { commitPoints } from '../ledger-commit-points.ts'
import { DatabaseClock } from './database-clock.ts'
import type { BudgetState, CommitOutcome, Ledger } from '../ledger/ledger-repository.ts'
import { closeLease, growLease, insertLease, renewLease } from './lease-repository.ts'
import { foldIntoBudget, takeFromBudget } from './budget-repository.ts'
import { leaseGuard, type LedgerStatement } from '../ledger/ledger-statement.ts'
import { Slice } from './slices.ts'
import type { Timing } from '../timing.ts'

/** How long after sending its last renewal a process still grants, by its own clock: two thirds of the lease. */
const leaseGrantMs = 6_000
/** The held part of a lost lease stays set aside this long: for the longest call that may still be running. */
export const leaseHeldMs = 1_800_000
/** For how long a process looks for a new lease whose commit got no answer: longer than a commit may take. */
const leaseUnansweredMs = 60_000

/** One budget's part in a take: how much, and the slice to add it to unless a new lease is needed. */
export interface TakePlan {
  readonly budget: BudgetRef
  readonly state: BudgetState
  readonly slice: Slice | undefined
  readonly amount: bigint
  /** The part of the slice (after the take) that will be held at once. The row records it with the take, so that no other process thinks it free. */
  readonly holding: bigint
}

/** `refused`: a budget has less than asked for, or a lease was lost meanwhile; read the budgets again. `unknown`: storage is out of order. */
export type TakeResult = { type: 'taken' } | { type: 'refused' } | { type: 'unknown'; error: Error }

/** What a take does to one lease. */
interface LeaseChange {
  readonly plan: TakePlan
  readonly leaseId: string
  readonly statement: LedgerStatement
  readonly apply: (sentMs: number) => void
}

/**
 * The leases of this process and what changes them. Call the methods while the budget's lock is held, except
 * `closeUnanswered`.
 */
export class Leases {
  /** The slice to grant from, per budget. */
  readonly slices = new Map<string, Slice>()
  /** Slices that grant no more but have calls that still run. */
  readonly retired = new Set<Slice>()
  readonly locks = new BudgetLocks()
  readonly databaseClock: DatabaseClock
  /** New leases whose take got no answer, with the monotonic time at which the take was sent. */
  readonly #unanswered = new Map<string, number>()
  readonly #ledger: Ledger
  readonly #timing: Timing

  constructor(ledger: Ledger, timing: Timing) {
    this.#ledger = ledger
    this.#timing = timing
    this.databaseClock = new DatabaseClock(timing.clock)
  }

  /** The slice to grant from, even when its time is over; undefined when there is none or it was lost. */
  openSlice(budgetId: string): Slice | undefined {
    const slice = this.slices.get(budgetId)
    return slice?.state === 'open' ? slice : undefined
  }

  /** Whether this process still has the lease in memory. */
  knows(leaseId: string): boolean {
    for (const slice of this.slices.values()) if (slice.leaseId === leaseId) return true
    for (const slice of this.retired) if (slice.leaseId === leaseId) return true
    return false
  }

  /** Takes from several budgets in one unit: all or nothing. Budgets first, then leases, both in id order. */
  async take(plans: readonly TakePlan[]): Promise<TakeResult> {
    for (const plan of plans) if (plan.slice) await this.settleDoubt(plan.slice)
    const sentMs = this.#timing.clock.monotonicMs()
    const leases = plans.map((plan) => this.#leaseFor(plan))
    const outcome = await this.#ledger.commit(commitPoints.take, [
      ...plans
        .filter((plan) => plan.amount > 0n)
        .map((plan) => takeFromBudget(plan.budget.budgetId, plan.amount)),
      ...leases.map((lease) => lease.statement),
    ])
    if (outcome.type === 'committed') {
      for (const lease of leases) lease.apply(sentMs)
      this.#observe(outcome)
      return { type: 'taken' }
    }
    if (outcome.type === 'refused' && outcome.by === 'guard') {
      for (const { plan } of leases) {
        if (plan.slice && outcome.guard === leaseGuard(plan.slice.leaseId)) this.#lose(plan.slice)
      }
      return { type: 'refused' }
    }
    for (const { plan, leaseId, apply } of leases) {
      if (plan.slice) doubt(plan.slice, { apply: () => apply(sentMs), revert: () => undefined })
      else if (this.#unanswered.size < leasesPerRoundMax) this.#unanswered.set(leaseId, sentMs)
    }
    return { type: 'unknown', error: outcome.error }
  }

  /**
   * Renews a lease: moves its expiry, folds what was captured into the budget, records what is held, and with `giveBack`
   * returns what is free. Does nothing for a slice that is not open.
   */
  async renew(slice: Slice, giveBack: boolean): Promise<void> {
    await this.settleDoubt(slice)
    if (slice.state !== 'open') return
    const returned = giveBack ? slice.returnable : 0n
    const sentMs = this.#timing.clock.monotonicMs()
    const folded = slice.captured
    const held = slice.held - slice.owed
    slice.free -= returned
    const statements: LedgerStatement[] = [
      renewLease({
        leaseId: slice.leaseId,
        epoch: slice.epoch,
        folded,
        returned,
        held: held > 0n ? held : 0n,
        leaseMs,
        heldMs: leaseHeldMs,
      }),
    ]
    if (folded > 0n || returned > 0n)
      statements.unshift(foldIntoBudget(slice.budget.budgetId, folded, returned))
    const outcome = await this.#ledger.commit(
      returned > 0n ? commitPoints.giveBack : commitPoints.renew,
      statements,
    )
    const apply = (): void => {
      slice.epoch += 1
      slice.captured -= folded
      slice.reportedHeld = held
      slice.grantUntilMs = sentMs + leaseGrantMs
      slice.lastRenewedMs = sentMs
    }
    if (outcome.type === 'committed') {
      apply()
      this.#observe(outcome)
    } else if (outcome.type === 'refused' && outcome.by === 'guard') this.#lose(slice)
    else {
      const revert = (): void => {
        slice.free += returned
      }
      doubt(slice, { apply, revert })
    }
  }

  /** Gives a whole lease back, if no call holds from it. The slice grants nothing from the beginning of this call on. */
  async close(slice: Slice): Promise<void> {
    await this.settleDoubt(slice)
    if (slice.holdsLive > 0) return
    if (slice.state === 'open') this.#lose(slice)
    const row = await this.#ledger.loadLease(slice.leaseId)
    if (row === null || row.state === 'closed') {
      this.#forget(slice)
      return
    }
    const outcome = await this.#ledger.commit(commitPoints.giveBack, closeLease(row, 'at once'))
    if (outcome.type === 'committed') this.#forget(slice)
  }

  /**
   * Ends new leases whose take was committed although its answer was lost. No call holds from them, but their rows have
   * an amount as held, and would keep it for as long as a call may run.
   */
  async closeUnanswered(): Promise<void> {
    if (this.#unanswered.size === 0) return
    const nowMs = this.#timing.clock.monotonicMs()
    const found = await this.#ledger.loadLeases([...this.#unanswered.keys()])
    for (const lease of found) {
      const outcome = await this.#ledger.commit(commitPoints.giveBack, closeLease(lease, 'at once'))
      if (outcome.type === 'committed') this.#unanswered.delete(lease.leaseId)
    }
    const there = new Set(found.map((lease) => lease.leaseId))
    for (const [leaseId, sentMs] of this.#unanswered) {
      if (!there.has(leaseId) && nowMs - sentMs >= leaseUnansweredMs) this.#unanswered.delete(leaseId)
    }
  }

  /** Finds out whether the last unit about a slice was committed, if its answer was lost. Rejects while storage cannot be read. */
  async settleDoubt(slice: Slice): Promise<void> {
    const open = slice.doubt
    if (open === null) return
    const row = await this.#ledger.loadLease(slice.leaseId)
    slice.doubt = null
    if (row?.state === 'open' && row.epoch === open.epoch) open.apply()
    else if (row?.state === 'open' && row.epoch === open.epoch - 1) open.revert()
    else this.#lose(slice)
  }

  #leaseFor(plan: TakePlan): LeaseChange {
    const { slice, amount, budget, holding } = plan
    if (slice) {
      const held = slice.held - slice.owed + holding
      const statement = growLease({
        leaseId: slice.leaseId,
        epoch: slice.epoch,
        amount,
        held,
        leaseMs,
        heldMs: leaseHeldMs,
      })
      const apply = (sentMs: number): void => {
        slice.epoch += 1
        slice.reportedHeld = held
        slice.grow(amount, sentMs, sentMs + leaseGrantMs)
      }
      return { plan, leaseId: slice.leaseId, statement, apply }
    }
    const leaseId = newId('lease', this.#timing.clock.nowMs())
    const { ownerId } = this.#ledger
    const lease = {
      leaseId,
      budgetId: budget.budgetId,
      ownerId,
      granted: amount,
      held: holding,
      leaseMs,
      heldMs: leaseHeldMs,
    }
    const apply = (sentMs: number): void => {
      const opened = new Slice({
        leaseId,
        budget,
        granted: amount,
        nowMs: sentMs,
        grantUntilMs: sentMs + leaseGrantMs,
        recallSeenMs: plan.state.recallAtMs,
      })
      opened.reportedHeld = holding
      this.slices.set(budget.budgetId, opened)
    }
    return { plan, leaseId, statement: insertLease(lease), apply }
  }

  #observe(outcome: CommitOutcome): void {
    if (outcome.type !== 'committed') return
    const last: unknown = outcome.rows.at(-1)?.[0]?.['now_ms']
    if (typeof last === 'number') this.databaseClock.observe(last)
  }

  #lose(slice: Slice): void {
    slice.lose()
    if (this.slices.get(slice.budget.budgetId) === slice) this.slices.delete(slice.budget.budgetId)
    this.retired.add(slice)
  }

  /** A capture found the lease of this slice gone. */
  markLost(slice: Slice): void {
    if (slice.state !== 'closed') this.#lose(slice)
  }

  #forget(slice: Slice): void {
    slice.state = 'closed'
    this.retired.delete(slice)
    if (this.slices.get(slice.budget.budgetId) === slice) this.slices.delete(slice.budget.budgetId)
  }
}

function doubt(slice: Slice, outcomes: { apply: () => void; revert: () => void }): void {
  slice.doubt = { epoch: slice.epoch + 1, ...outcomes }
}
