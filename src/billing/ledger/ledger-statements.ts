import { dayOfTransaction } from '../../core/ids.ts'
import { refundsMax } from '../../core/limits/billing.ts'
import { amountMax } from '../../core/money.ts'
import type { BudgetRef } from '../budgets/budget-ids.ts'
import { keySubject, spendingByDay } from '../budgets/spending.ts'

/** What a parameter of a ledger statement may be. */
export type LedgerValue = string | number | bigint | null

/**
 * One guarded statement, as storage takes it. Every unit writes budgets in id order first, then leases in id order,
 * then inserts, so that units of different processes wait for each other instead of locking crosswise.
 */
export interface LedgerStatement {
  sql: string
  params?: readonly LedgerValue[]
  rows?: readonly (readonly LedgerValue[])[]
  expect?: number
  guard?: string
}

/** The guard that fails when a budget has too little, is closed or does not exist. */
export function budgetGuard(budgetId: string): string {
  return `budget:${budgetId}`
}

/** The guard that fails when a lease is not as this process remembers it. */
export function leaseGuard(leaseId: string): string {
  return `lease:${leaseId}`
}

/** The account of an organization in the ledger. */
export function organizationAccount(organizationId: string): string {
  return `organization:${organizationId}`
}

/** Where the money of captures goes, and where granted credits come from. */
export const usageIncomeAccount = 'income:usage'
export const grantsAccount = 'equity:grants'

/**
 * Creates the budget's row unless it is there. Credits begin with what the ledger says of the account; a key's budget of
 * the window in which its limit was set or got another reset begins with what the key spent in that window before, and a
 * changed limit takes effect. Calls that run at the change stay with the budget they were held from.
 */
export function ensureBudget(budget: BudgetRef): LedgerStatement {
  const { budgetId, organizationId, subjectId, windowStartMs, sinceMs, limitNanocredits } = budget
  if (budget.kind === 'key_limit') {
    return {
      sql: `insert into budgets (budget_id, kind, organization_id, subject_id, window_start_ms, limit_nanocredits,
          granted_nanocredits, spent_nanocredits, created_at_ms)
        select cast($1 as text), 'key_limit', cast($2 as text), cast($3 as text), cast($4 as bigint),
          cast($5 as bigint), cast(coalesce(sum(cost_nanocredits), 0) as bigint),
          cast(coalesce(sum(cost_nanocredits), 0) as bigint), now_ms()
        from (${spendingByDay('key_id', 'cast($6 as text)', 'cast($3 as text)')}) as spent
        where day >= cast($4 as bigint) / 86400000 and cast($4 as bigint) <= cast($7 as bigint)
        on conflict (budget_id) do update set limit_nanocredits = excluded.limit_nanocredits
          where budgets.limit_nanocredits <> excluded.limit_nanocredits`,
      params: [
        budgetId,
        organizationId,
        subjectId,
        windowStartMs,
        limitNanocredits ?? 0n,
        keySubject(subjectId),
        sinceMs,
      ],
    }
  }
  return {
    // What was used before the budget existed is spent, so that its limit is always what was granted.
    sql: `insert into budgets (budget_id, kind, organization_id, subject_id, limit_nanocredits, granted_nanocredits,
        spent_nanocredits, created_at_ms)
      select cast($1 as text), 'credits', cast($2 as text), cast($2 as text), cast(granted as bigint),
        cast(-charged as bigint), cast(-charged as bigint), now_ms()
      from (select coalesce(sum(case when kind = 'grant' then amount_nanocredits end), 0) as granted,
          coalesce(sum(case when kind <> 'grant' then amount_nanocredits end), 0) as charged
        from postings where account = cast($3 as text)) as booked
      where true
      on conflict (budget_id) do nothing`,
    params: [budgetId, organizationId, organizationAccount(organizationId)],
  }
}

/** Takes from a budget what it must have: the one conditional update that two processes cannot both win. */
export function takeFromBudget(
  budgetId: string,
  amount: bigint,
  guard = budgetGuard(budgetId),
): LedgerStatement {
  return {
    sql: `update budgets set granted_nanocredits = granted_nanocredits + $2
      where budget_id = $1 and closed = 0 and limit_nanocredits - granted_nanocredits >= $2`,
    params: [budgetId, amount],
    expect: 1,
    guard,
  }
}

/** A new lease with what was taken for it. */
export function insertLease(lease: {
  leaseId: string
  budgetId: string
  ownerId: string
  granted: bigint
  held: bigint
  leaseMs: number
  heldMs: number
}): LedgerStatement {
  return {
    sql: `insert into leases (lease_id, budget_id, owner_id, epoch, granted_nanocredits, held_nanocredits,
        expires_at_ms, held_until_ms, state, created_at_ms)
      values ($1, $2, $3, 1, $4, $7, now_ms() + cast($5 as bigint), now_ms() + cast($6 as bigint), 'open', now_ms())
      returning now_ms() as now_ms`,
    params: [
      lease.leaseId,
      lease.budgetId,
      lease.ownerId,
      lease.granted,
      lease.leaseMs,
      lease.heldMs,
      lease.held,
    ],
  }
}

/** More for a lease, which is thereby also renewed. `held` is bounded as in `renewLease`. */
export function growLease(lease: {
  leaseId: string
  epoch: number
  amount: bigint
  held: bigint
  leaseMs: number
  heldMs: number
}): LedgerStatement {
  return {
    sql: `update leases set granted_nanocredits = granted_nanocredits + $3, epoch = epoch + 1,
        held_nanocredits = case when granted_nanocredits + $3 - captured_nanocredits < $6
          then granted_nanocredits + $3 - captured_nanocredits else $6 end,
        expires_at_ms = now_ms() + cast($4 as bigint), held_until_ms = now_ms() + cast($5 as bigint)
      where lease_id = $1 and epoch = $2 and state = 'open' returning now_ms() as now_ms`,
    params: [lease.leaseId, lease.epoch, lease.amount, lease.leaseMs, lease.heldMs, lease.held],
    expect: 1,
    guard: leaseGuard(lease.leaseId),
  }
}

/** Books spent amounts on a budget and gives back what was granted and not used. */
export function foldIntoBudget(budgetId: string, spent: bigint, returned: bigint): LedgerStatement {
  return {
    sql: `update budgets set spent_nanocredits = spent_nanocredits + $2,
        granted_nanocredits = granted_nanocredits - $3
      where budget_id = $1 returning limit_nanocredits, granted_nanocredits`,
    params: [budgetId, spent, returned],
    expect: 1,
    guard: budgetGuard(budgetId),
  }
}

/**
 * Moves a lease's expiry forward, takes out what is folded and returned, and says what is held. Held is bounded by what
 * the row has left, since captures may commit between the reading of the memory and this statement.
 */
export function renewLease(lease: {
  leaseId: string
  epoch: number
  folded: bigint
  returned: bigint
  held: bigint
  leaseMs: number
  heldMs: number
}): LedgerStatement {
  return {
    sql: `update leases set granted_nanocredits = granted_nanocredits - $3 - $4,
        captured_nanocredits = captured_nanocredits - $3,
        held_nanocredits = case when granted_nanocredits - captured_nanocredits - $4 < $5
          then granted_nanocredits - captured_nanocredits - $4 else $5 end,
        epoch = epoch + 1, expires_at_ms = now_ms() + cast($6 as bigint), held_until_ms = now_ms() + cast($7 as bigint)
      where lease_id = $1 and epoch = $2 and state = 'open' and captured_nanocredits >= $3
        and granted_nanocredits - captured_nanocredits >= $4 returning now_ms() as now_ms`,
    params: [
      lease.leaseId,
      lease.epoch,
      lease.folded,
      lease.returned,
      lease.held,
      lease.leaseMs,
      lease.heldMs,
    ],
    expect: 1,
    guard: leaseGuard(lease.leaseId),
  }
}

/** A lease row as it was read, the condition under which it may be ended by anybody. */
export interface LeaseRow {
  leaseId: string
  budgetId: string
  ownerId: string
  epoch: number
  granted: bigint
  captured: bigint
  held: bigint
  state: SliceRowState
  isExpired: boolean
  isHeldOver: boolean
}
/** How a lease row stands: `draining` is left only what running calls hold. */
export type SliceRowState = 'open' | 'draining' | 'closed'

/** What ending an expired lease waits for; by the database's clock, judged again in the statement itself. */
export type EndCondition = 'expired' | 'held over' | 'at once'

const conditionSql: Record<EndCondition, string> = {
  expired: 'and expires_at_ms <= now_ms()',
  'held over': 'and held_until_ms <= now_ms()',
  'at once': '',
}

/**
 * Ends a lease that is still exactly as it was read: captured is folded, everything else returns. The row goes, since
 * a capture treats a lease that is gone like one that ended, and every idle moment of an account would leave one behind.
 */
export function closeLease(lease: LeaseRow, condition: EndCondition): LedgerStatement[] {
  return [
    foldIntoBudget(lease.budgetId, lease.captured, lease.granted - lease.captured),
    {
      sql: `delete from leases where lease_id = $1 and epoch = $2 and granted_nanocredits = $3
        and captured_nanocredits = $4 and state <> 'closed' ${conditionSql[condition]}`,
      params: [lease.leaseId, lease.epoch, lease.granted, lease.captured],
      expect: 1,
      guard: leaseGuard(lease.leaseId),
    },
  ]
}

/** Takes everything that is not held from an expired lease whose owner may still be running calls. */
export function drainLease(lease: LeaseRow): LedgerStatement[] {
  return [
    foldIntoBudget(lease.budgetId, 0n, lease.granted - lease.captured - lease.held),
    {
      sql: `update leases set granted_nanocredits = captured_nanocredits + held_nanocredits, state = 'draining',
          epoch = epoch + 1
        where lease_id = $1 and epoch = $2 and granted_nanocredits = $3 and captured_nanocredits = $4
          and held_nanocredits = $5 and state = 'open' and expires_at_ms <= now_ms()`,
      params: [lease.leaseId, lease.epoch, lease.granted, lease.captured, lease.held],
      expect: 1,
      guard: leaseGuard(lease.leaseId),
    },
  ]
}

/** Captures on the lease they were held from; `excess` was added to the budget in the same unit. */
export function captureOnLease(leaseId: string, cost: bigint, excess: bigint): LedgerStatement {
  return {
    sql: `update leases set captured_nanocredits = captured_nanocredits + $2,
        granted_nanocredits = granted_nanocredits + $3,
        held_nanocredits = case when held_nanocredits <= $2 then 0
          when granted_nanocredits + $3 - captured_nanocredits < held_nanocredits
          then granted_nanocredits + $3 - captured_nanocredits - $2
          else held_nanocredits - $2 end
      where lease_id = $1 and state <> 'closed' and captured_nanocredits + $2 <= granted_nanocredits + $3`,
    params: [leaseId, cost, excess],
    expect: 1,
    guard: leaseGuard(leaseId),
  }
}

/** Captures on the budget itself, because the lease was closed meanwhile, and excess beyond a lease. Never refused for lack of money. */
export function captureOnBudget(budgetId: string, spent: bigint, excess: bigint): LedgerStatement {
  return {
    sql: `update budgets set spent_nanocredits = spent_nanocredits + $2,
        granted_nanocredits = granted_nanocredits + $3
      where budget_id = $1 and closed = 0`,
    params: [budgetId, spent, spent + excess],
    expect: 1,
    guard: budgetGuard(budgetId),
  }
}

/** The guard that fails when a budget would hold more than a column can: SQLite would make a fraction of it. */
export const overflowGuard = 'amount_fits'

/** Adds credits to a budget. */
export function creditGrant(budgetId: string, amount: bigint): LedgerStatement {
  return {
    sql: `update budgets set limit_nanocredits = limit_nanocredits + $2
      where budget_id = $1 and limit_nanocredits <= $3`,
    params: [budgetId, amount, amountMax - amount],
    expect: 1,
    guard: overflowGuard,
  }
}

const insertGrantSql = `insert into postings (day, transaction_id, account, amount_nanocredits, created_at_ms, kind)
  values ($1, $2, $3, $4, $5, 'grant')`

/** Both postings of a grant; its transaction id is taken once, whatever day it is repeated on. */
export function insertGrantPostings(grant: {
  organizationId: string
  amountNanocredits: bigint
  transactionId: string
  createdAtMs: number
}): LedgerStatement {
  const { transactionId, amountNanocredits, createdAtMs } = grant
  const account = organizationAccount(grant.organizationId)
  const day = dayOfTransaction(transactionId)
  return {
    sql: insertGrantSql,
    rows: [
      [day, transactionId, account, amountNanocredits, createdAtMs],
      [day, transactionId, grantsAccount, -amountNanocredits, createdAtMs],
    ],
  }
}

/** The guard that fails when a refund is of an unknown generation, or more than is left of its charge. */
export const refundGuard = 'refund_within_charge'

/** Takes a refund out of what was spent; what is charged to a lease and not yet folded makes up for it later. */
export function refundToBudget(budgetId: string, amount: bigint): LedgerStatement {
  return {
    sql: `update budgets set spent_nanocredits = spent_nanocredits - $2,
      granted_nanocredits = granted_nanocredits - $2 where budget_id = $1 and closed = 0`,
    params: [budgetId, amount],
    expect: 1,
    guard: budgetGuard(budgetId),
  }
}

/** Makes refunds of one generation wait for each other, so that together they cannot exceed it. Changes nothing. */
export function lockUsage(generationId: string, organizationId: string): LedgerStatement {
  return {
    sql: `update usages set cost_nanocredits = cost_nanocredits
      where day = $3 and generation_id = $1 and organization_id = $2`,
    params: [generationId, organizationId, dayOfTransaction(generationId)],
    expect: 1,
    guard: refundGuard,
  }
}

/** A refund of a captured generation. `sequence` from 1 to `refundsMax` is its name: the same one twice is a repetition. */
export interface Refund {
  generationId: string
  organizationId: string
  amountNanocredits: bigint
  sequence: number
  kind: 'refund' | 'correction'
  createdAtMs: number
}

/** The name of a refund's transaction. */
export function refundTransactionId(refund: Pick<Refund, 'generationId' | 'sequence'>): string {
  return `refund:${refund.generationId}:${refund.sequence}`
}

/** SQL for the names of all refunds that the generation in a column may have, to be found by their ids. */
export function refundTransactionIdsOf(column: string): string {
  return Array.from({ length: refundsMax }, (_, index) => `'refund:' || ${column} || ':${index + 1}'`).join(
    ', ',
  )
}

/**
 * Both postings of a refund, if it fits into what is left of the original. Refunds are numbered, so that those before
 * are found by their ids, whatever order the database sorts text in. They are filed under the day of their original.
 */
export function insertRefundPostings(refund: Refund): LedgerStatement[] {
  const { generationId } = refund
  const related = [
    generationId,
    ...Array.from({ length: refundsMax }, (_, index) =>
      refundTransactionId({ generationId, sequence: index + 1 }),
    ),
  ]
  const sides: readonly [string, bigint][] = [
    [organizationAccount(refund.organizationId), refund.amountNanocredits],
    [usageIncomeAccount, -refund.amountNanocredits],
  ]
  return sides.map(([account, amount]) => ({
    sql: `insert into postings (day, transaction_id, account, amount_nanocredits, created_at_ms, kind, reference)
      select cast($8 as bigint), cast($1 as text), cast($2 as text), cast($3 as bigint), cast($4 as bigint), cast($5 as text),
        cast($6 as text)
      where (select coalesce(sum(amount_nanocredits), 0) from postings where day = cast($8 as bigint)
        and account = '${usageIncomeAccount}' and transaction_id in (${related.map((_, index) => `$${index + 9}`).join(', ')})) >= cast($7 as bigint)`,
    params: [
      refundTransactionId(refund),
      account,
      amount,
      refund.createdAtMs,
      refund.kind,
      refund.generationId,
      refund.amountNanocredits,
      dayOfTransaction(generationId),
      ...related,
    ],
    expect: 1,
    guard: refundGuard,
  }))
}
