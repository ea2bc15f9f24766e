import { remembered } from '../../core/remembered.ts'

/** What a parameter of a ledger statement may be. */
export type LedgerValue = string | number | bigint | null

/**
 * One guarded statement, as storage takes it. Every unit writes budgets in id order first, then leases in id order,
 * then inserts, so that units of different processes wait for each other and never deadlock.
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
export const organizationAccount = remembered((organizationId) => `organization:${organizationId}`)

/** Where the money of captures goes, and where granted credits come from. */
export const usageIncomeAccount = 'income:usage'

export const grantsAccount = 'equity:grants'
