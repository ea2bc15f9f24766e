/** Series one metric may have; further ones are counted together, so that names from outside cannot fill the memory. */
export const metricSeriesMax = 2_000

/** One sample as the text format writes it. */
export interface Sample {
  labels: Record<string, string | number>
  value: number
  /** Only for parts of a histogram. */
  metricName?: string
}

/** The methods that the metrics library's registry calls on a metric. */
export interface Metric {
  name: string
  help: string
  type: 'counter' | 'gauge' | 'histogram'
  collect(): Sample[]
}

/** A number that only grows. Keep it and add to it: that is all a hot path does. */
export interface Counter {
  value: number
}

/** Counts of observations by size. */
export interface Histogram {
  observe(value: number): void
}

/** Name, meaning and labels of a metric. */
export interface MetricOptions<Label extends string> {
  name: string
  help: string
  labels: readonly Label[]
}

/** A metric with its series: `of` finds or begins the one of these label values. */
export interface Family<Series> extends Metric {
  of(...values: string[]): Series
}

/**
 * Caches the result of `create` for pairs of texts, so that a busy route's or model's series is not looked up anew with
 * every request. Beyond `metricSeriesMax` pairs it caches no more.
 */
export function rememberByPair<Made>(
  create: (first: string, second: string) => Made,
): (first: string, second: string) => Made {
  const known = new Map<string, Map<string, Made>>()
  let size = 0
  return (first, second) => {
    const found = known.get(first)?.get(second)
    if (found !== undefined) return found
    const made = create(first, second)
    if (size >= metricSeriesMax) return made
    size += 1
    const inner = known.get(first)
    if (inner) inner.set(second, made)
    else known.set(first, new Map([[second, made]]))
    return made
  }
}

/** Counters by label values, in the order of the labels. */
export function createCounters<Label extends string>(options: MetricOptions<Label>): Family<Counter> {
  const all = createSeries<Counter>(options, () => ({ value: 0 }))
  return {
    ...named(options, 'counter'),
    of: all.of,
    collect: () => all.entries().map(({ labels, series }) => ({ labels, value: series.value })),
  }
}

interface Buckets extends Histogram {
  /** One count per bound, and one for values above all bounds; not cumulative. */
  counts: Float64Array
  sum: number
}

/** Histograms by label values; `bounds` rise, in the metric's unit. */
export function createHistograms<Label extends string>(
  options: MetricOptions<Label> & { bounds: readonly number[] },
): Family<Histogram> {
  const { bounds, name } = options
  const all = createSeries<Buckets>(options, () => ({
    counts: new Float64Array(bounds.length + 1),
    sum: 0,
    observe(value) {
      let index = 0
      while (index < bounds.length && value > (bounds[index] ?? 0)) index += 1
      this.counts[index] = (this.counts[index] ?? 0) + 1
      this.sum += value
    },
  }))
  return {
    ...named(options, 'histogram'),
    of: all.of,
    collect: () =>
      all.entries().flatMap(({ labels, series }) => toSamples(name, labels, { ...series, bounds })),
  }
}

/** A number computed when the metrics are read; several numbers with labels. A number that cannot be computed is left out. */
export function createGauge(name: string, help: string, read: () => number | Sample[]): Metric {
  return {
    name,
    help,
    type: 'gauge',
    collect() {
      const value = read()
      return typeof value === 'number' ? [{ labels: {}, value }] : value
    },
  }
}

function named<T extends Metric['type']>({ name, help }: MetricOptions<string>, type: T) {
  return { name, help, type }
}

function toSamples(
  name: string,
  labels: Record<string, string>,
  { counts, sum, bounds }: { counts: Float64Array; sum: number; bounds: readonly number[] },
): Sample[] {
  let count = 0
  const samples: Sample[] = [...bounds, '+Inf'].map((bound, index) => {
    count += counts[index] ?? 0
    return { metricName: `${name}_bucket`, labels: { ...labels, le: bound }, value: count }
  })
  samples.push(
    { metricName: `${name}_sum`, labels, value: sum },
    { metricName: `${name}_count`, labels, value: count },
  )
  return samples
}

/** Stands for all series beyond the bound. */
const others = 'other'

function createSeries<Series>({ labels }: MetricOptions<string>, create: () => Series) {
  const known = new Map<string, { labels: Record<string, string>; series: Series }>()
  function of(...values: string[]): Series {
    const key = values.length === 1 ? (values[0] ?? '') : values.join('\n')
    const found = known.get(key)
    if (found) return found.series
    if (known.size >= metricSeriesMax && values.some((value) => value !== others))
      return of(...values.map(() => others))
    const labelled = Object.fromEntries(labels.map((label, index) => [label, values[index] ?? '']))
    const series = create()
    known.set(key, { labels: labelled, series })
    return series
  }
  return { of, entries: () => [...known.values()] }
}
