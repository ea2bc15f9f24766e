import { binOf, latencyBins } from './latency-bins.ts'
import { beganAtMs, type LogRow } from './log-row.ts'

/** What the calls of one key, model and provider within a span of time came to. */
export interface LogSum {
  organizationId: string
  /** Since the epoch, in units of the span. */
  slot: number
  keyId: string
  /** Empty where the caller asked for no model of the catalog: what callers write freely has no sums of its own. */
  model: string
  provider: string
  requests: number
  failed: number
  refused: number
  cancelled: number
  /** Times of answered calls, see `latencyBins`. */
  bins: number[]
}

/** A sum by the quarter of an hour or by the hour. */
export interface WholeSum extends LogSum {
  /** 15 or 60. */
  minutes: number
}

/**
 * A sum by the hour. Of `models`: a model and provider with all keys together, and an empty key. Of `keys`: a key with all
 * models together, and empty names of these.
 */
export interface HourSum extends LogSum {
  scope: 'models' | 'keys'
}

/**
 * The sums of some rows. Both lists are in the order of their keys, so that two processes that add to the same sums never
 * wait for each other in a circle.
 */
export interface LogSums {
  whole: readonly WholeSum[]
  hours: readonly HourSum[]
}

/** The sums of no rows. */
export const noSums: LogSums = { whole: [], hours: [] }

const quarterMs = 15 * 60_000
const quartersPerHour = 4

/** Sums that gather until they are taken: each row is counted by its quarter of an hour, and the quarters are then added up. */
export class GatheredSums {
  #quarters = new Map<string, WholeSum>()
  #last: { row: LogRow; sum: WholeSum } | null = null

  add(row: LogRow): void {
    const slot = Math.floor(beganAtMs(row.requestId) / quarterMs)
    let last = this.#last
    // Most rows belong to the sum of the row before them.
    if (last === null || last.sum.slot !== slot || !areOfOneSum(row, last.row))
      this.#last = last = { row, sum: findQuarter(this.#quarters, row, slot) }
    count(last.sum, row)
  }

  /** The sums of all rows since they were last taken. */
  take(): LogSums {
    const quarters = this.#quarters
    if (quarters.size === 0) return noSums
    this.#quarters = new Map()
    this.#last = null
    const whole = new Map<string, WholeSum>()
    const hours = new Map<string, HourSum>()
    for (const quarter of quarters.values()) {
      const { organizationId, keyId, model, provider } = quarter
      const hour = { ...quarter, slot: Math.floor(quarter.slot / quartersPerHour) }
      const start = `${organizationId}\n${hour.slot}`
      add(whole, `${start}\n${model}\n${provider}\n${keyId}`, { ...hour, minutes: 60 })
      add(hours, `models\n${start}\n${model}\n${provider}`, { ...hour, scope: 'models', keyId: '' })
      add(hours, `keys\n${start}\n${keyId}`, { ...hour, scope: 'keys', model: '', provider: '' })
    }
    return { whole: [...inOrder(quarters), ...inOrder(whole)], hours: inOrder(hours) }
  }
}

/** The sums of these rows. */
export function sumsOf(rows: readonly LogRow[]): LogSums {
  const sums = new GatheredSums()
  for (const row of rows) sums.add(row)
  return sums.take()
}

function areOfOneSum(one: LogRow, other: LogRow): boolean {
  return (
    one.keyId === other.keyId &&
    one.model === other.model &&
    one.isKnownModel === other.isKnownModel &&
    one.provider === other.provider &&
    one.organizationId === other.organizationId
  )
}

function findQuarter(quarters: Map<string, WholeSum>, row: LogRow, slot: number): WholeSum {
  const model = row.isKnownModel ? (row.model ?? '') : ''
  const provider = row.provider ?? ''
  const name = `${row.organizationId}\n${slot}\n${model}\n${provider}\n${row.keyId}`
  const known = quarters.get(name)
  if (known !== undefined) return known
  const { organizationId, keyId } = row
  const counts = { requests: 0, failed: 0, refused: 0, cancelled: 0 }
  const bins = Array.from({ length: latencyBins }, () => 0)
  const sum = { organizationId, minutes: 15, slot, keyId, model, provider, ...counts, bins }
  quarters.set(name, sum)
  return sum
}

function count(sum: WholeSum, row: LogRow): void {
  sum.requests += 1
  if (row.outcome === 'answered') {
    if (!row.hasTime) return
    const bin = binOf(row.totalMs)
    sum.bins[bin] = (sum.bins[bin] ?? 0) + 1
  } else sum[row.outcome] += 1
}

function add<Sum extends LogSum>(sums: Map<string, Sum>, name: string, part: Sum): void {
  const known = sums.get(name)
  if (known === undefined) {
    sums.set(name, { ...part, bins: [...part.bins] })
    return
  }
  known.requests += part.requests
  known.failed += part.failed
  known.refused += part.refused
  known.cancelled += part.cancelled
  for (const [bin, calls] of part.bins.entries()) known.bins[bin] = (known.bins[bin] ?? 0) + calls
}

function inOrder<Sum>(sums: ReadonlyMap<string, Sum>): Sum[] {
  if (sums.size <= 1) return [...sums.values()]
  return [...sums.keys()].toSorted().flatMap((name) => sums.get(name) ?? [])
}
