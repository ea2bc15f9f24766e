import { amountMax } from '../../core/money.ts'
import { type BudgetRef, byBudgetId, creditsBudget } from './budget-ids.ts'
import { keySubject, spendingByDay } from '../ledger/rollup-repository.ts'
import { budgetGuard, type LedgerStatement, organizationAccount } from '../ledger/ledger-statement.ts'
import type { Principal } from '../../canonical/principal.ts'
import type { CreditsDrift } from '../ledger/accounts-repository.ts'

/**
 * Creates the budget's row unless it exists. A credits budget begins with the sums that the ledger has for the account.
 * A key's budget begins with what the key has spent in its window, if the limit was set or its reset was changed within
 * that window. For a row that exists, a changed limit takes effect. Running calls stay with the budget that holds for them.
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
    // Earlier usage counts as granted and spent: then the column `limit` is the sum of all grants, as for any credits budget.
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

/** Takes an amount from a budget, which must have that much left: one conditional update, which two processes cannot both win. */
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

/** Captures on the budget itself, because the lease was closed meanwhile, and the excess beyond a lease. Never refused for lack of money. */
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

/** The guard that fails when a budget's amount would not fit its column: SQLite would turn it into a fraction. */
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

/** Takes a refund out of what was spent. The figure may be below zero until the charges of open leases are folded in. */
export function refundToBudget(budgetId: string, amount: bigint): LedgerStatement {
  return {
    sql: `update budgets set spent_nanocredits = spent_nanocredits - $2,
      granted_nanocredits = granted_nanocredits - $2 where budget_id = $1 and closed = 0`,
    params: [budgetId, amount],
    expect: 1,
    guard: budgetGuard(budgetId),
  }
}

/** The guard that fails when a parent budget has too little for a batch: answer it with 402. */
export const paymentRequiredGuard = 'payment_required'

/** The guard that fails when a batch's budget has open leases (settle it first), or is full, or is closed already. */
export const batchSettledGuard = 'batch_settled'

/**
 * Statements for the unit that accepts a batch: they move the estimate out of the parents into the batch's own budget.
 * When a parent has too little, the unit fails with the guard `payment_required` and nothing moves. A batch without
 * parents (a tracked account without limits) needs no budget, and the list is empty.
 */
export function acceptBatchStatements(options: {
  batch: BudgetRef
  parents: readonly BudgetRef[]
  estimateNanocredits: bigint
}): LedgerStatement[] {
  const { batch, estimateNanocredits } = options
  const parents = options.parents.toSorted(byBudgetId)
  if (parents.length === 0) return []
  return [
    ...parents.map(ensureBudget),
    ...parents.map((parent) => takeFromBudget(parent.budgetId, estimateNanocredits, paymentRequiredGuard)),
    {
      sql: `insert into budgets (budget_id, kind, organization_id, subject_id, limit_nanocredits, parents_json,
          created_at_ms) values ($1, 'batch', $2, $3, $4, $5, now_ms())`,
      params: [
        batch.budgetId,
        batch.organizationId,
        batch.subjectId,
        estimateNanocredits,
        JSON.stringify(parents.map((parent) => parent.budgetId)),
      ],
    },
  ]
}

/**
 * A budget that a batch was carved out of, and its limit now. An amount: the key's limit, which may have been changed
 * since. `as recorded`: the limit in the budget's row. `none`: the limit or the prepaid mode was removed.
 */
export interface ParentLimit {
  readonly budgetId: string
  readonly limit: bigint | 'as recorded' | 'none'
}

/**
 * The limits of a batch's parents as they are now. An operator raises a key's limit, or changes an account's mode, so
 * that waiting batches go on; therefore the limits of the time of acceptance do not count.
 */
export function parentLimitsOf(parents: readonly string[], owner: Principal): readonly ParentLimit[] {
  const { budgetId: creditsId } = creditsBudget(owner.organizationId)
  return parents.map((budgetId) => {
    const isCredits = budgetId === creditsId
    if (isCredits) return { budgetId, limit: owner.accountMode === 'prepaid' ? 'as recorded' : 'none' }
    return { budgetId, limit: owner.keyLimitNanocredits ?? 'none' }
  })
}

/**
 * Moves more from the parents into an open batch budget that stays within `limitMax`; guards as in
 * `acceptBatchStatements`. The statement itself compares with `limitMax`, because workers of several processes may
 * enlarge the budget at the same time.
 */
export function enlargeBatchStatements(
  batch: BudgetRef,
  parents: readonly ParentLimit[],
  { amountNanocredits, limitMax }: { amountNanocredits: bigint; limitMax: bigint | null },
): LedgerStatement[] {
  if (parents.length === 0) return []
  return [
    {
      sql: `update budgets set limit_nanocredits = limit_nanocredits + $2
        where budget_id = $1 and closed = 0 and limit_nanocredits <= $3`,
      params: [batch.budgetId, amountNanocredits, (limitMax ?? amountMax) - amountNanocredits],
      expect: 1,
      guard: batchSettledGuard,
    },
    ...parents.map((parent) => takeFromParent(parent, amountNanocredits)),
  ]
}

function takeFromParent({ budgetId, limit }: ParentLimit, amount: bigint): LedgerStatement {
  if (limit === 'as recorded') return takeFromBudget(budgetId, amount, paymentRequiredGuard)
  if (limit === 'none') {
    return {
      sql: 'update budgets set granted_nanocredits = granted_nanocredits + $2 where budget_id = $1',
      params: [budgetId, amount],
      expect: 1,
      guard: budgetGuard(budgetId),
    }
  }
  return {
    sql: `update budgets set granted_nanocredits = granted_nanocredits + $2, limit_nanocredits = $3
      where budget_id = $1 and $3 - granted_nanocredits >= $2`,
    params: [budgetId, amount, limit],
    expect: 1,
    guard: paymentRequiredGuard,
  }
}

/**
 * Ends a batch's budget, once: each parent gets back the unspent amount and books the spent one. The amounts are read
 * inside the unit, from the row that the unit has closed and thereby locked, so that no capture is lost in between. Close
 * the budget's leases first (`settleBudget`), else the guard `batch_settled` fails. A later capture goes to the parents.
 */
export function closeBatchStatements(batch: BudgetRef): LedgerStatement[] {
  if (batch.parents.length === 0) return []
  return [
    // Locks the row first: a statement that waits for the lock sees the leases as they were before the wait.
    {
      sql: 'update budgets set closed = closed where budget_id = $1 and closed = 0',
      params: [batch.budgetId],
      expect: 1,
      guard: batchSettledGuard,
    },
    {
      sql: `update budgets set closed = 1 where budget_id = $1
        and not exists (select 1 from leases where leases.budget_id = $1 and leases.state <> 'closed')`,
      params: [batch.budgetId],
      expect: 1,
      guard: batchSettledGuard,
    },
    ...batch.parents.map((parent) => ({
      sql: `update budgets set
          granted_nanocredits = granted_nanocredits
            - (select child.limit_nanocredits - child.spent_nanocredits from budgets child where child.budget_id = $2),
          spent_nanocredits = spent_nanocredits
            + (select child.spent_nanocredits from budgets child where child.budget_id = $2)
        where budget_id = $1`,
      params: [parent, batch.budgetId],
      expect: 1,
      guard: `budget:${parent}`,
    })),
  ]
}

/**
 * Sets a credits budget right by a difference that was read before. Captures in between move the ledger and the leases
 * alike and leave the difference as it was. A grant or a returned lease in between changes the row, and then nothing
 * is corrected.
 */
export function correctCredits(
  budgetId: string,
  { limit, spent, grants, unspent }: CreditsDrift,
): LedgerStatement {
  return {
    sql: `update budgets set limit_nanocredits = $5, spent_nanocredits = spent_nanocredits + $4,
        granted_nanocredits = granted_nanocredits + $4
      where budget_id = $1 and limit_nanocredits = $2 and spent_nanocredits = $3`,
    params: [budgetId, limit, spent, unspent, grants],
    expect: 1,
    guard: budgetGuard(budgetId),
  }
}

/** Marks a budget, so that every owner of a lease on it gives back what its calls do not hold. */
export function recallBudget(budgetId: string): LedgerStatement {
  return {
    // The mark rises even when two recalls fall into one millisecond or the clock was set back: owners compare it with the last mark they saw.
    sql: `update budgets set recall_at_ms = case when recall_at_ms >= now_ms() then recall_at_ms + 1
      else now_ms() end where budget_id = $1`,
    params: [budgetId],
  }
}
