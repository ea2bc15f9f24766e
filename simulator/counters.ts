import type { IncomingHttpHeaders } from 'node:http'
import type { JsonObject } from './json.ts'
import { countedNamesMax, recordedHangUpsMax, recordedRequestsMax } from './limits.ts'

/** The progress of an answer when its caller left. */
export type ExchangePhase = 'request' | 'waiting' | 'body'

/** The parts of a request that are known once its body was read. */
export interface AskedFor {
  model: string | null
  body: string
  bodyBytes: number
  /** Characters of the body that are kept for a test to read back. */
  bodyKept: number
  fault: string | null
}

/** One request as it is being counted. */
export interface Exchange {
  /** The number of the request among all requests of the mount, from 1. */
  readonly number: number
  readonly startedAtMs: number
  phase: ExchangePhase
  /** Called once, when the body has been read. */
  asked(request: AskedFor): void
  sent(bytes: number): void
  /** Ends the count: with a status, or with a caller who left. Only the first call counts, and returns true. */
  end(outcome: { status: number } | 'hang_up' | 'cut'): boolean
}

interface RecordedRequest {
  number: number
  at: string
  method: string
  path: string
  /** The query of the URL, unparsed. */
  query: string
  headers: IncomingHttpHeaders
  body: string
  body_bytes: number
  model: string | null
  fault: string | null
  outcome: number | 'hang_up' | 'cut' | null
  elapsed_ms: number | null
}

/** The parts of a request that are known before its body is read. */
type BegunRequest = Pick<RecordedRequest, 'method' | 'path' | 'query' | 'headers'>

/** The requests of one mount and how they ended. */
export interface Counters {
  begin(request: BegunRequest): Exchange
  /** Everything counted so far; with the last requests on demand. */
  read(withRequests: boolean): JsonObject
  reset(): void
}

/** Creates counters at zero. */
export function createCounters(): Counters {
  let state = emptyState()

  return {
    begin(request) {
      const counted = state
      counted.requests++
      counted.inFlight++
      counted.inFlightMax = Math.max(counted.inFlightMax, counted.inFlight)
      add(counted.byPath, request.path)
      return createExchange(counted, request)
    },
    read: (withRequests) => shown(state, withRequests),
    reset() {
      // Requests still running keep counting in the state they began in, so a reset never yields a negative number.
      state = emptyState()
    },
  }
}

function emptyState() {
  return {
    requests: 0,
    inFlight: 0,
    inFlightMax: 0,
    bytesIn: 0,
    bytesOut: 0,
    cuts: 0,
    hangUps: 0,
    lastHangUps: new Array<JsonObject>(),
    byPath: new Map<string, number>(),
    byModel: new Map<string, number>(),
    byStatus: new Map<string, number>(),
    byFault: new Map<string, number>(),
    lastRequests: new Array<RecordedRequest>(),
  }
}

type State = ReturnType<typeof emptyState>

function add(counts: Map<string, number>, name: string): void {
  const known = counts.has(name) || counts.size < countedNamesMax
  const key = known ? name : '(other)'
  counts.set(key, (counts.get(key) ?? 0) + 1)
}

function pushBounded<T>(list: T[], entry: T, most: number): void {
  list.push(entry)
  if (list.length > most) list.shift()
}

function createExchange(state: State, request: BegunRequest): Exchange {
  const startedAtMs = performance.now()
  const record: RecordedRequest = {
    number: state.requests,
    at: new Date().toISOString(),
    method: request.method,
    path: request.path,
    query: request.query,
    headers: request.headers,
    body: '',
    body_bytes: 0,
    model: null,
    fault: null,
    outcome: null,
    elapsed_ms: null,
  }
  pushBounded(state.lastRequests, record, recordedRequestsMax)
  return {
    number: record.number,
    startedAtMs,
    phase: 'request',
    asked({ model, body, bodyBytes, bodyKept, fault }) {
      Object.assign(record, {
        model,
        fault,
        body: body.slice(0, bodyKept),
        body_bytes: bodyBytes,
      })
      state.bytesIn += bodyBytes
      if (model !== null) add(state.byModel, model)
      if (fault !== null) add(state.byFault, fault)
    },
    sent(bytes) {
      state.bytesOut += bytes
    },
    end(outcome) {
      if (record.outcome !== null) return false
      const elapsedMs = Math.round((performance.now() - startedAtMs) * 10) / 10
      record.elapsed_ms = elapsedMs
      record.outcome = typeof outcome === 'object' ? outcome.status : outcome
      state.inFlight--
      if (typeof outcome === 'object') add(state.byStatus, String(outcome.status))
      else if (outcome === 'cut') state.cuts++
      else {
        state.hangUps++
        const { number, path } = record
        const entry = { number, path, at: new Date().toISOString(), elapsed_ms: elapsedMs, phase: this.phase }
        pushBounded<JsonObject>(state.lastHangUps, entry, recordedHangUpsMax)
      }
      return true
    },
  }
}

function shown(state: State, withRequests: boolean): JsonObject {
  return {
    requests: state.requests,
    in_flight: state.inFlight,
    in_flight_max: state.inFlightMax,
    bytes_in: state.bytesIn,
    bytes_out: state.bytesOut,
    by_path: Object.fromEntries(state.byPath),
    by_model: Object.fromEntries(state.byModel),
    by_status: Object.fromEntries(state.byStatus),
    by_fault: Object.fromEntries(state.byFault),
    cuts: state.cuts,
    hang_ups: { count: state.hangUps, last: state.lastHangUps },
    ...(withRequests ? { last_requests: state.lastRequests } : {}),
  }
}
