import { amountMax } from '../../core/money.ts'
import { type BudgetRef, byBudgetId, creditsBudget } from './budget-ids.ts'
import { keySubject, spendingByDay } from '../ledger/rollup-repository.ts'
import { budgetGuard, type LedgerStatement, organizationAccount } from '../ledger/ledger-statement.ts'
import type { Principal } from '../../canonical/principal.ts'
import type { CreditsDrift } from '../ledger/accounts-repository.ts'

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

/** The guard that fails when a parent budget has too little for a batch: answer it with 402. */
export const paymentRequiredGuard = 'payment_required'

/** The guard that fails when a batch's budget still has open leases, is closed or full: settle it first, or it was done already. */
export const batchSettledGuard = 'batch_settled'

/**
 * What belongs into the unit that accepts a batch: moves the estimate out of the parents into a budget of the batch's
 * own. The unit fails with the guard `payment_required` when a parent has too little, and then nothing has moved. For a
 * batch without parents (a tracked account without limits) nothing needs a budget and the list is empty.
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
 * A budget that a batch was carved out of, and what it allows now: an amount that may have been changed since, what its
 * own row says, or anything at all because it limits nobody any more.
 */
export interface ParentLimit {
  readonly budgetId: string
  readonly limit: bigint | 'as recorded' | 'none'
}

/**
 * What the parents of a batch allow its owner now: a key's limit and an account's mode are changed so that what waits for
 * them goes on.
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
 * `acceptBatchStatements`. The statement looks itself: workers of several processes enlarge at once.
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
 * Ends a batch's budget, once: the parents get back what was not spent and book what was. The amounts are read from the
 * row inside the unit, after it is closed and thereby locked, so that no capture is lost between. Its leases must have
 * been closed first (`settleBudget`), else the guard `batch_settled` fails; a capture that comes later goes to the
 * parents.
 */
export function closeBatchStatements(batch: BudgetRef): LedgerStatement[] {
  if (batch.parents.length === 0) return []
  return [
    // Locks the row first: a statement that waited for the lock would look for leases as they were before it waited.
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
 * Captures move the ledger and the leases alike and leave the difference as it was read. A grant or a lease given back
 * in between changes the row, and then this changes nothing.
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
    // The mark rises even when two recalls fall into one millisecond or the clock was set back, else nobody sees the second.
    sql: `update budgets set recall_at_ms = case when recall_at_ms >= now_ms() then recall_at_ms + 1
      else now_ms() end where budget_id = $1`,
    params: [budgetId],
  }
}
