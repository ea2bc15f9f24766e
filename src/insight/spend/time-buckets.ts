import { fieldError } from '../../core/errors.ts'

/** The lengths of buckets. */
export const bucketNames = ['15m', 'hour', 'day', 'week', 'month'] as const
/** One of them. */
export type BucketName = (typeof bucketNames)[number]

/** Buckets of one answer. */
export const bucketsMax = 1_000

/** Sums are kept by quarters of an hour: every time zone is a whole number of them away from UTC. */
export const quarterMs = 900_000
const hourMs = 3_600_000
const dayMs = 86_400_000

/** Equal buckets in a row, in quarters of an hour since the epoch. */
export interface BucketRun {
  /** The place of its first bucket among all. */
  first: number
  start: number
  /** Quarters of one bucket. */
  length: number
  count: number
}

/** A span of time, cut into buckets. */
export interface Buckets {
  /** Unix milliseconds at which each begins. */
  starts: readonly number[]
  endMs: number
  runs: readonly BucketRun[]
}

/** The names of these members in the question, for errors. */
export interface CutNames {
  bucket: string
  zone: string
}

/**
 * Cuts a span, widened to whole quarters of an hour, at the hours, days, weeks (from Monday) or months of a time zone.
 * The first and the last bucket may be shorter. Throws `invalid_request` for an unknown zone and for too many buckets.
 */
export function cutSpan({
  fromMs,
  toMs,
  bucket,
  zone,
  names = { bucket: 'bucket', zone: 'zone' },
}: {
  fromMs: number
  toMs: number
  bucket: BucketName
  zone: string
  names?: CutNames
}): Buckets {
  const startMs = Math.floor(fromMs / quarterMs) * quarterMs
  const endMs = Math.ceil(toMs / quarterMs) * quarterMs
  const shortest = { '15m': quarterMs, hour: hourMs, day: dayMs, week: 7 * dayMs, month: 28 * dayMs }[bucket]
  if ((endMs - startMs) / shortest > bucketsMax)
    throw fieldError(
      names.bucket,
      `would be cut into more than ${bucketsMax}; ask for a shorter span or longer buckets.`,
    )
  const next = nextBoundary(bucket, createZone(zone, names.zone))
  const starts = [startMs]
  for (let atMs = next(startMs); atMs < endMs; atMs = Math.max(next(atMs), atMs + quarterMs))
    starts.push(atMs)
  return { starts, endMs, runs: runsOf(starts, endMs) }
}

/** The first boundary after a time. */
function nextBoundary(bucket: BucketName, zone: Zone): (atMs: number) => number {
  if (bucket === '15m') return (atMs) => Math.floor(atMs / quarterMs + 1) * quarterMs
  if (bucket === 'hour')
    return (atMs) => {
      const offset = zone.offsetAt(atMs)
      return (Math.floor((atMs + offset) / hourMs) + 1) * hourMs - offset
    }
  return (atMs) => {
    const local = atMs + zone.offsetAt(atMs)
    const day = Math.floor(local / dayMs)
    if (bucket === 'day') return zone.toUtc((day + 1) * dayMs)
    // The epoch began on a Thursday.
    if (bucket === 'week') return zone.toUtc((day + 7 - ((day + 3) % 7)) * dayMs)
    const date = new Date(local)
    return zone.toUtc(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1))
  }
}

interface Zone {
  /** Milliseconds that its clocks are ahead of UTC at this time. */
  offsetAt(atMs: number): number
  /** The first time at which its clocks show this. Where they skip it, the moment of the change or shortly after. */
  toUtc(localMs: number): number
}

function createZone(name: string, param: string): Zone {
  const format = formatOf(name, param)
  const offsetAt = (atMs: number): number => {
    const parts = Object.fromEntries(
      format.formatToParts(atMs).map(({ type, value }) => [type, Number(value)]),
    )
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0 } = parts
    const shownMs = Date.UTC(year, month - 1, day, hour % 24, minute)
    return shownMs - Math.floor(atMs / 60_000) * 60_000
  }
  return {
    offsetAt,
    toUtc(localMs) {
      // The clocks change at most once in these two days. Where they are set back over this time, it comes twice.
      const offsets = [offsetAt(localMs - dayMs), offsetAt(localMs + dayMs)]
      const times = offsets.map((offset) => localMs - offset)
      const shown = times.filter((atMs) => atMs + offsetAt(atMs) === localMs)
      return roundToQuarter(shown.length === 0 ? Math.max(...times) : Math.min(...shown))
    },
  }
}

function roundToQuarter(atMs: number): number {
  return Math.round(atMs / quarterMs) * quarterMs
}

function formatOf(zone: string, param: string): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
    })
  } catch {
    throw fieldError(param, 'must be the name of a time zone, such as UTC or Europe/Berlin.')
  }
}

function runsOf(starts: readonly number[], endMs: number): BucketRun[] {
  const runs: BucketRun[] = []
  for (const [index, startMs] of starts.entries()) {
    const start = startMs / quarterMs
    const length = ((starts[index + 1] ?? endMs) - startMs) / quarterMs
    const last = runs.at(-1)
    if (last?.length === length) last.count += 1
    else runs.push({ first: index, start, length, count: 1 })
  }
  return runs
}
