import { dayOfTransaction } from '../../core/ids.ts'
import { insertRefundPostings, lockUsage, type Refund } from './capture-repository.ts'
import { refundToBudget } from '../budgets/budget-repository.ts'
import type { LedgerStatement } from './ledger-statement.ts'
import { insertRefundTail } from './rollup-repository.ts'

/**
 * One unit's statements for a refund: taken out of the budgets that were charged, then a transaction that names the
 * original, and the subtraction from the roll-ups. A refund of an unknown generation, or of more than is left of its
 * charge, fails at the guard `refund_within_charge`; a second one of the same number is a duplicate.
 */
export function refundStatements(refund: Refund, budgetIds: readonly string[]): LedgerStatement[] {
  const { generationId, organizationId, amountNanocredits } = refund
  return [
    ...budgetIds.toSorted().map((budgetId) => refundToBudget(budgetId, amountNanocredits)),
    lockUsage(generationId, organizationId),
    ...insertRefundPostings(refund),
    insertRefundTail({ generationId, day: dayOfTransaction(generationId), amountNanocredits }),
  ]
}
