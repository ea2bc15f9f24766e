import type { Principal } from '../../canonical/principal.ts'

/**
 * A budget by name, with what the ledger needs to create its row on first use. Ids sort in one order everywhere, which
 * is the order in which several budgets are taken.
 */
export interface BudgetRef {
  readonly budgetId: string
  readonly kind: 'credits' | 'key_limit' | 'batch'
  readonly organizationId: string
  /** The organization, key or batch whose budget it is. */
  readonly subjectId: string
  /** Beginning of the window by the database's clock; 0 for budgets that do not reset. */
  readonly windowStartMs: number
  /** When the key's limit got its present amount or reset. A window that began before starts with what the key had spent in it until then. */
  readonly sinceMs: number
  /** The limit of a key budget; null where the budget's row has the limit (credits: the sum of grants; batch: its estimate). */
  readonly limitNanocredits: bigint | null
  /** For a batch: the budgets that its own budget was carved out of. They pay captures that come after its own budget was closed. */
  readonly parents: readonly string[]
}

/** When the spending under a key's limit is counted from zero again. */
export type LimitReset = 'daily' | 'weekly' | 'monthly'

const dayMs = 86_400_000
/** 1970-01-05, the first Monday after the epoch. */
const firstMondayMs = 4 * dayMs

/** Beginning of the window that contains `nowMs`: midnight UTC, Monday, or the first of the month; 0 without resets. */
export function windowStartOf(reset: LimitReset | null, nowMs: number): number {
  switch (reset) {
    case null:
      return 0
    case 'daily':
      return Math.floor(nowMs / dayMs) * dayMs
    case 'weekly':
      return Math.floor((nowMs - firstMondayMs) / (7 * dayMs)) * 7 * dayMs + firstMondayMs
    case 'monthly': {
      const date = new Date(nowMs)
      return Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1)
    }
  }
}

/** The budget of an organization's credits. */
export function creditsBudget(organizationId: string): BudgetRef {
  return {
    budgetId: `credits:${organizationId}`,
    kind: 'credits',
    organizationId,
    subjectId: organizationId,
    windowStartMs: 0,
    sinceMs: 0,
    limitNanocredits: null,
    parents: [],
  }
}

/** The budget of a batch, carved out of `parents` when the batch was accepted. */
export function batchBudget(batchId: string, organizationId: string, parents: readonly string[]): BudgetRef {
  return {
    budgetId: `batch:${batchId}`,
    kind: 'batch',
    organizationId,
    subjectId: batchId,
    windowStartMs: 0,
    sinceMs: 0,
    limitNanocredits: null,
    parents,
  }
}

const known = new WeakMap<Principal, { windowStartMs: number; refs: readonly BudgetRef[] }>()

/**
 * The budgets a principal's calls are held from, sorted by id: credits when prepaid, the key's limit when it has one,
 * nothing for a tracked account without limits. `databaseNowMs` decides the window. Remembered per principal, because
 * every request asks.
 */
export function budgetsOf(principal: Principal, databaseNowMs: number): readonly BudgetRef[] {
  const windowStartMs =
    principal.keyLimitNanocredits === null ? 0 : windowStartOf(principal.keyLimitReset, databaseNowMs)
  const found = known.get(principal)
  if (found?.windowStartMs === windowStartMs) return found.refs
  const refs = listBudgets(principal, windowStartMs)
  known.set(principal, { windowStartMs, refs })
  return refs
}

function listBudgets(principal: Principal, windowStartMs: number): readonly BudgetRef[] {
  const refs: BudgetRef[] = []
  if (principal.accountMode === 'prepaid') refs.push(creditsBudget(principal.organizationId))
  if (principal.keyLimitNanocredits !== null) {
    refs.push({
      budgetId: keyBudgetId(principal, windowStartMs),
      kind: 'key_limit',
      organizationId: principal.organizationId,
      subjectId: principal.keyId,
      windowStartMs,
      sinceMs: principal.keyLimitSinceMs,
      limitNanocredits: principal.keyLimitNanocredits,
      parents: [],
    })
  }
  return refs.toSorted(byBudgetId)
}

/** The id of a key's budget in one window. It has both times: a day, a week and a month may begin together, and a limit may be removed and set again. */
function keyBudgetId({ keyId, keyLimitSinceMs }: Principal, windowStartMs: number): string {
  return `key_limit:${keyId}:${windowStartMs}:${keyLimitSinceMs}`
}

/** The one order in which several budgets are locked, taken and given back. */
export function byBudgetId(first: { budgetId: string }, second: { budgetId: string }): number {
  if (first.budgetId === second.budgetId) return 0
  return first.budgetId < second.budgetId ? -1 : 1
}
