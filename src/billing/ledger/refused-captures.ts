import { lossesListedMax, lossesUnlistedMax } from '../../core/limits/billing.ts'
import { type CaptureRow, lossOf } from './capture-row.ts'
import { type Charge, redirect } from './charges.ts'
import type { Report } from '../billing-events.ts'
import { commitPoints } from '../ledger-commit-points.ts'
import type { SliceHold } from '../budgets/hold.ts'
import type { Ledger } from './ledger-repository.ts'
import { insertLosses, refundGuard } from './capture-repository.ts'
import type { LedgerStatement } from './ledger-statement.ts'
import type { QueuedCapture } from './queued-capture.ts'
import { refundStatements } from './refunds.ts'
import type { Timing } from '../timing.ts'

/** What refused calls came to since the start: answers that the operator pays for and no caller does. */
export interface LossStats {
  lostCalls: number
  lostNanocredits: bigint
}

/** Counts the captures whose callers were refused, and gives back those that had been written all the same. */
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

  /** What cost nothing is no loss. */
  count({ costNanocredits }: CaptureRow): void {
    if (costNanocredits === 0n) return
    this.stats.lostCalls += 1
    this.stats.lostNanocredits += costNanocredits
  }

  /** A lost call that no unit of captures will list: `list` does. A bounded number is kept. */
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
      // Storage is away: they are kept until it is back.
      if (outcome.type === 'unknown' || (outcome.type === 'refused' && outcome.by === 'outage')) break
      // One that storage can never take must not keep the others out; the log has told it.
      if (outcome.type !== 'committed' && rows.length > 1) size = 1
      else this.#unlisted.splice(0, rows.length)
    }
    this.#isListing = false
  }

  /** From here on nobody pays. A promise when somebody notes that, which is to come before the caller is told. */
  refuse(entry: QueuedCapture): unknown {
    const { generationId, costNanocredits } = entry.row
    if (costNanocredits === 0n) return null
    entry.isRefused = true
    this.count(entry.row)
    return this.#report({ type: 'call_lost', generationId, cause: lossOf(entry.row) })
  }

  /**
   * Refunds a charge that is in the ledger, to every budget it was taken from. False when there is none: the row that
   * stands in the charge's place was there first.
   */
  async giveBack(charge: Charge): Promise<boolean> {
    const { generationId } = charge.row
    const given = await this.#refund(charge)
    if (given === 'refunded') this.#report({ type: 'call_freed', generationId })
    else if (given !== 'void') this.#report({ type: 'refund_failed', generationId, cause: given })
    return given !== 'void'
  }

  /** Tries until storage has answered. An error when the charge cannot be given back. */
  async #refund(charge: Charge): Promise<'refunded' | 'void' | Error> {
    const statements = (): LedgerStatement[] => this.#statementsOf(charge)
    const sleep: Timing['sleep'] = (milliseconds) => this.#timing.sleep(milliseconds)
    for (;;) {
      const outcome = await this.#ledger.commitUntilAnswered(commitPoints.refund, statements, { sleep })
      if (outcome.type === 'committed') return 'refunded'
      // A duplicate is this very refund, which became real without an answer.
      if (outcome.type === 'refused' && outcome.by === 'duplicate') return 'refunded'
      if (outcome.type === 'unknown' || outcome.by !== 'guard') return outcome.error
      if (outcome.guard === refundGuard) return 'void'
      // The budget of a batch was closed since, and its parents have booked what it spent.
      if (!redirect([charge], outcome.guard).isChanged)
        return new Error(`a refund failed at ${outcome.guard}`)
    }
  }

  #statementsOf({ hold, row }: Charge): LedgerStatement[] {
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

/** The budgets that a capture of this hold was, or is in the end, taken from. */
function chargedBudgetsOf({ shares }: SliceHold): string[] {
  return shares.flatMap(({ slice: { budget }, target }) =>
    target === 'parents' ? budget.parents : [budget.budgetId],
  )
}
