import { leaseMs, leasesPerRoundMax } from '../../core/limits/billing.ts'
import {
  answerOf,
  commitOnce,
  type CommitOptions,
  type CommitOutcome,
  type Patience,
} from '../../storage/commit-once.ts'
import type { Database } from '../../storage/database.ts'
import type { BudgetRef } from '../budgets/budget-ids.ts'
import type { CaptureRow } from './capture-row.ts'
import { type LedgerCommitPoint, commitPoints } from '../ledger-commit-points.ts'
import type { LeaseRow, SliceRowState } from '../budgets/lease-repository.ts'
import { ensureBudget, recallBudget } from '../budgets/budget-repository.ts'
import type { LedgerStatement } from './ledger-statement.ts'

/** Wait between tries of a capture that storage refused: first, and most. */
const captureRetryMs = 50
const captureRetryMaxMs = 1_000

export type { CommitOutcome } from '../../storage/commit-once.ts'
export { answerOf } from '../../storage/commit-once.ts'

/** A budget as it is now. */
export interface BudgetState {
  budgetId: string
  limit: bigint
  granted: bigint
  recallAtMs: number
  isClosed: boolean
}

/** What the leases of unresponsive owners still have of a budget, and the time by which all of it has returned. */
export interface Returning {
  amount: bigint
  withinMs: number
}

/** All statements that change budgets, leases, usages, postings and dead letters, and the reads that these changes need. */
export interface Ledger {
  readonly ownerId: string
  /** Commits guarded statements, sent once; never rejects. When the outcome is unknown, the ids and epochs in the rows tell it later. */
  commit(name: LedgerCommitPoint, statements: readonly LedgerStatement[]): Promise<CommitOutcome>
  /** The same, sent until storage has answered; the statements are made anew for every try. */
  commitUntilAnswered(
    name: LedgerCommitPoint,
    statements: () => readonly LedgerStatement[],
    waiting: Pick<CommitOptions, 'sleep' | 'onUnanswered'>,
  ): Promise<CommitOutcome>
  /** The database's clock, Unix milliseconds. Rejects with `storage_unavailable`, as every read here does. */
  loadNow(): Promise<number>
  /** The budgets that exist among these, by id, and the database's clock. */
  loadBudgets(
    budgetIds: readonly string[],
  ): Promise<{ budgets: Map<string, BudgetState>; nowMs: number | null }>
  ensureBudgets(budgets: readonly BudgetRef[]): Promise<void>
  loadLease(leaseId: string): Promise<LeaseRow | null>
  /** The leases that exist among these ids; a few at most. */
  loadLeases(leaseIds: readonly string[]): Promise<LeaseRow[]>
  /** Whether other owners have leases on one of these budgets, which a recall could bring back. */
  hasOtherLeases(budgetIds: readonly string[]): Promise<boolean>
  hasLeases(budgetId: string): Promise<boolean>
  /** Leases that expired, or whose held part may return. */
  listExpiredLeases(limit: number): Promise<LeaseRow[]>
  /** Expired leases on one budget, whatever they hold. */
  listExpiredLeasesOn(budgetId: string, limit: number): Promise<LeaseRow[]>
  /** Open leases of one owner. */
  listLeasesOf(ownerId: string, limit: number): Promise<LeaseRow[]>
  /** Other processes that have leases. */
  listOtherOwners(limit: number): Promise<string[]>
  isOwnerDead(ownerId: string): Promise<boolean>
  /**
   * The money that will return to these budgets without anyone's help, read after other owners had time to obey a recall:
   * leases of owners that died or show no sign of life, and amounts that their owners neither hold nor have given back.
   * By budget; a budget to which nothing returns is left out.
   */
  loadReturning(budgetIds: readonly string[]): Promise<Map<string, Returning>>
  /** Asks all owners to give back what they do not hold. */
  recall(budgetIds: readonly string[]): Promise<void>
  onRecall(wake: () => void): () => void
  /** Keeps a capture that failed for an operator to look after; tries until storage has answered. */
  insertDeadLetter(row: CaptureRow, reason: string, waiting: Pick<CommitOptions, 'sleep'>): Promise<void>
}

const recallChannel = 'budget_recall'

/** Earned money is never given up: only the end of this process ends the tries. */
const untilAnswered: Patience = {
  triesMax: Number.POSITIVE_INFINITY,
  waitMs: captureRetryMs,
  waitMsMax: captureRetryMaxMs,
}

/** The ledger on a database. */
export function createLedger(database: Database): Ledger {
  return new DatabaseLedger(database)
}

class DatabaseLedger implements Ledger {
  readonly ownerId: string
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
    this.ownerId = database.ownerId
  }

  commit(name: LedgerCommitPoint, statements: readonly LedgerStatement[]): Promise<CommitOutcome> {
    return commitOnce(this.#database, { name, statements })
  }

  commitUntilAnswered(
    name: LedgerCommitPoint,
    statements: () => readonly LedgerStatement[],
    { sleep, onUnanswered }: Pick<CommitOptions, 'sleep' | 'onUnanswered'>,
  ): Promise<CommitOutcome> {
    const unit = () => ({ name, statements: statements() })
    const options = { patience: untilAnswered, isSentAfterOutage: true, sleep, onUnanswered }
    return commitOnce(this.#database, unit, options)
  }

  async loadNow(): Promise<number> {
    const [row] = await this.#database.query<{ now_ms: number }>('select now_ms() as now_ms')
    return row?.now_ms ?? 0
  }

  async loadBudgets(
    budgetIds: readonly string[],
  ): Promise<{ budgets: Map<string, BudgetState>; nowMs: number | null }> {
    const rows = await this.#database.query<BudgetRow>(
      `select budget_id, limit_nanocredits, granted_nanocredits, recall_at_ms, closed, now_ms() as now_ms
       from budgets where budget_id in (${placeholders(budgetIds.length)})`,
      budgetIds,
    )
    const budgets = new Map(rows.map((row) => [row.budget_id, toBudgetState(row)]))
    return { budgets, nowMs: rows[0]?.now_ms ?? null }
  }

  async ensureBudgets(budgets: readonly BudgetRef[]): Promise<void> {
    const missing = budgets.filter((budget) => budget.kind !== 'batch')
    if (missing.length === 0) return
    answerOf(await this.commit(commitPoints.ensure, missing.map(ensureBudget)))
  }

  async loadLease(leaseId: string): Promise<LeaseRow | null> {
    const rows = await this.#leases('lease_id = $1', [leaseId])
    return rows[0] ?? null
  }

  loadLeases(leaseIds: readonly string[]): Promise<LeaseRow[]> {
    return this.#leases(`state <> 'closed' and lease_id in (${placeholders(leaseIds.length)})`, leaseIds)
  }

  async hasOtherLeases(budgetIds: readonly string[]): Promise<boolean> {
    const rows = await this.#database.query(
      `select 1 as found from leases where state <> 'closed' and owner_id <> $1
       and budget_id in (${placeholders(budgetIds.length, 2)}) limit 1`,
      [this.ownerId, ...budgetIds],
    )
    return rows.length > 0
  }

  async hasLeases(budgetId: string): Promise<boolean> {
    const rows = await this.#database.query(
      `select 1 as found from leases where state <> 'closed' and budget_id = $1 limit 1`,
      [budgetId],
    )
    return rows.length > 0
  }

  listExpiredLeases(limit: number): Promise<LeaseRow[]> {
    return this.#leases(
      `state <> 'closed' and expires_at_ms <= now_ms() and (state = 'open' or held_until_ms <= now_ms())
       order by expires_at_ms limit $1`,
      [limit],
    )
  }

  listExpiredLeasesOn(budgetId: string, limit: number): Promise<LeaseRow[]> {
    return this.#leases(
      `state <> 'closed' and budget_id = $1 and expires_at_ms <= now_ms() order by lease_id limit $2`,
      [budgetId, limit],
    )
  }

  listLeasesOf(ownerId: string, limit: number): Promise<LeaseRow[]> {
    return this.#leases(`state <> 'closed' and owner_id = $1 order by lease_id limit $2`, [ownerId, limit])
  }

  async listOtherOwners(limit: number): Promise<string[]> {
    const rows = await this.#database.query<{ owner_id: string }>(
      `select distinct owner_id from leases where state <> 'closed' and owner_id <> $1 limit $2`,
      [this.ownerId, limit],
    )
    return rows.map((row) => row.owner_id)
  }

  isOwnerDead(ownerId: string): Promise<boolean> {
    return this.#database.isOwnerDead(ownerId)
  }

  async loadReturning(budgetIds: readonly string[]): Promise<Map<string, Returning>> {
    // The owner of a lease that was renewed after the recall is alive, and what that lease holds is in use.
    const rows = await this.#database.query<ReturningRow>(
      `select budget_id, owner_id, granted_nanocredits - captured_nanocredits as left_nanocredits,
        case when expires_at_ms - ${leaseMs} < recall_at_ms and granted_nanocredits - captured_nanocredits > held_nanocredits
          then granted_nanocredits - captured_nanocredits - held_nanocredits else 0 end as unheld_nanocredits,
        expires_at_ms - now_ms() as within_ms
       from (select leases.*, budgets.recall_at_ms from leases join budgets on budgets.budget_id = leases.budget_id
         where leases.state = 'open' and leases.owner_id <> $1
           and leases.budget_id in (${placeholders(budgetIds.length, 2)})
         order by leases.granted_nanocredits desc limit ${leasesPerRoundMax}) as others`,
      [this.ownerId, ...budgetIds],
    )
    const owners = [...new Set(rows.map((row) => row.owner_id))]
    const silent = await Promise.all(owners.map((ownerId) => this.#database.isOwnerSilent(ownerId)))
    const returning = new Map<string, Returning>()
    for (const row of rows) {
      const isSilent = silent[owners.indexOf(row.owner_id)] === true
      const amount = isSilent ? row.left_nanocredits : row.unheld_nanocredits
      if (amount <= 0n) continue
      const known = returning.get(row.budget_id) ?? { amount: 0n, withinMs: 0 }
      const withinMs = Math.max(known.withinMs, row.within_ms)
      returning.set(row.budget_id, { amount: known.amount + amount, withinMs })
    }
    return returning
  }

  async recall(budgetIds: readonly string[]): Promise<void> {
    const outcome = await this.commit(commitPoints.recall, budgetIds.map(recallBudget))
    answerOf(outcome)
    this.#database.notify(recallChannel)
  }

  onRecall(wake: () => void): () => void {
    return this.#database.listen(recallChannel, wake)
  }

  async insertDeadLetter(
    row: CaptureRow,
    reason: string,
    waiting: Pick<CommitOptions, 'sleep'>,
  ): Promise<void> {
    const payload = JSON.stringify(row, (_, value: unknown) =>
      typeof value === 'bigint' ? value.toString() : value,
    )
    const insert = {
      sql: `insert into usage_dead_letters (generation_id, payload_json, reason, created_at_ms)
        values ($1, $2, $3, now_ms()) on conflict (generation_id) do nothing`,
      params: [row.generationId, payload, reason],
    }
    await this.commitUntilAnswered(commitPoints.deadLetter, () => [insert], waiting)
  }

  async #leases(condition: string, params: readonly (string | number)[]): Promise<LeaseRow[]> {
    const rows = await this.#database.query<LeaseDatabaseRow>(
      `select lease_id, budget_id, owner_id, epoch, granted_nanocredits, captured_nanocredits, held_nanocredits, state,
        case when expires_at_ms <= now_ms() then 1 else 0 end as is_expired,
        case when held_until_ms <= now_ms() then 1 else 0 end as is_held_over
       from leases where ${condition}`,
      params,
    )
    return rows.map(toLeaseRow)
  }
}

interface BudgetRow {
  budget_id: string
  limit_nanocredits: bigint
  granted_nanocredits: bigint
  recall_at_ms: number
  closed: number
  now_ms: number
}

interface ReturningRow {
  budget_id: string
  owner_id: string
  left_nanocredits: bigint
  unheld_nanocredits: bigint
  within_ms: number
}

interface LeaseDatabaseRow {
  lease_id: string
  budget_id: string
  owner_id: string
  epoch: number
  granted_nanocredits: bigint
  captured_nanocredits: bigint
  held_nanocredits: bigint
  state: SliceRowState
  is_expired: number
  is_held_over: number
}

function toBudgetState(row: BudgetRow): BudgetState {
  return {
    budgetId: row.budget_id,
    limit: row.limit_nanocredits,
    granted: row.granted_nanocredits,
    recallAtMs: row.recall_at_ms,
    isClosed: row.closed === 1,
  }
}

function toLeaseRow(row: LeaseDatabaseRow): LeaseRow {
  return {
    leaseId: row.lease_id,
    budgetId: row.budget_id,
    ownerId: row.owner_id,
    epoch: row.epoch,
    granted: row.granted_nanocredits,
    captured: row.captured_nanocredits,
    held: row.held_nanocredits,
    state: row.state,
    isExpired: row.is_expired === 1,
    isHeldOver: row.is_held_over === 1,
  }
}

/** `$1, $2, …` for a list of values. */
function placeholders(count: number, first = 1): string {
  return Array.from({ length: count }, (_, index) => `$${index + first}`).join(', ')
}
