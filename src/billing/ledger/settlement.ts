import { assert } from '../../core/assert.ts'
import { Bag, type Placed } from '../../core/bag.ts'
import { GatewayError } from '../../core/errors.ts'
import {
  captureGroupMax,
  captureGroupsMax,
  captureQueueMax,
  captureRedirectsMax,
  captureStallMs,
  captureWaitMs,
} from '../../core/limits/billing.ts'
import { refusalNoteMs } from '../../core/limits/storage.ts'
import { formatCredits } from '../../core/money.ts'
import type { CaptureRow } from './capture-row.ts'
import { captureStatements, discharge, redirect, reserve, restore } from './charges.ts'
import type { Charge } from './charges.ts'
import { commitPoints } from '../commit-points.ts'
import type { SliceHold } from '../budgets/hold.ts'
import type { CommitOutcome, Ledger } from './ledger-repository.ts'
import type { LedgerStatement } from './ledger-statements.ts'
import { insertLosses, toVoided } from './losses.ts'
import { RefusedCaptures } from './refused-captures.ts'
import type { LossStats } from './refused-captures.ts'
import type { Slice } from '../budgets/slices.ts'
import type { Timing } from '../timing.ts'

/** A mishap of which somebody should hear. After `call_lost` comes `call_freed` once the database says that nobody pays. */
export interface BillingEvent {
  type:
    | 'dead_letter'
    | 'captures_failing'
    | 'captures_recovered'
    | 'capture_refused'
    | 'call_lost'
    | 'call_freed'
    | 'refund_failed'
    | 'maintenance_failed'
  /** For the log; never shown to callers. */
  cause?: unknown
  generationId?: string
}

/** Hears of mishaps. A caller who is refused waits a moment for the promise that it gives for `call_lost`, if it does. */
export type Report = (event: BillingEvent) => unknown

/** The statements of several captures for somebody else's unit, and what to say afterwards, exactly once. */
export interface PreparedCaptures {
  readonly statements: readonly LedgerStatement[]
  /** The unit is durable. */
  committed(): void
  /** The unit left no trace; prepare again, with what the guard that failed taught about leases. */
  failed(guard?: string): void
}

/**
 * What becomes of a capture whose caller is told that it took too long. `void`: the caller is shown that error and
 * nothing of the answer, and therefore pays nothing. `keep`: the caller had a part of the answer, or has left, and pays.
 */
export type WhenRefused = 'void' | 'keep'

interface Entry extends Charge, Placed {
  readonly whenRefused: WhenRefused
  readonly resolve: () => void
  readonly reject: (error: Error) => void
  readonly queuedMs: number
  isOverdue: boolean
  /** Its caller was refused and pays nothing, whatever became of the commits that were sent. */
  isRefused: boolean
  /** A commit that contained it ended without an answer, so finding it there means it was ours. */
  mayBeDurable: boolean
}

/**
 * Makes captures durable. Those of one event-loop turn go into one unit; a group that fails for one row's sake is split
 * until that row is alone. A capture stays queued and is tried again until it is durable or a dead letter, whatever its
 * caller is told.
 */
export class Settlement {
  readonly #ledger: Ledger
  readonly #timing: Timing
  readonly #sleep: Timing['sleep']
  readonly #onLost: (slice: Slice) => void
  readonly #report: Report
  readonly #refused: RefusedCaptures
  readonly #queue: Entry[] = []
  readonly #running = new Bag<Entry>()
  #groups = 0
  #isScheduled = false
  #failingSinceMs: number | null = null
  #captured = 0
  #deadLetters = 0
  #duplicates = 0

  constructor(parts: { ledger: Ledger; timing: Timing; onLost: (slice: Slice) => void; report: Report }) {
    this.#ledger = parts.ledger
    this.#timing = parts.timing
    this.#sleep = (milliseconds) => parts.timing.sleep(milliseconds)
    this.#onLost = parts.onLost
    this.#report = parts.report
    this.#refused = new RefusedCaptures(parts)
  }

  get stats(): {
    queued: number
    captured: number
    deadLetters: number
    duplicates: number
    isFailing: boolean
  } & LossStats {
    return {
      queued: this.#queue.length + this.#running.size,
      captured: this.#captured,
      deadLetters: this.#deadLetters,
      duplicates: this.#duplicates,
      isFailing: this.#failingSinceMs !== null,
      ...this.#refused.stats,
    }
  }

  /** False while captures do not become durable: nothing new should be spent. */
  canAccept(): boolean {
    if (this.#queue.length >= captureQueueMax / 2) return false
    if (this.#failingSinceMs === null) return true
    return this.#timing.clock.monotonicMs() - this.#failingSinceMs < captureStallMs
  }

  /** Resolves when durable. A hold is captured once: a second time gives the first one's promise. */
  capture(hold: SliceHold, row: CaptureRow, whenRefused: WhenRefused = 'keep'): Promise<void> {
    if (hold.state !== 'held') return hold.captured ?? Promise.resolve()
    if (this.#queue.length >= captureQueueMax) {
      this.#report({ type: 'capture_refused', generationId: row.generationId, cause: lossOf(row) })
      this.#refused.count(row)
      this.#refused.keep(row)
      this.#free(hold)
      return Promise.reject(notDurable())
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    hold.captured = promise
    const charge = reserve(hold, row)
    const queuedMs = this.#timing.clock.monotonicMs()
    this.#queue.push({
      ...charge,
      resolve,
      reject,
      queuedMs,
      whenRefused,
      isOverdue: false,
      isRefused: false,
      mayBeDurable: false,
      place: -1,
    })
    this.#schedule()
    return promise
  }

  /** For a batch part: the captures as statements of the part's own unit. Holds that ended are left out. */
  prepare(entries: readonly { hold: SliceHold; row: CaptureRow }[]): PreparedCaptures {
    const charges = entries
      .filter(({ hold }) => hold.state === 'held')
      .map(({ hold, row }) => reserve(hold, row))
    let isOver = false
    const once = (): void => {
      assert(!isOver, 'prepared captures were ended twice')
      isOver = true
    }
    return {
      statements: charges.length === 0 ? [] : captureStatements(charges),
      committed: () => {
        once()
        for (const charge of charges) this.#settle(charge)
      },
      failed: (guard) => {
        once()
        if (guard !== undefined) this.#redirect(charges, guard)
        for (const charge of charges) restore(charge)
      },
    }
  }

  /**
   * Tells callers who waited `captureWaitMs` that it takes longer. Their captures stay queued; what a caller without any
   * part of the answer would have been charged is not.
   */
  expireWaits(): void {
    const nowMs = this.#timing.clock.monotonicMs()
    for (const entries of [this.#running, this.#queue]) {
      for (const entry of entries) {
        if (entry.isOverdue || nowMs - entry.queuedMs < captureWaitMs) continue
        entry.isOverdue = true
        // Also when nothing was answered at all, a stalled disk counts as failing.
        const failure = notDurable()
        this.#noteFailure(failure, entry.queuedMs)
        const told = entry.whenRefused === 'void' ? this.#refuse(entry) : null
        if (told instanceof Promise) void this.#reject(entry, failure, told)
        else entry.reject(failure)
      }
    }
  }

  async #reject(entry: Entry, failure: GatewayError, told: Promise<unknown>): Promise<void> {
    await Promise.race([told, this.#timing.sleep(refusalNoteMs)])
    entry.reject(failure)
  }

  /** From here on nobody pays. A promise when somebody notes that, which is to come before the caller is told. */
  #refuse(entry: Entry): unknown {
    const { row } = entry
    if (row.costNanocredits === 0n) return null
    entry.isRefused = true
    this.#refused.count(row)
    return this.#report({ type: 'call_lost', generationId: row.generationId, cause: lossOf(row) })
  }

  /** Resolves when everything queued is durable, or the time is over. */
  async drain(untilMs: number): Promise<boolean> {
    while (this.#queue.length + this.#running.size > 0 || this.#refused.hasUnlisted) {
      if (this.#timing.clock.monotonicMs() >= untilMs) return false
      this.#start()
      void this.#refused.list()
      await this.#timing.sleep(5)
    }
    return true
  }

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    this.#timing.defer(() => {
      this.#isScheduled = false
      this.#start()
    })
  }

  #start(): void {
    while (this.#queue.length > 0 && this.#groups < captureGroupsMax) {
      const group = this.#queue.splice(0, captureGroupMax)
      for (const entry of group) this.#running.add(entry)
      this.#groups += 1
      void this.#run(group).finally(() => {
        this.#groups -= 1
        if (this.#queue.length > 0) this.#start()
      })
    }
  }

  /** Until every capture of the group is durable or a dead letter. */
  async #run(group: readonly Entry[]): Promise<void> {
    const work: { entries: readonly Entry[]; redirects: number }[] = [{ entries: group, redirects: 0 }]
    for (let next = work.pop(); next !== undefined; next = work.pop()) {
      const { entries, redirects } = next
      const { outcome, voided } = await this.#commit(entries)
      if (outcome.type === 'committed') await this.#finishAll(entries, voided)
      else if (
        outcome.type === 'refused' &&
        outcome.by === 'guard' &&
        redirects < captureRedirectsMax &&
        this.#redirect(entries, outcome.guard)
      ) {
        work.push({ entries, redirects: redirects + 1 })
      } else if (entries.length > 1) {
        const middle = entries.length >> 1
        work.push(
          { entries: entries.slice(middle), redirects: 0 },
          { entries: entries.slice(0, middle), redirects: 0 },
        )
      } else await this.#endAlone(entries, outcome)
    }
    // Storage has just answered.
    await this.#refused.list()
  }

  /** Commits until there is an answer: storage being out of order is none. */
  async #commit(entries: readonly Entry[]): Promise<Answered> {
    let voided: ReadonlySet<Entry> = new Set()
    const statements = (): readonly LedgerStatement[] => {
      // A caller may be refused while the commit is on its way: what was sent decides what it means.
      voided = new Set(entries.filter((entry) => entry.isRefused))
      return statementsOf(entries, voided)
    }
    const outcome = await this.#ledger.commitUntilAnswered(commitPoints.capture, statements, {
      sleep: this.#sleep,
      onUnanswered: (error) => {
        for (const entry of entries) entry.mayBeDurable = true
        this.#noteFailure(error)
      },
    })
    this.#noteAnswer()
    return { outcome, voided }
  }

  async #endAlone(entries: readonly Entry[], outcome: CommitOutcome): Promise<void> {
    const [entry] = entries
    if (entry === undefined) return
    const by = outcome.type === 'refused' ? outcome.by : null
    if (by === 'duplicate') {
      if (entry.mayBeDurable) return entry.isRefused ? this.#giveBack(entry) : this.#finish(entry)
      // Somebody else captured this generation before: it changes nothing, and its hold is given back.
      this.#duplicates += 1
      return this.#abandon(entry)
    }
    // What storage can never take was never charged.
    if (entry.isRefused) {
      this.#refused.keep(entry.row)
      return this.#abandon(entry)
    }
    assert(outcome.type !== 'committed', 'what was committed is not refused')
    const isGuard = outcome.type === 'refused' && outcome.by === 'guard'
    await this.#bury(entry, isGuard ? `guard ${outcome.guard}` : outcome.error.message)
  }

  async #bury(entry: Entry, reason: string): Promise<void> {
    await this.#ledger.insertDeadLetter(entry.row, reason, { sleep: this.#sleep })
    this.#deadLetters += 1
    this.#report({ type: 'dead_letter', generationId: entry.row.generationId, cause: reason })
    this.#abandon(entry)
  }

  #abandon(entry: Entry): void {
    if (entry.isRefused) this.#report({ type: 'call_freed', generationId: entry.row.generationId })
    restore(entry)
    this.#free(entry.hold)
    this.#end(entry)
  }

  #free(hold: SliceHold): void {
    const nowMs = this.#timing.clock.monotonicMs()
    for (const { slice } of hold.shares) slice.release(hold.amount, nowMs)
    hold.state = 'ended'
  }

  /** First those who wait for the answer, then the charges that were written after their callers had been refused. */
  async #finishAll(entries: readonly Entry[], voided: ReadonlySet<Entry>): Promise<void> {
    const written = entries.filter((entry) => entry.isRefused && !voided.has(entry))
    for (const entry of entries) {
      if (voided.has(entry)) this.#abandon(entry)
      else if (!entry.isRefused) this.#finish(entry)
    }
    for (const entry of written) await this.#giveBack(entry)
  }

  /** Of a refused caller whose charge was written, or may have been. */
  async #giveBack(entry: Entry): Promise<void> {
    const given = await this.#refused.giveBack(entry)
    if (given.type === 'void') return this.#abandon(entry)
    const { generationId } = entry.row
    if (given.type === 'failed') this.#report({ type: 'refund_failed', generationId, cause: given.error })
    else this.#report({ type: 'call_freed', generationId })
    this.#finish(entry)
  }

  #finish(entry: Entry): void {
    this.#settle(entry)
    this.#end(entry)
  }

  /** A refused caller may not have been told yet, and must not get the answer for nothing. */
  #end(entry: Entry): void {
    this.#running.delete(entry)
    if (entry.isRefused) entry.reject(notDurable())
    else entry.resolve()
  }

  #settle(charge: Charge): void {
    this.#captured += 1
    discharge(charge, this.#timing.clock.monotonicMs())
  }

  /** False when the guard says nothing about these charges. */
  #redirect(charges: readonly Charge[], guard: string): boolean {
    const lost = redirect(charges, guard)
    for (const slice of lost.slices) this.#onLost(slice)
    return lost.isChanged
  }

  #noteAnswer(): void {
    if (this.#failingSinceMs === null) return
    this.#failingSinceMs = null
    this.#report({ type: 'captures_recovered' })
  }

  #noteFailure(cause: Error, sinceMs = this.#timing.clock.monotonicMs()): void {
    if (this.#failingSinceMs !== null) return
    this.#failingSinceMs = sinceMs
    this.#report({ type: 'captures_failing', cause })
  }
}

/** What a unit came to, and which of its captures went as rows that charge nothing. */
interface Answered {
  outcome: CommitOutcome
  voided: ReadonlySet<Entry>
}

/** The captures, those of refused callers as rows that charge nothing beside what the operator loses by them. */
function statementsOf(entries: readonly Entry[], voided: ReadonlySet<Entry>): LedgerStatement[] {
  if (voided.size === 0) return captureStatements(entries)
  const charges = entries.map((entry) =>
    voided.has(entry) ? { hold: entry.hold, row: toVoided(entry.row) } : entry,
  )
  const rows = [...voided].map(({ row }) => row)
  return [...captureStatements(charges), insertLosses(rows, 'voided')]
}

/** What the log says of a call that its caller does not pay. */
function lossOf({ model, provider, costNanocredits }: CaptureRow): string {
  return `${model} of ${provider} answered for ${formatCredits(costNanocredits)} credits; the caller was refused and pays nothing`
}

function notDurable(): GatewayError {
  return new GatewayError('storage_unavailable', 'The usage of this call could not be recorded in time.', {
    retryAfterSeconds: 5,
  })
}
