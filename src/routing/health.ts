import { unknownFigures, type Endpoint, type EndpointFigures } from '../canonical/endpoint.ts'
import type { UpstreamFailure } from '../canonical/upstream.ts'
import type { Clock } from '../core/clock.ts'
import { coolDownDefaultMs, coolDownMaxMs } from '../core/limits/routing.ts'
import { Samples, type Performance, type Success } from './latency-samples.ts'
import { TrackRecord } from './track-record.ts'
import { Troubles, type HealthChange } from './troubles.ts'

/** How long a failed endpoint ranks behind the others. */
export const failureMemoryMs = 30_000

/** How often a deployment whose credential was refused is tried again. */
export const credentialRetryMs = 60_000
/** Endpoints and deployments whose health is remembered. */
const healthEntriesMax = 20_000

/**
 * The state of an endpoint. `failing`: it failed in the last 30 s. `cooling_down`: its provider asked for no calls for a
 * while. `out`: its credential was refused, and it waits for the next trial.
 */
export type HealthState = 'healthy' | 'failing' | 'cooling_down' | 'out'

/** The health of endpoints and deployments, in memory of this process only and of bounded size. */
export interface Health {
  recordSuccess(endpoint: Endpoint, success: Success): void
  /**
   * Records a failure. Failures that the caller caused (4xx other than 429) change nothing unless the credential is at
   * fault. `said`: the provider's own words, for the log.
   */
  recordFailure(endpoint: Endpoint, failure: UpstreamFailure, said?: string | null): void
  /** A deployment is `out` for a minute after each refusal of its credential; the next call after that is the trial. */
  stateOf(endpoint: Endpoint): HealthState
  performanceOf(endpoint: Endpoint): Performance
  /** The figures that callers may see: response times and the share of answered calls. Rate-limit refusals do not count. */
  figuresOf(endpoint: Endpoint): EndpointFigures
  /** Milliseconds until a call to the endpoint makes sense again; 0 when it does now. */
  waitMsOf(endpoint: Endpoint): number
}

interface EndpointHealth {
  /** Monotonic milliseconds, like all times here. */
  failedAtMs: number
  coolUntilMs: number
  /** By the headers of an answer: nothing has failed. */
  restUntilMs: number
  samples: Samples | null
  record: TrackRecord | null
}

const never = Number.NEGATIVE_INFINITY

/** What `createHealth` needs. */
export interface HealthOptions {
  clock: Clock
  /** Called once for every deployment that begins to fail, and once when it has recovered. */
  report?: (change: HealthChange) => void
}

/** At the beginning every endpoint is healthy. */
export function createHealth({ clock, report = () => undefined }: HealthOptions): Health {
  const troubles = new Troubles(report)
  const endpoints = new Map<string, EndpointHealth>()
  /** When the next trial of a deployment with a refused credential is due. */
  const outUntilMs = new Map<string, number>()

  function entryOf(id: string): EndpointHealth {
    const known = endpoints.get(id)
    if (known) return known
    const entry = newEntry()
    dropOldest(endpoints)
    endpoints.set(id, entry)
    return entry
  }

  return {
    recordSuccess(endpoint, success) {
      if (outUntilMs.size > 0) outUntilMs.delete(endpoint.deployment.id)
      const entry = entryOf(endpoint.id)
      const nowMs = clock.monotonicMs()
      entry.coolUntilMs = never
      // Its last call for a while: the others are asked first, before this one has to refuse.
      entry.restUntilMs = success.restMs ? nowMs + Math.min(success.restMs, coolDownMaxMs) : never
      entry.samples ??= new Samples()
      entry.samples.add(nowMs, success)
      count(entry, nowMs, 'answered')
      troubles.answered(endpoint, (id) => isWell(endpoints.get(id), nowMs))
    },

    recordFailure(endpoint, failure, said = null) {
      const nowMs = clock.monotonicMs()
      if (failure.credentialFault) {
        count(entryOf(endpoint.id), nowMs, 'failed')
        dropOldest(outUntilMs)
        outUntilMs.set(endpoint.deployment.id, nowMs + credentialRetryMs)
        troubles.refused(endpoint, failure, said)
        return
      }
      const limited = failure.error.type === 'upstream_rate_limited'
      if (!limited && failure.error.status < 500) return
      const entry = entryOf(endpoint.id)
      entry.failedAtMs = nowMs
      if (!limited) count(entry, nowMs, 'failed')
      if (limited || failure.retryAfterMs !== null)
        entry.coolUntilMs = nowMs + Math.min(failure.retryAfterMs ?? coolDownDefaultMs, coolDownMaxMs)
      troubles.failed(endpoint, failure, said)
    },

    stateOf(endpoint) {
      const outMs = outUntilMs.size === 0 ? undefined : outUntilMs.get(endpoint.deployment.id)
      const entry = endpoints.get(endpoint.id)
      if (outMs === undefined && isUntroubled(entry)) return 'healthy'
      const nowMs = clock.monotonicMs()
      return outMs !== undefined && outMs > nowMs ? 'out' : stateAt(entry, nowMs)
    },

    performanceOf(endpoint) {
      return endpoints.get(endpoint.id)?.samples?.recent(clock.monotonicMs()) ?? unknownPerformance
    },

    figuresOf: ({ id }) => figuresAt(endpoints.get(id), clock.monotonicMs()),

    waitMsOf(endpoint) {
      const nowMs = clock.monotonicMs()
      const outMs = outUntilMs.get(endpoint.deployment.id) ?? never
      const coolMs = endpoints.get(endpoint.id)?.coolUntilMs ?? never
      return Math.max(0, outMs - nowMs, coolMs - nowMs)
    },
  }
}

function newEntry(): EndpointHealth {
  return { failedAtMs: never, coolUntilMs: never, restUntilMs: never, samples: null, record: null }
}

function isUntroubled(entry: EndpointHealth | undefined): boolean {
  return entry === undefined || (entry.failedAtMs === never && entry.restUntilMs === never)
}

function stateAt(entry: EndpointHealth | undefined, nowMs: number): HealthState {
  if (!entry) return 'healthy'
  if (Math.max(entry.coolUntilMs, entry.restUntilMs) > nowMs) return 'cooling_down'
  return entry.failedAtMs + failureMemoryMs > nowMs ? 'failing' : 'healthy'
}

function count(entry: EndpointHealth, nowMs: number, outcome: 'answered' | 'failed'): void {
  entry.record ??= new TrackRecord()
  entry.record.note(nowMs, outcome === 'answered')
}

function figuresAt(entry: EndpointHealth | undefined, nowMs: number): EndpointFigures {
  if (!entry) return unknownFigures
  const { samples, record } = entry
  return {
    latencyMs: null,
    throughput: null,
    ...samples?.percentiles(nowMs),
    uptime5m: record?.uptime(nowMs, 5) ?? null,
    uptime30m: record?.uptime(nowMs, 30) ?? null,
    uptime1d: record?.uptime(nowMs, 'day') ?? null,
  }
}

/** Whether none of the endpoint's failures counts any more. */
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
