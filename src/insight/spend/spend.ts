import { latencyBins, percentileOf } from '../log/latency-bins.ts'
import type { CallColumn, CallSums, ColumnFilter, SumsRepository, UsageSums } from './sums-repository.ts'
import type { Buckets } from './time-buckets.ts'

/** What an overview is asked for. */
export interface SpendQuestion {
  organizationId: string
  buckets: Buckets
  /** Null: all in one group. */
  by: CallColumn | null
  filters: readonly ColumnFilter<CallColumn>[]
  /** Groups shown by themselves, the dearest first; the others are one group. */
  top: number
}

/** Figures of a group, or of all. */
export interface SpendFigures {
  costNanocredits: bigint
  /** Calls that the ledger has a row of. */
  chargedRequests: number
  /** Calls that ended, however they did. */
  requests: number
  /** Those that failed or were refused. */
  errors: number
  p50Ms: number | null
  p95Ms: number | null
  inputTokens: number
  outputTokens: number
}

/** Figures of a group, in all and for each bucket. */
export interface SpendGroup extends SpendFigures {
  /** Null for all groups that are not shown by themselves. */
  id: string | null
  overTime: readonly SpendFigures[]
}

/** All of it, and its groups, which sum to it. */
export interface Spend {
  total: SpendGroup
  groups: readonly SpendGroup[]
}

/**
 * Sums what was spent and how calls ended. The groups sum to the total, because the total is their sum; money comes from
 * the ledger's roll-ups and tail alone.
 */
export async function sumSpend(question: SpendQuestion, repository: SumsRepository): Promise<Spend> {
  const { organizationId, buckets, by, filters, top } = question
  const columns = by === null ? [] : [by]
  const asked = { organizationId, runs: buckets.runs, columns, filters }
  // One after the other: both at once would take two cores of a database server from live calls.
  const usages = await repository.sumUsage(asked)
  const calls = await repository.sumCalls(asked)
  const groups = new Map<string, Tally>()
  const total = new Tally(buckets.starts.length)
  const tallyOf = (name: string) => {
    const known = groups.get(name) ?? new Tally(buckets.starts.length)
    groups.set(name, known)
    return known
  }
  for (const usage of usages) {
    tallyOf(usage.values[0] ?? '').addUsage(usage)
    total.addUsage(usage)
  }
  for (const call of calls) {
    tallyOf(call.values[0] ?? '').addCalls(call)
    total.addCalls(call)
  }
  const dearest = [...groups].toSorted(([, left], [, right]) => right.weightAgainst(left))
  const shown = dearest.slice(0, top).map(([id, tally]) => tally.toGroup(id))
  const rest = dearest.slice(top)
  if (rest.length > 0) {
    const other = new Tally(buckets.starts.length)
    for (const [, tally] of rest) other.addAll(tally)
    shown.push(other.toGroup(null))
  }
  return { total: total.toGroup(null), groups: by === null ? [] : shown }
}

class Tally {
  readonly #all = emptyCell()
  readonly #cells: readonly Cell[]

  constructor(buckets: number) {
    this.#cells = Array.from({ length: buckets }, emptyCell)
  }

  addUsage(usage: UsageSums): void {
    for (const cell of this.#touched(usage.bucket)) {
      cell.costNanocredits += usage.costNanocredits
      cell.chargedRequests += usage.requests
      cell.inputTokens += usage.inputTokens
      cell.outputTokens += usage.outputTokens
    }
  }

  addCalls(calls: CallSums): void {
    for (const cell of this.#touched(calls.bucket)) {
      cell.requests += calls.requests
      cell.errors += calls.failed + calls.refused
      addBins(cell, calls.bins)
    }
  }

  addAll(other: Tally): void {
    addCell(this.#all, other.#all)
    for (const [index, cell] of this.#cells.entries()) {
      const added = other.#cells[index]
      if (added) addCell(cell, added)
    }
  }

  /** Positive when this one comes before the other: by cost, then by calls. */
  weightAgainst(other: Tally): number {
    const difference = this.#all.costNanocredits - other.#all.costNanocredits
    if (difference !== 0n) return difference > 0n ? 1 : -1
    return this.#all.requests - other.#all.requests
  }

  toGroup(id: string | null): SpendGroup {
    return { id, ...figuresOf(this.#all), overTime: this.#cells.map(figuresOf) }
  }

  #touched(bucket: number): Cell[] {
    const cell = this.#cells[bucket]
    return cell === undefined ? [this.#all] : [this.#all, cell]
  }
}

interface Cell {
  costNanocredits: bigint
  chargedRequests: number
  requests: number
  errors: number
  inputTokens: number
  outputTokens: number
  /** Null until there are some: most cells have none. */
  bins: number[] | null
}

function emptyCell(): Cell {
  const counts = { chargedRequests: 0, requests: 0, errors: 0, inputTokens: 0, outputTokens: 0 }
  return { costNanocredits: 0n, ...counts, bins: null }
}

function addCell(cell: Cell, added: Cell): void {
  cell.costNanocredits += added.costNanocredits
  cell.chargedRequests += added.chargedRequests
  cell.requests += added.requests
  cell.errors += added.errors
  cell.inputTokens += added.inputTokens
  cell.outputTokens += added.outputTokens
  if (added.bins !== null) addBins(cell, added.bins)
}

function addBins(cell: Cell, added: readonly number[]): void {
  const bins = (cell.bins ??= Array.from({ length: latencyBins }, () => 0))
  for (const [index, count] of added.entries()) if (count > 0) bins[index] = (bins[index] ?? 0) + count
}

function figuresOf({ bins, ...figures }: Cell): SpendFigures {
  return {
    ...figures,
    p50Ms: bins === null ? null : percentileOf(bins, 0.5),
    p95Ms: bins === null ? null : percentileOf(bins, 0.95),
  }
}
