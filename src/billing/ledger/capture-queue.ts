import { assert } from '../../core/assert.ts'
import { Bag } from '../../core/bag.ts'
import { GatewayError } from '../../core/errors.ts'
import { type CaptureRow, lossOf } from './capture-row.ts'
import { CaptureHealth } from './capture-health.ts'
import { type Announce, type Capture, conclude, redirect, reserve, restore } from './captures.ts'
import type { Report } from '../billing-events.ts'
import { commitPoints } from '../ledger-commit-points.ts'
import type { SliceHold } from '../budgets/hold.ts'
import type { CommitOutcome, Ledger } from './ledger-repository.ts'
import type { LedgerStatement } from './ledger-statement.ts'
import { prepareCaptures, type PreparedCaptures } from './prepared-captures.ts'
import { type QueuedCapture, statementsOf, type WhenRefused } from './queued-capture.ts'
import { type LossStats, RefusedCaptures } from './refused-captures.ts'
import type { Slice } from '../budgets/slices.ts'
import type { Timing } from '../timing.ts'

/** How long a finished call waits for its capture to be durable before the response is cut. */
export const captureWaitMs = 10_000
/** Captures in one unit (three rows each), units under way at once, and captures that may wait to become durable. */
export const captureGroupMax = 128
const captureGroupsMax = 1
export const captureQueueMax = 20_000
/** How much of the mean time between captures the newest one decides. */
const gapWeight = 0.2
/** The longest time between captures that is counted, in delays: a pause says nothing about the captures after it. */
const gapDelaysMax = 4
/** Tries of one group after its leases or budgets turned out closed, before it is split. */
const captureRedirectsMax = 4
/** How long a refused caller waits until its refusal is noted: a full or stalled disk must not keep the caller waiting. */
const refusalNoteMs = 500

/**
 * Makes captures durable. Those of one event-loop turn go into one unit, and with a delay those of that time, when they
 * come so close together that another one is likely; a group that fails because of one row is split until that row is alone. A capture stays queued until it is durable or a dead letter, even after its caller got an
 * error.
 */
export class CaptureQueue {
  readonly #ledger: Ledger
  readonly #timing: Timing
  readonly #sleep: Timing['sleep']
  readonly #onLost: (slice: Slice) => void
  readonly #report: Report
  readonly #announce: Announce | null
  readonly #refused: RefusedCaptures
  readonly #health: CaptureHealth
  readonly #queue: QueuedCapture[] = []
  readonly #running = new Bag<QueuedCapture>()
  #groups = 0
  #isScheduled = false
  readonly #delayMs: number
  /** Mean time between captures, and when the last one was asked for; known with a delay alone. */
  #gapMs: number
  #lastMs = Number.NEGATIVE_INFINITY
  #captured = 0
  #deadLetters = 0
  #duplicates = 0

  constructor(dependencies: {
    ledger: Ledger
    timing: Timing
    onLost: (slice: Slice) => void
    report: Report
    announce: Announce | null
    /** How long a capture may wait for others to share its commit, in milliseconds. */
    delayMs: number
  }) {
    this.#delayMs = dependencies.delayMs
    this.#gapMs = this.#delayMs * gapDelaysMax
    this.#ledger = dependencies.ledger
    this.#timing = dependencies.timing
    this.#sleep = (milliseconds) => dependencies.timing.sleep(milliseconds)
    this.#onLost = dependencies.onLost
    this.#report = dependencies.report
    this.#announce = dependencies.announce
    this.#refused = new RefusedCaptures(dependencies)
    this.#health = new CaptureHealth(dependencies)
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
      isFailing: this.#health.isFailing,
      ...this.#refused.stats,
    }
  }

  /** False while captures do not become durable; then the gateway accepts no new calls. */
  canAccept(): boolean {
    if (this.#queue.length >= captureQueueMax / 2) return false
    return !this.#health.isStalled
  }

  /** Resolves when durable. A hold is captured once: a second call returns the first one's promise. */
  capture(hold: SliceHold, row: CaptureRow, whenRefused: WhenRefused = 'keep'): Promise<void> {
    if (hold.state !== 'held') return hold.captured ?? Promise.resolve()
    if (this.#queue.length >= captureQueueMax) {
      this.#report({ type: 'capture_refused', generationId: row.generationId, cause: lossOf(row) })
      this.#refused.count(row)
      this.#refused.keep(row)
      this.#free(hold)
      return Promise.reject(notDurable())
    }
    reserve(hold, row)
    const queuedMs = this.#timing.clock.monotonicMs()
    if (this.#delayMs > 0) this.#noteGap(queuedMs)
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    hold.captured = promise
    this.#queue.push({
      hold,
      row,
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
    return prepareCaptures(entries, {
      settle: (capture) => this.#settle(capture),
      redirect: (captures, guard) => void this.#redirect(captures, guard),
      announce: this.#announce,
    })
  }

  /**
   * Rejects the promises of callers who have waited `captureWaitMs`. Their captures stay queued; a caller who has seen no
   * part of the answer (`void`) will not be charged.
   */
  expireWaits(): void {
    const nowMs = this.#timing.clock.monotonicMs()
    for (const entries of [this.#running, this.#queue]) {
      for (const entry of entries) {
        if (entry.isOverdue || nowMs - entry.queuedMs < captureWaitMs) continue
        entry.isOverdue = true
        // A disk that stalls returns no error at all, so an overdue capture counts as a failure too.
        const failure = notDurable()
        this.#health.noteFailure(failure, entry.queuedMs)
        const told = entry.whenRefused === 'void' ? this.#refused.refuse(entry) : null
        if (told instanceof Promise) void this.#reject(entry, failure, told)
        else entry.reject(failure)
      }
    }
  }

  async #reject(entry: QueuedCapture, failure: GatewayError, told: Promise<unknown>): Promise<void> {
    await Promise.race([told, this.#timing.sleep(refusalNoteMs)])
    entry.reject(failure)
  }

  /** Resolves when all queued captures are durable (true), or when the time is over (false). */
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
    if (this.#isScheduled) {
      // A full group gains nothing by waiting.
      if (this.#delayMs > 0 && this.#queue.length === captureGroupMax) this.#start()
      return
    }
    this.#isScheduled = true
    if (this.#delayMs === 0 || this.#gapMs > this.#delayMs) this.#timing.defer(this.#startScheduled)
    else void this.#sleep(this.#delayMs).then(this.#startScheduled)
  }

  readonly #startScheduled = (): void => {
    this.#isScheduled = false
    this.#start()
  }

  #noteGap(nowMs: number): void {
    const gapMs = Math.min(nowMs - this.#lastMs, this.#delayMs * gapDelaysMax)
    this.#lastMs = nowMs
    this.#gapMs += (gapMs - this.#gapMs) * gapWeight
  }

  #start(): void {
    while (this.#queue.length > 0 && this.#groups < captureGroupsMax) {
      const group = this.#queue.splice(0, captureGroupMax)
      for (const entry of group) this.#running.add(entry)
      this.#groups += 1
      void this.#run(group).finally(() => {
        this.#groups -= 1
        const isGathering = this.#delayMs > 0 && this.#isScheduled && this.#queue.length < captureGroupMax
        if (this.#queue.length > 0 && !isGathering) this.#start()
      })
    }
  }

  /** Resolves when every capture of the group is durable or a dead letter. */
  async #run(group: readonly QueuedCapture[]): Promise<void> {
    const work: { entries: readonly QueuedCapture[]; redirects: number }[] = [
      { entries: group, redirects: 0 },
    ]
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
    // Storage has just answered, so it may take the kept losses too.
    await this.#refused.list()
  }

  /** Commits until storage has answered. */
  async #commit(entries: readonly QueuedCapture[]): Promise<Answered> {
    let voided = none
    const statements = (): readonly LedgerStatement[] => {
      // A caller may be refused while the commit is on its way, so this remembers which captures were sent as voided.
      voided = refusedAmong(entries)
      return statementsOf(entries, voided, this.#announce)
    }
    const outcome = await this.#ledger.commitUntilAnswered(commitPoints.capture, statements, {
      sleep: this.#sleep,
      onUnanswered: (error) => {
        for (const entry of entries) entry.mayBeDurable = true
        this.#health.noteFailure(error)
      },
    })
    this.#health.noteAnswer()
    return { outcome, voided }
  }

  async #endAlone(entries: readonly QueuedCapture[], outcome: CommitOutcome): Promise<void> {
    const [entry] = entries
    if (entry === undefined) return
    const by = outcome.type === 'refused' ? outcome.by : null
    if (by === 'duplicate') {
      if (entry.mayBeDurable) return entry.isRefused ? this.#giveBack(entry) : this.#finish(entry)
      // An earlier capture of this generation exists; this one changes nothing, and its hold is given back.
      this.#duplicates += 1
      return this.#abandon(entry)
    }
    // Storage refuses this row, so the refused caller was never charged.
    if (entry.isRefused) {
      this.#refused.keep(entry.row)
      return this.#abandon(entry)
    }
    assert(outcome.type !== 'committed', 'what was committed is not refused')
    const isGuard = outcome.type === 'refused' && outcome.by === 'guard'
    await this.#bury(entry, isGuard ? `guard ${outcome.guard}` : outcome.error.message)
  }

  async #bury(entry: QueuedCapture, reason: string): Promise<void> {
    await this.#ledger.insertDeadLetter(entry.row, reason, { sleep: this.#sleep })
    this.#deadLetters += 1
    this.#report({ type: 'dead_letter', generationId: entry.row.generationId, cause: reason })
    this.#abandon(entry)
  }

  #abandon(entry: QueuedCapture): void {
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

  /** Ends the captures that callers wait for; then refunds charges that were written although their callers had been refused. */
  async #finishAll(entries: readonly QueuedCapture[], voided: ReadonlySet<QueuedCapture>): Promise<void> {
    const written = entries.filter((entry) => entry.isRefused && !voided.has(entry))
    for (const entry of entries) {
      if (voided.has(entry)) this.#abandon(entry)
      else if (!entry.isRefused) this.#finish(entry)
    }
    for (const entry of written) await this.#giveBack(entry)
  }

  /** Refunds a refused caller whose charge was written, or may have been. */
  async #giveBack(entry: QueuedCapture): Promise<void> {
    if (await this.#refused.giveBack(entry)) this.#finish(entry)
    else this.#abandon(entry)
  }

  #finish(entry: QueuedCapture): void {
    this.#settle(entry)
    this.#end(entry)
  }

  /** A refused caller whose promise is still open is rejected here: it pays nothing, so it must not get the answer. */
  #end(entry: QueuedCapture): void {
    this.#running.delete(entry)
    if (entry.isRefused) entry.reject(notDurable())
    else entry.resolve()
  }

  #settle(capture: Capture): void {
    this.#captured += 1
    conclude(capture, this.#timing.clock.monotonicMs())
  }

  /** False when the guard is of none of these charges' leases and budgets. */
  #redirect(captures: readonly Capture[], guard: string): boolean {
    const lost = redirect(captures, guard)
    for (const slice of lost.slices) this.#onLost(slice)
    return lost.isChanged
  }
}

/** The outcome of a unit, and which of its captures were sent as rows without a charge. */
interface Answered {
  outcome: CommitOutcome
  voided: ReadonlySet<QueuedCapture>
}

const none: ReadonlySet<QueuedCapture> = new Set()

function refusedAmong(entries: readonly QueuedCapture[]): ReadonlySet<QueuedCapture> {
  const refused = entries.filter((entry) => entry.isRefused)
  return refused.length === 0 ? none : new Set(refused)
}

function notDurable(): GatewayError {
  return new GatewayError('storage_unavailable', 'The usage of this call could not be recorded in time.', {
    retryAfterSeconds: 5,
  })
}
