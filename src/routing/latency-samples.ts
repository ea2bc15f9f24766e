import type { Percentiles } from '../canonical/endpoint.ts'

/** The period over which latency and throughput are measured. */
export const performanceWindowMs = 300_000

/** The window of the latency and throughput that the catalog shows, by the contract. */
const figuresWindowMs = 1_800_000
/** Latency and throughput samples kept per endpoint; the newest, in fixed memory. */
export const performanceSamplesMax = 64

/** Figures of the last five minutes; null when there was no call. */
export interface Performance {
  /** Milliseconds to the first byte of output. */
  latencyMs: Percentiles | null
  /** Output tokens a second. */
  throughput: Percentiles | null
}

/** The figures of a successful call. */
export interface Success {
  latencyMs: number
  /** Output tokens a second; absent when the call has no tokens, or too few to measure. */
  throughput?: number | null
  /** How long the provider has no room for more, as its answer says; absent or null where it does not say so. */
  restMs?: number | null
}

/** Three numbers for each sample: its time, and the two of a `Success`. */
const sampleSize = 3
const never = Number.NEGATIVE_INFINITY
const performanceFreshMs = 1_000

/** The newest answers of one endpoint, in a ring of fixed size. Times are monotonic milliseconds. */
export class Samples {
  readonly #values = new Float64Array(performanceSamplesMax * sampleSize).fill(never)
  #next = 0
  /** The last result of `recent`, kept until a sample is added or a second has passed. */
  #shown: Performance | null = null
  #shownAtMs = never

  add(nowMs: number, { latencyMs, throughput }: Success): void {
    const at = this.#next * sampleSize
    this.#values[at] = nowMs
    this.#values[at + 1] = latencyMs
    this.#values[at + 2] = throughput ?? never
    this.#next = (this.#next + 1) % performanceSamplesMax
    this.#shown = null
  }

  recent(nowMs: number): Performance {
    if (this.#shown && this.#shownAtMs + performanceFreshMs > nowMs) return this.#shown
    this.#shown = this.#performanceSince(nowMs - performanceWindowMs)
    this.#shownAtMs = nowMs
    return this.#shown
  }

  /** The same of the last half hour. */
  percentiles(nowMs: number): Performance {
    return this.#performanceSince(nowMs - figuresWindowMs)
  }

  #performanceSince(sinceMs: number): Performance {
    const { latencies, throughputs } = this.#since(sinceMs)
    return { latencyMs: percentilesOf(latencies), throughput: percentilesOf(throughputs) }
  }

  /** In rising order. */
  #since(sinceMs: number): { latencies: number[]; throughputs: number[] } {
    const latencies: number[] = []
    const throughputs: number[] = []
    for (let at = 0; at < this.#values.length; at += sampleSize) {
      if ((this.#values[at] ?? never) <= sinceMs) continue
      latencies.push(this.#values[at + 1] ?? 0)
      const throughput = this.#values[at + 2] ?? never
      if (throughput !== never) throughputs.push(throughput)
    }
    return { latencies: latencies.toSorted(rising), throughputs: throughputs.toSorted(rising) }
  }
}

function rising(left: number, right: number): number {
  return left - right
}

/** The value below which this share of sorted values lies; null when there are none. */
function shareOf(sorted: readonly number[], share: number): number | null {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? null
}

function percentilesOf(sorted: readonly number[]): Percentiles | null {
  const [p50, p75, p90, p99] = [0.5, 0.75, 0.9, 0.99].map((share) => shareOf(sorted, share))
  if (p50 == null || p75 == null || p90 == null || p99 == null) return null
  return { p50, p75, p90, p99 }
}
