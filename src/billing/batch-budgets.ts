import { amountMax } from '../core/money.ts'
import type { BudgetRef } from './budget-ids.ts'
import { byBudgetId } from './budget-ids.ts'
import { ensureBudget, takeFromBudget } from './ledger-statements.ts'
import type { LedgerStatement } from './ledger-statements.ts'

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
 * Moves more from the parents into an open batch budget that stays within `limitMax`; guards as in
 * `acceptBatchStatements`. The statement looks itself: workers of several processes enlarge at once.
 */
export function enlargeBatchStatements(
  batch: BudgetRef,
  amountNanocredits: bigint,
  limitMax = amountMax,
): LedgerStatement[] {
  if (batch.parents.length === 0) return []
  return [
    {
      sql: `update budgets set limit_nanocredits = limit_nanocredits + $2
        where budget_id = $1 and closed = 0 and limit_nanocredits <= $3`,
      params: [batch.budgetId, amountNanocredits, limitMax - amountNanocredits],
      expect: 1,
      guard: batchSettledGuard,
    },
    ...batch.parents.map((parent) => takeFromBudget(parent, amountNanocredits, paymentRequiredGuard)),
  ]
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
