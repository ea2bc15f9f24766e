import type { Principal } from '../../canonical/principal.ts'
import { amountMax } from '../../core/money.ts'
import type { BudgetRef } from './budget-ids.ts'
import { byBudgetId, creditsBudget } from './budget-ids.ts'
import { budgetGuard, ensureBudget, takeFromBudget } from '../ledger/ledger-statements.ts'
import type { LedgerStatement } from '../ledger/ledger-statements.ts'

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
