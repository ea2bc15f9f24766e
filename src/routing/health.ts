import type { Endpoint } from '../canonical/endpoint.ts'
import type { UpstreamFailure } from '../canonical/upstream.ts'
import type { Clock } from '../core/clock.ts'
import {
  coolDownDefaultMs,
  coolDownMaxMs,
  credentialRetryMs,
  failureMemoryMs,
  healthEntriesMax,
  performanceSamplesMax,
  performanceWindowMs,
} from '../core/limits/routing.ts'
import { Troubles, type HealthChange } from './troubles.ts'

/**
 * How an endpoint fares: `failing` failed in the last 30 s; `cooling_down` said itself that it wants no calls for a
 * while; `out` had its credential refused and waits for the next trial.
 */
export type HealthState = 'healthy' | 'failing' | 'cooling_down' | 'out'

/** Medians over the last five minutes, null when there was no call. */
export interface Performance {
  /** Milliseconds to the first byte of output. */
  latencyMs: number | null
  /** Output tokens a second. */
  throughput: number | null
}

/** What went well. */
export interface Success {
  latencyMs: number
  /** Output tokens a second; left out when the call has no tokens, or too few to tell. */
  throughput?: number | null
}

/** The health of endpoints and deployments, in memory of this process only and of bounded size. */
export interface Health {
  recordSuccess(endpoint: Endpoint, success: Success): void
  /**
   * Failures that the caller caused (4xx other than 429) change nothing unless the credential is at fault. `said` are the
   * provider's own words for the log.
   */
  recordFailure(endpoint: Endpoint, failure: UpstreamFailure, said?: string | null): void
  /** A deployment is `out` for a minute after each refusal of its credential; the calls after that are the trial. */
  stateOf(endpoint: Endpoint): HealthState
  performanceOf(endpoint: Endpoint): Performance
  /** Milliseconds until the endpoint may be worth a call again; 0 when it is now. */
  waitMsOf(endpoint: Endpoint): number
}

interface EndpointHealth {
  /** Monotonic milliseconds, as all times here. */
  failedAtMs: number
  coolUntilMs: number
  samples: Samples | null
}

/** The newest samples in a ring of fixed size; three numbers each. */
interface Samples {
  values: Float64Array
  next: number
  /** The medians until a sample is added or a second passes. */
  shown: Performance | null
  shownAtMs: number
}

const never = Number.NEGATIVE_INFINITY
const sampleSize = 3
const performanceFreshMs = 1_000

/** What the health is told by and tells to. */
export interface HealthOptions {
  clock: Clock
  /** Told of every deployment that begins to fail or is well again, once each. */
  report?: (change: HealthChange) => void
}

/** Nobody has failed yet. */
export function createHealth({ clock, report = () => undefined }: HealthOptions): Health {
  const troubles = new Troubles(report)
  const endpoints = new Map<string, EndpointHealth>()
  /** When the next trial of a deployment with a refused credential is due. */
  const outUntilMs = new Map<string, number>()

  function entryOf(id: string): EndpointHealth {
    const known = endpoints.get(id)
    if (known) return known
    const entry = { failedAtMs: never, coolUntilMs: never, samples: null }
    dropOldest(endpoints)
    endpoints.set(id, entry)
    return entry
  }

  return {
    recordSuccess(endpoint, success) {
      if (outUntilMs.size > 0) outUntilMs.delete(endpoint.deployment.id)
      const entry = entryOf(endpoint.id)
      entry.coolUntilMs = never
      const nowMs = clock.monotonicMs()
      addSample((entry.samples ??= newSamples()), nowMs, success)
      troubles.answered(endpoint, (id) => isWell(endpoints.get(id), nowMs))
    },

    recordFailure(endpoint, failure, said = null) {
      const nowMs = clock.monotonicMs()
      if (failure.credentialFault) {
        dropOldest(outUntilMs)
        outUntilMs.set(endpoint.deployment.id, nowMs + credentialRetryMs)
        troubles.refused(endpoint, failure, said)
        return
      }
      const limited = failure.error.type === 'upstream_rate_limited'
      if (!limited && failure.error.status < 500) return
      const entry = entryOf(endpoint.id)
      entry.failedAtMs = nowMs
      if (limited || failure.retryAfterMs !== null) {
        entry.coolUntilMs = nowMs + Math.min(failure.retryAfterMs ?? coolDownDefaultMs, coolDownMaxMs)
      }
      troubles.failed(endpoint, failure, said)
    },

    stateOf(endpoint) {
      const outMs = outUntilMs.size === 0 ? undefined : outUntilMs.get(endpoint.deployment.id)
      const entry = endpoints.get(endpoint.id)
      if (outMs === undefined && (!entry || entry.failedAtMs === never)) return 'healthy'
      const nowMs = clock.monotonicMs()
      if (outMs !== undefined && outMs > nowMs) return 'out'
      if (!entry) return 'healthy'
      if (entry.coolUntilMs > nowMs) return 'cooling_down'
      return entry.failedAtMs + failureMemoryMs > nowMs ? 'failing' : 'healthy'
    },

    performanceOf(endpoint) {
      const samples = endpoints.get(endpoint.id)?.samples
      return samples ? mediansOf(samples, clock.monotonicMs()) : unknownPerformance
    },

    waitMsOf(endpoint) {
      const nowMs = clock.monotonicMs()
      const outMs = outUntilMs.get(endpoint.deployment.id) ?? never
      const coolMs = endpoints.get(endpoint.id)?.coolUntilMs ?? never
      return Math.max(0, outMs - nowMs, coolMs - nowMs)
    },
  }
}

/** Whether nothing of its failures counts any more. */
function isWell(entry: EndpointHealth | undefined, nowMs: number): boolean {
  return !entry || Math.max(entry.failedAtMs + failureMemoryMs, entry.coolUntilMs) <= nowMs
}

const unknownPerformance: Performance = Object.freeze({ latencyMs: null, throughput: null })

function dropOldest(map: Map<string, unknown>): void {
  if (map.size < healthEntriesMax) return
  for (const key of map.keys()) {
    map.delete(key)
    return
  }
}

function newSamples(): Samples {
  const values = new Float64Array(performanceSamplesMax * sampleSize).fill(never)
  return { values, next: 0, shown: null, shownAtMs: never }
}

function addSample(samples: Samples, nowMs: number, { latencyMs, throughput }: Success): void {
  const at = samples.next * sampleSize
  samples.values[at] = nowMs
  samples.values[at + 1] = latencyMs
  samples.values[at + 2] = throughput ?? never
  samples.next = (samples.next + 1) % performanceSamplesMax
  samples.shown = null
}

function mediansOf(samples: Samples, nowMs: number): Performance {
  if (samples.shown && samples.shownAtMs + performanceFreshMs > nowMs) return samples.shown
  const latencies: number[] = []
  const throughputs: number[] = []
  for (let at = 0; at < samples.values.length; at += sampleSize) {
    if ((samples.values[at] ?? never) + performanceWindowMs <= nowMs) continue
    latencies.push(samples.values[at + 1] ?? 0)
    const throughput = samples.values[at + 2] ?? never
    if (throughput !== never) throughputs.push(throughput)
  }
  samples.shown = { latencyMs: median(latencies), throughput: median(throughputs) }
  samples.shownAtMs = nowMs
  return samples.shown
}

function median(values: number[]): number | null {
  return values.toSorted((left, right) => left - right)[values.length >> 1] ?? null
}
