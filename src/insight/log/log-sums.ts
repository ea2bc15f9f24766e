import { binOf, latencyBins } from './latency-bins.ts'
import { beganAtMs, type LogRow } from './log-row.ts'

/** What the calls of one key, model and provider within a quarter of an hour, or an hour, came to. */
export interface LogSum {
  organizationId: string
  /** 15 or 60. */
  minutes: number
  /** Since the epoch, in units of `minutes`. */
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

const msPerMinute = 60_000

/**
 * The sums of these rows. In the order of their keys, so that two processes that add to the same sums never wait for
 * each other in a circle.
 */
export function sumsOf(rows: readonly LogRow[]): LogSum[] {
  const sums = new Map<string, LogSum>()
  let last: { row: LogRow; quarter: LogSum; hour: LogSum } | null = null
  for (const row of rows) {
    const minute = beganAtMs(row.requestId) / msPerMinute
    const slot = Math.floor(minute / 15)
    // Most rows belong to the sums of the row before them.
    if (last === null || last.quarter.slot !== slot || !areOfOneSum(row, last.row)) {
      last = {
        row,
        quarter: findSum(sums, row, 15, slot),
        hour: findSum(sums, row, 60, Math.floor(minute / 60)),
      }
    }
    count(last.quarter, row)
    count(last.hour, row)
  }
  return [...sums.keys()].toSorted().flatMap((name) => sums.get(name) ?? [])
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

function findSum(sums: Map<string, LogSum>, row: LogRow, minutes: number, slot: number): LogSum {
  const model = row.isKnownModel ? (row.model ?? '') : ''
  const provider = row.provider ?? ''
  const name = `${row.organizationId}\n${minutes}\n${slot}\n${row.keyId}\n${model}\n${provider}`
  const known = sums.get(name)
  if (known !== undefined) return known
  const { organizationId, keyId } = row
  const counts = { requests: 0, failed: 0, refused: 0, cancelled: 0 }
  const bins = Array.from({ length: latencyBins }, () => 0)
  const sum = { organizationId, minutes, slot, keyId, model, provider, ...counts, bins }
  sums.set(name, sum)
  return sum
}

function count(sum: LogSum, row: LogRow): void {
  sum.requests += 1
  if (row.outcome === 'answered') {
    const bin = binOf(row.totalMs)
    sum.bins[bin] = (sum.bins[bin] ?? 0) + 1
  } else sum[row.outcome] += 1
}
