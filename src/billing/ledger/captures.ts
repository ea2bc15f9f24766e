import type { CaptureRow } from './capture-row.ts'
import { insertCapturePostings, insertPrices, insertUsages } from './capture-repository.ts'
import type { Share, SliceHold } from '../budgets/hold.ts'
import { captureOnLease } from '../budgets/lease-repository.ts'
import { captureOnBudget } from '../budgets/budget-repository.ts'
import { budgetGuard, leaseGuard, type LedgerStatement } from './ledger-statement.ts'
import { insertUsageTail } from './rollup-repository.ts'
import type { Slice } from '../budgets/slices.ts'

/** A hold and the capture row that it will be charged with. */
export interface Capture {
  readonly hold: SliceHold
  readonly row: CaptureRow
}

/** The statement by which captures tell others of themselves, in their own unit; null when nobody wants to know of them. */
export type Announce = (rows: readonly CaptureRow[]) => LedgerStatement | null

/** Begins a capture: a cost above the hold takes from what its slices have free, and the rest is excess. */
export function reserve(hold: SliceHold, row: CaptureRow): void {
  hold.state = 'capturing'
  for (const share of hold.shares) {
    const reserved = share.slice.reserveExcess(hold.amount, row.costNanocredits)
    share.fromFree = reserved.fromFree
    share.excess = reserved.excess
  }
}

/** Undoes `reserve`: the capture did not happen and the hold is as before. */
export function restore(capture: Capture): void {
  capture.hold.state = 'held'
  for (const share of capture.hold.shares) {
    share.slice.returnExcess(share.fromFree, share.excess)
    share.fromFree = 0n
    share.excess = 0n
  }
}

/** The capture is durable: its cost counts as captured, and the rest of the hold is free again. */
export function conclude(capture: Capture, monotonicMs: number): void {
  const { hold, row } = capture
  hold.state = 'ended'
  for (const share of hold.shares) {
    const settled = { amount: hold.amount, cost: row.costNanocredits, excess: share.excess }
    if (share.target === 'lease') share.slice.settle(settled, monotonicMs)
    else share.slice.settleElsewhere(settled, monotonicMs)
  }
}

/**
 * Learns from a failed guard. When a lease is gone, its charges go to the budget; when a batch's budget is closed, they
 * go to its parents. Returns the slices that must grant no more.
 */
export function redirect(
  captures: readonly Capture[],
  guard: string,
): { slices: ReadonlySet<Slice>; isChanged: boolean } {
  const slices = new Set<Slice>()
  let isChanged = false
  for (const { hold } of captures) {
    for (const share of hold.shares) {
      const { slice } = share
      if (share.target === 'lease' && guard === leaseGuard(slice.leaseId)) {
        share.target = 'budget'
        slices.add(slice)
        isChanged = true
      } else if (isClosedBatch(share, guard)) {
        share.target = 'parents'
        slices.add(slice)
        isChanged = true
      }
    }
  }
  return { slices, isChanged }
}

/** Only a batch's budget is ever closed. Without parents there is no other budget to charge, and the failed guard is an error. */
function isClosedBatch(share: Share, guard: string): boolean {
  const { budget } = share.slice
  return share.target !== 'parents' && guard === budgetGuard(budget.budgetId) && budget.parents.length > 0
}

interface Sum {
  cost: bigint
  excess: bigint
}

/**
 * One unit's statements for several captures. First sums per budget (only what leases cannot carry) and per lease, in
 * id order; then, in bulk, prices, usages, postings and the additions to the roll-ups.
 */
export function captureStatements(
  captures: readonly Capture[],
  announce: Announce | null = null,
): LedgerStatement[] {
  const budgets = new Map<string, Sum>()
  const leases = new Map<string, Sum>()
  for (const capture of captures) addSums(capture, budgets, leases)
  const rows = captures.map(({ row }) => row)
  const announced = announce?.(rows) ?? null
  const postings = insertCapturePostings(rows)
  return [
    ...sorted(budgets).map(([budgetId, { cost, excess }]) => captureOnBudget(budgetId, cost, excess)),
    ...sorted(leases).map(([leaseId, { cost, excess }]) => captureOnLease(leaseId, cost, excess)),
    insertPrices(rows),
    insertUsages(captures.map(({ hold, row }) => ({ row, held: hold.amount }))),
    ...(postings === null ? [] : [postings]),
    insertUsageTail(rows),
    ...(announced === null ? [] : [announced]),
  ]
}

function addSums(capture: Capture, budgets: Map<string, Sum>, leases: Map<string, Sum>): void {
  const cost = capture.row.costNanocredits
  for (const { slice, target, excess } of capture.hold.shares) {
    if (cost === 0n) continue
    if (target === 'lease') {
      add(leases, slice.leaseId, { cost, excess })
      if (excess > 0n) add(budgets, slice.budget.budgetId, { cost: 0n, excess })
    } else if (target === 'budget') add(budgets, slice.budget.budgetId, { cost, excess: 0n })
    else for (const parent of slice.budget.parents) add(budgets, parent, { cost, excess: 0n })
  }
}

function add(sums: Map<string, Sum>, id: string, amount: Sum): void {
  const sum = sums.get(id)
  if (sum === undefined) {
    sums.set(id, amount)
    return
  }
  sum.cost += amount.cost
  sum.excess += amount.excess
}

function sorted(sums: ReadonlyMap<string, Sum>): [string, Sum][] {
  if (sums.size < 2) return [...sums]
  return [...sums].toSorted(([first], [second]) => (first < second ? -1 : 1))
}
