import { recallWatchMs } from '../core/limits/billing.ts'
import type { CaptureRow } from './ledger/capture-row.ts'
import type { Announce } from './ledger/captures.ts'
import { Granter } from './budgets/granter.ts'
import type { HoldRequest } from './budgets/granter.ts'
import { joinHolds } from './budgets/hold.ts'
import type { Hold, SliceHold } from './budgets/hold.ts'
import type { Ledger } from './ledger/ledger-repository.ts'
import { Leases } from './budgets/leases.ts'
import { Reaper } from './budgets/reaper.ts'
import { Renewals } from './budgets/renewals.ts'
import { CaptureQueue } from './ledger/capture-queue.ts'
import type { Report } from './billing-events.ts'
import type { PreparedCaptures } from './ledger/prepared-captures.ts'
import type { WhenRefused } from './ledger/queued-capture.ts'
import { systemTiming } from './timing.ts'
import type { Timing } from './timing.ts'

/** How often leases in use are renewed and captures folded into their budgets. */
const leaseRenewEveryMs = 900
/** How often expired leases and those of dead owners are looked for. */
const leaseReapEveryMs = 2_000
/** How often waiting captures are checked for having waited too long. */
const captureWatchMs = 500
/** How long stopping waits for captures to become durable and for leases to be given back. */
const billingStopMs = 10_000

export type { BudgetRef } from './budgets/budget-ids.ts'
export type { CaptureRow } from './ledger/capture-row.ts'
export type { HoldRequest } from './budgets/granter.ts'
export type { Hold } from './budgets/hold.ts'
export type { LedgerStatement } from './ledger/ledger-statement.ts'
export type { BillingEvent, Report } from './billing-events.ts'
export type { PreparedCaptures } from './ledger/prepared-captures.ts'
export type { WhenRefused } from './ledger/queued-capture.ts'

/** Figures for metrics; never waits. */
export interface BillingStats {
  /** Budgets this process has a slice of, and what those have in nanocredits. */
  slices: number
  freeNanocredits: bigint
  heldNanocredits: bigint
  holdsLive: number
  /** Calls that wait for a slice, and calls refused with 402 since the start. */
  holdsWaiting: number
  holdsRefused: number
  /** Captures that are not durable yet; since the start, the captures that became durable, were repeated, or became dead letters. */
  capturesQueued: number
  captured: number
  duplicates: number
  deadLetters: number
  /** Calls that were answered and then refused because their capture took too long, and what they cost the operator. */
  lostCalls: number
  lostNanocredits: bigint
  isFailing: boolean
  leasesReaped: number
  /** The sum of the holds of calls whose process died. Those calls spent at most this, and it is billed to no account. */
  abandonedNanocredits: bigint
}

/** Hold before the call, capture after it, exactly once each, with no database round trip for most holds. */
export interface Billing {
  /**
   * Sets money aside. Synchronous when the slices in memory suffice. Throws nothing synchronously; rejects with
   * `payment_required`, whose metadata names limit source, needed and available, or with `balance_set_aside` or `storage_unavailable`.
   */
  hold(request: HoldRequest): Hold | Promise<Hold>
  /**
   * Charges a hold. Resolves when durable. Rejects with `storage_unavailable` after `captureWaitMs`. After that
   * rejection `whenRefused` decides: the capture stays queued (the default), or the caller pays nothing, even if the
   * charge was written in the meantime. A second capture of a hold or of a generation changes nothing.
   */
  capture(hold: Hold, row: CaptureRow, whenRefused?: WhenRefused): Promise<void>
  /**
   * Joins two holds into one, for a call that turned out dearer than its first hold. When a lease was lost between the
   * two, they cannot be joined: the larger one is kept and the other is given back.
   */
  join(hold: Hold, more: Hold): Hold
  /** Gives a hold back uncharged. A hold that ended or is being captured stays as it is. */
  release(hold: Hold): void
  /** For a batch part: the captures as statements of the part's own unit, and callbacks for the unit's outcome, to be called once. */
  prepareCaptures(entries: readonly { hold: Hold; row: CaptureRow }[]): PreparedCaptures
  /** False while captures cannot become durable: answer 503 before anything is spent. */
  canAccept(): boolean
  /** Unix milliseconds by the database's clock, as far as this process knows it; decides windows of key limits. */
  databaseNowMs(): number
  /** Closes all leases on a budget, so that it can be ended; false when calls still hold from it. */
  settleBudget(budgetId: string): Promise<boolean>
  /** Frees what dead processes left and begins renewing, watching for recalls and reaping. */
  start(): Promise<void>
  /** Makes what is queued durable and gives the leases back, within `billingStopMs`. */
  stop(): Promise<void>
  stats(): BillingStats
  /** The rounds that `start` repeats, for a simulation that is in charge of time. */
  readonly rounds: BillingRounds
}

/** What `start` repeats. Each rejects while storage is out of order, and makes up for it the next time. */
export interface BillingRounds {
  renew(): Promise<void>
  watchRecalls(): Promise<void>
  reap(): Promise<void>
}

/** Billing on a ledger. `report` receives mishaps, for log and alerts. */
export function createBilling(dependencies: {
  ledger: Ledger
  timing?: Timing
  report?: Report
  /** How long the capture of a call may wait for others to share its commit, in milliseconds; 0 when left out. */
  commitDelayMs?: number
  /** Adds a statement to the unit of captures; by default none. */
  announce?: Announce | null
}): Billing {
  return new LeasedBilling({
    timing: systemTiming,
    report: () => undefined,
    commitDelayMs: 0,
    announce: null,
    ...dependencies,
  })
}

class LeasedBilling implements Billing {
  readonly rounds: BillingRounds
  readonly #ledger: Ledger
  readonly #timing: Timing
  readonly #report: Report
  readonly #leases: Leases
  readonly #granter: Granter
  readonly #renewals: Renewals
  readonly #captures: CaptureQueue
  readonly #reaper: Reaper
  #stops: (() => void)[] = []

  constructor({
    ledger,
    timing,
    report,
    commitDelayMs,
    announce,
  }: Required<Parameters<typeof createBilling>[0]>) {
    this.#ledger = ledger
    this.#timing = timing
    this.#report = report
    const leases = new Leases(ledger, timing)
    this.#leases = leases
    this.#reaper = new Reaper(ledger, (leaseId) => leases.knows(leaseId))
    this.#renewals = new Renewals({ ledger, leases, timing })
    this.#captures = new CaptureQueue({
      ledger,
      timing,
      report,
      announce,
      onLost: (slice) => leases.markLost(slice),
      delayMs: commitDelayMs,
    })
    this.#granter = new Granter({ ledger, leases, timing, reap: () => this.#reaper.reap() })
    this.rounds = {
      renew: () => this.#renewals.renew(),
      watchRecalls: () => this.#renewals.watchRecalls(),
      reap: () => this.#reaper.reap(),
    }
  }

  hold(request: HoldRequest): Hold | Promise<Hold> {
    return this.#granter.hold(request)
  }

  capture(hold: Hold, row: CaptureRow, whenRefused?: WhenRefused): Promise<void> {
    return this.#captures.capture(hold as SliceHold, row, whenRefused)
  }

  release(hold: Hold): void {
    const ending = hold as SliceHold
    if (ending.state !== 'held') return
    ending.state = 'ended'
    const nowMs = this.#timing.clock.monotonicMs()
    for (const { slice } of ending.shares) slice.release(ending.amount, nowMs)
  }

  join(hold: Hold, more: Hold): Hold {
    const joined = joinHolds(hold as SliceHold, more as SliceHold)
    if (joined !== null) return joined
    const [kept, spare] = more.amount > hold.amount ? [more, hold] : [hold, more]
    this.release(spare)
    return kept
  }

  prepareCaptures(entries: readonly { hold: Hold; row: CaptureRow }[]): PreparedCaptures {
    return this.#captures.prepare(entries as readonly { hold: SliceHold; row: CaptureRow }[])
  }

  canAccept(): boolean {
    return this.#captures.canAccept()
  }

  databaseNowMs(): number {
    return this.#leases.databaseClock.nowMs()
  }

  settleBudget(budgetId: string): Promise<boolean> {
    return this.#renewals.settle(budgetId)
  }

  async start(): Promise<void> {
    this.#leases.databaseClock.observe(await this.#ledger.loadNow())
    await this.#reaper.reap()
    const watch = this.#alone(() => this.rounds.watchRecalls())
    this.#stops = [
      // This task has a timer of its own: when storage never answers, every round that waits for storage hangs.
      this.#timing.every(captureWatchMs, () => this.#captures.expireWaits()),
      this.#timing.every(
        leaseRenewEveryMs,
        this.#alone(() => this.rounds.renew()),
      ),
      this.#timing.every(recallWatchMs, watch),
      this.#timing.every(
        leaseReapEveryMs,
        this.#alone(() => this.rounds.reap()),
      ),
      this.#ledger.onRecall(watch),
    ]
  }

  async stop(): Promise<void> {
    for (const stop of this.#stops.splice(0)) stop()
    const untilMs = this.#timing.clock.monotonicMs() + billingStopMs
    await this.#captures.drain(untilMs)
    try {
      await this.#renewals.returnAll()
    } catch (cause) {
      // A lease that could not be given back expires, or the reaper ends it once this process is known to be dead.
      this.#report({ type: 'maintenance_failed', cause })
    }
  }

  stats(): BillingStats {
    let freeNanocredits = 0n
    let heldNanocredits = 0n
    let holdsLive = 0
    for (const slice of [...this.#leases.slices.values(), ...this.#leases.retired]) {
      freeNanocredits += slice.free
      heldNanocredits += slice.held
      holdsLive += slice.holdsLive
    }
    const { queued, ...settled } = this.#captures.stats
    return {
      slices: this.#leases.slices.size,
      freeNanocredits,
      heldNanocredits,
      holdsLive,
      holdsWaiting: this.#granter.waiting,
      holdsRefused: this.#granter.refused,
      capturesQueued: queued,
      ...settled,
      ...this.#reaper.stats,
    }
  }

  /** Wraps a round so that two runs of it never overlap, and a streak of failures is reported once. */
  #alone(round: () => Promise<void>): () => void {
    let isRunning = false
    let isFailing = false
    const run = async (): Promise<void> => {
      try {
        await round()
        isFailing = false
      } catch (cause) {
        if (!isFailing) this.#report({ type: 'maintenance_failed', cause })
        isFailing = true
      } finally {
        isRunning = false
      }
    }
    return () => {
      if (isRunning) return
      isRunning = true
      void run()
    }
  }
}
