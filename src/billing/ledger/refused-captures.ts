import { type CaptureRow, lossOf } from './capture-row.ts'
import { type Capture, redirect } from './captures.ts'
import type { Report } from '../billing-events.ts'
import { commitPoints } from '../ledger-commit-points.ts'
import type { SliceHold } from '../budgets/hold.ts'
import type { Ledger } from './ledger-repository.ts'
import { insertLosses, refundGuard } from './capture-repository.ts'
import type { LedgerStatement } from './ledger-statement.ts'
import type { QueuedCapture } from './queued-capture.ts'
import { refundStatements } from './refunds.ts'
import type { Timing } from '../timing.ts'

/**
 * Refused calls without a capture that are kept until storage takes the list of them, and how many are written at once.
 */
const lossesUnlistedMax = 10_000
const lossesListedMax = 100

/** Refused calls since the start, and their cost: the operator pays the provider for these answers, and no caller pays. */
export interface LossStats {
  lostCalls: number
  lostNanocredits: bigint
}

/** Counts the captures whose callers were refused, and refunds those that were written nevertheless. */
export class RefusedCaptures {
  readonly stats: LossStats = { lostCalls: 0, lostNanocredits: 0n }
  readonly #ledger: Ledger
  readonly #timing: Timing
  readonly #unlisted: CaptureRow[] = []
  #isListing = false
  readonly #report: Report

  constructor(dependencies: { ledger: Ledger; timing: Timing; report: Report }) {
    this.#ledger = dependencies.ledger
    this.#timing = dependencies.timing
    this.#report = dependencies.report
  }

  /** A call that cost nothing is no loss. */
  count({ costNanocredits }: CaptureRow): void {
    if (costNanocredits === 0n) return
    this.stats.lostCalls += 1
    this.stats.lostNanocredits += costNanocredits
  }

  /** Keeps a lost call that no unit of captures records, until `list` writes it down. Keeps a bounded number. */
  keep(row: CaptureRow): void {
    if (row.costNanocredits === 0n || this.#unlisted.length >= lossesUnlistedMax) return
    this.#unlisted.push(row)
  }

  /** Whether `list` has something to write. */
  get hasUnlisted(): boolean {
    return this.#unlisted.length > 0
  }

  /** Writes down the lost calls that were kept, as long as storage answers. Never rejects. */
  async list(): Promise<void> {
    if (this.#isListing) return
    this.#isListing = true
    let size = lossesListedMax
    while (this.#unlisted.length > 0) {
      const rows = this.#unlisted.slice(0, size)
      const outcome = await this.#ledger.commit(commitPoints.deadLetter, [insertLosses(rows, 'voided')])
      // Storage is out of order: the rows are kept until it answers again.
      if (outcome.type === 'unknown' || (outcome.type === 'refused' && outcome.by === 'outage')) break
      // One row that storage always refuses must not block the others, so rows go one by one. The log has that row already.
      if (outcome.type !== 'committed' && rows.length > 1) size = 1
      else this.#unlisted.splice(0, rows.length)
    }
    this.#isListing = false
  }

  /** Marks the capture as refused: from here on its caller pays nothing. Returns the reporter's promise, if any, to await before the caller gets its error. */
  refuse(entry: QueuedCapture): unknown {
    const { generationId, costNanocredits } = entry.row
    if (costNanocredits === 0n) return null
    entry.isRefused = true
    this.count(entry.row)
    return this.#report({ type: 'call_lost', generationId, cause: lossOf(entry.row) })
  }

  /**
   * Refunds a charge to every budget it was taken from. False when the ledger has no such charge, because the row without
   * a charge was written first.
   */
  async giveBack(capture: Capture): Promise<boolean> {
    const { generationId } = capture.row
    const given = await this.#refund(capture)
    if (given === 'refunded') this.#report({ type: 'call_freed', generationId })
    else if (given !== 'void') this.#report({ type: 'refund_failed', generationId, cause: given })
    return given !== 'void'
  }

  /** Tries until storage has answered. Returns an error when the charge cannot be refunded. */
  async #refund(capture: Capture): Promise<'refunded' | 'void' | Error> {
    const statements = (): LedgerStatement[] => this.#statementsOf(capture)
    const sleep: Timing['sleep'] = (milliseconds) => this.#timing.sleep(milliseconds)
    for (;;) {
      const outcome = await this.#ledger.commitUntilAnswered(commitPoints.refund, statements, { sleep })
      if (outcome.type === 'committed') return 'refunded'
      // A duplicate is this same refund, which was committed although its answer was lost.
      if (outcome.type === 'refused' && outcome.by === 'duplicate') return 'refunded'
      if (outcome.type === 'unknown' || outcome.by !== 'guard') return outcome.error
      if (outcome.guard === refundGuard) return 'void'
      // The batch's budget was closed since; its parents have booked what it spent, so the refund goes to them.
      if (!redirect([capture], outcome.guard).isChanged)
        return new Error(`a refund failed at ${outcome.guard}`)
    }
  }

  #statementsOf({ hold, row }: Capture): LedgerStatement[] {
    const refund = {
      generationId: row.generationId,
      organizationId: row.organizationId,
      amountNanocredits: row.costNanocredits,
      sequence: 1,
      kind: 'refund' as const,
      createdAtMs: this.#timing.clock.nowMs(),
    }
    return [...refundStatements(refund, chargedBudgetsOf(hold)), insertLosses([row], 'refunded')]
  }
}

/** The budgets that a capture of this hold is or was taken from. */
function chargedBudgetsOf({ shares }: SliceHold): string[] {
  return shares.flatMap(({ slice: { budget }, target }) =>
    target === 'parents' ? budget.parents : [budget.budgetId],
  )
}
