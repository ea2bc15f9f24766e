import type { Endpoint } from '../canonical/endpoint.ts'
import type { UpstreamFailure, UpstreamRequest } from '../canonical/upstream.ts'
import { GatewayError, shownType, toGatewayError } from '../core/errors.ts'
import { attemptsMax, errorBodyBytesMax, retryDelayMs, retryWaitMsMax } from '../core/limits/calls.ts'
import { slugOf } from '../catalog/model-ids.ts'
import { readUpstreamFailure } from '../formats/upstream-errors.ts'
import type { CallOutcome } from '../routing/limiter.ts'
import type { UpstreamResponse } from '../transport/http-client.ts'
import type { CallState } from './call-state.ts'
import type { Attempt } from './metadata.ts'
import { operations } from './operations.ts'
import type { ExecutionParts } from './parts.ts'

/** What an attempt throws when the upstream failed: the failure says whether another attempt may help. */
export class AttemptFailed extends Error {
  readonly failure: UpstreamFailure

  constructor(failure: UpstreamFailure) {
    super(failure.error.message)
    this.failure = failure
  }
}

/** An endpoint's answer with the attempt that got it. */
export interface Answered<T> {
  attempt: Attempt
  endpoint: Endpoint
  value: T
}

/** One try: encodes, sends, and reads until an answer is certain enough to be shown. */
export type Try<T> = (endpoint: Endpoint, attempt: Attempt) => Promise<T>

/**
 * Endpoints in order until one answers, then once more those whose failure may pass, each not before the wait that its
 * provider named. Attempts are bounded; every one is recorded for health and metadata. Throws the last failure, with
 * all of them in its metadata.
 */
export async function firstToAnswer<T>(
  endpoints: readonly Endpoint[],
  state: CallState,
  parts: ExecutionParts,
  tryOne: Try<T>,
): Promise<Answered<T>> {
  const rounds = new Rounds(endpoints, state)
  for (let endpoint = rounds.first(); endpoint; endpoint = await rounds.next()) {
    const admission = state.takePermit(endpoint)
    const crowded = admission && (await crowdingOf(admission))
    if (crowded) {
      rounds.failed(endpoint, crowded)
      continue
    }
    const attempt = state.beginAttempt(endpoint)
    try {
      const value = await tryOne(endpoint, attempt)
      return { attempt, endpoint, value }
    } catch (thrown) {
      const failure = failureOf(thrown, attempt)
      attempt.endedMs = state.elapsedMs()
      attempt.errorType = failure.error.type
      state.releasePermit(capacityOf(failure))
      // A caller who left makes the exchange fail too, which says nothing about the provider.
      if (!state.scope.signal.aborted) {
        parts.health.recordFailure(endpoint, failure, state.noteFailure(attempt, failure))
        state.releaseConversation(endpoint, failure)
      }
      rounds.failed(endpoint, failure)
    }
  }
  throw withHistory(rounds.lastError(), state)
}

/**
 * Waits for the place. A failure when too many wait for it already: nothing was tried, so the provider is not blamed,
 * and another endpoint may have room.
 */
async function crowdingOf(admission: Promise<void>): Promise<UpstreamFailure | null> {
  try {
    await admission
    return null
  } catch (thrown) {
    if (!(thrown instanceof GatewayError) || thrown.type !== 'no_healthy_endpoint') throw thrown
    return {
      error: thrown,
      retryElsewhere: true,
      retrySame: false,
      credentialFault: false,
      retryAfterMs: null,
    }
  }
}

/** Which endpoint is tried next. */
class Rounds {
  readonly #endpoints: readonly Endpoint[]
  readonly #state: CallState
  #index = 0
  #last: UpstreamFailure | null = null
  /** Endpoints worth a second try, with the time from which on. */
  #again: Map<Endpoint, number> | null = null

  constructor(endpoints: readonly Endpoint[], state: CallState) {
    this.#endpoints = endpoints
    this.#state = state
  }

  first(): Endpoint | undefined {
    return this.#endpoints[0]
  }

  failed(endpoint: Endpoint, failure: UpstreamFailure): void {
    this.#last = failure
    const isSecond = this.#again?.delete(endpoint) || this.#index >= this.#endpoints.length
    if (!failure.retrySame || isSecond) return
    this.#again ??= new Map()
    this.#again.set(endpoint, this.#state.elapsedMs() + (failure.retryAfterMs ?? retryDelayMs))
  }

  lastError(): GatewayError {
    return this.#last?.error ?? new GatewayError('no_healthy_endpoint', 'No endpoint could be tried.')
  }

  async next(): Promise<Endpoint | undefined> {
    const { signal } = this.#state.scope
    const isOver = signal.aborted || this.#state.remainingMs() <= 0
    if (isOver || this.#state.attempts.length >= attemptsMax) return undefined
    if (this.#last?.retryElsewhere === false) return this.#nextModel()
    this.#index += 1
    return this.#endpoints[this.#index] ?? this.#nextAgain()
  }

  /** What one endpoint of a model refuses all of them do; whoever names fallback models wants the next one asked. */
  #nextModel(): Endpoint | undefined {
    const refused = this.#endpoints[this.#index]?.model
    const next = this.#endpoints.findIndex(({ model }, index) => index > this.#index && model !== refused)
    if (next === -1) return undefined
    this.#index = next
    return this.#endpoints[next]
  }

  /** The endpoint that may be tried again soonest; none when its wait is longer than a caller would sit through. */
  async #nextAgain(): Promise<Endpoint | undefined> {
    let soonest: Endpoint | undefined
    let atMs = Number.POSITIVE_INFINITY
    for (const [endpoint, dueAtMs] of this.#again ?? []) {
      if (dueAtMs >= atMs) continue
      soonest = endpoint
      atMs = dueAtMs
    }
    const waitMs = atMs - this.#state.elapsedMs()
    if (!soonest || waitMs > retryWaitMsMax || waitMs > this.#state.remainingMs()) return undefined
    await sleepUnless(waitMs, this.#state.scope.signal)
    return this.#state.scope.signal.aborted ? undefined : soonest
  }
}

async function sleepUnless(waitMs: number, signal: AbortSignal): Promise<void> {
  if (waitMs <= 0) return
  const { promise, resolve } = Promise.withResolvers<void>()
  const wake = () => resolve()
  const timer = setTimeout(wake, waitMs)
  signal.addEventListener('abort', wake, { once: true })
  await promise
  clearTimeout(timer)
  signal.removeEventListener('abort', wake)
}

function capacityOf(failure: UpstreamFailure): CallOutcome {
  const { type } = failure.error
  const isRefusal = type === 'upstream_rate_limited' || type === 'provider_overloaded'
  return isRefusal ? { type: 'refused', retryAfterMs: failure.retryAfterMs } : { type: 'other' }
}

/** What an attempt threw, as a failure of its provider. */
export function failureOf(thrown: unknown, attempt: Attempt): UpstreamFailure {
  if (thrown instanceof AttemptFailed) return thrown.failure
  const error = toGatewayError(thrown)
  const isUpstream = error.type.startsWith('provider_') || error.type === 'upstream_rate_limited'
  // Refused while encoding, before anything was sent: what this endpoint cannot carry another one may.
  const isUnsuited =
    attempt.status === null && (error.type === 'invalid_request' || error.type === 'no_matching_endpoint')
  return {
    error,
    retryElsewhere: isUpstream || isUnsuited,
    retrySame: isUpstream && error.type !== 'provider_timeout',
    credentialFault: false,
    retryAfterMs: error.retryAfterSeconds === null ? null : error.retryAfterSeconds * 1000,
  }
}

/** Tells who failed and, when there was more than one try, each of them with the error it would have been alone. */
function withHistory(error: GatewayError, { attempts }: CallState): GatewayError {
  const last = attempts.at(-1)
  if (!last) return error
  const previous = attempts.map(({ endpoint, status, errorType }) => ({
    provider: endpoint.deployment.providerName,
    status,
    ...(errorType ? shownType(errorType) : {}),
  }))
  // A provider that was too crowded to be asked did not fail.
  const hasFailed = last.errorType === error.type
  return new GatewayError(error.type, error.message, {
    cause: error.cause,
    ...(error.param === null ? {} : { param: error.param }),
    ...(error.retryAfterSeconds === null ? {} : { retryAfterSeconds: error.retryAfterSeconds }),
    metadata: {
      ...error.metadata,
      ...(hasFailed ? { provider_name: last.endpoint.deployment.providerName, is_byok: false } : {}),
      ...(attempts.length > 1 ? { previous_errors: previous } : {}),
    },
  })
}

/** Sends one attempt and returns its successful response; any other status becomes an AttemptFailed. */
export async function sendAttempt(
  request: UpstreamRequest,
  attempt: Attempt,
  state: CallState,
  parts: ExecutionParts,
): Promise<UpstreamResponse> {
  const operation = operations[state.call.operation]
  const remainingMs = Math.max(1, state.remainingMs())
  const response = await parts.transport.send(request, attempt.endpoint.deployment, {
    signal: state.scope.signal,
    deadlineMs: remainingMs,
    firstByteTimeoutMs: Math.min(operation.firstByteTimeoutMs, remainingMs),
  })
  attempt.headersMs = state.elapsedMs()
  attempt.status = response.status
  if (response.status >= 200 && response.status < 300) return response
  const body = await response.readAll(errorBodyBytesMax)
  const { call } = state
  const { model, upstreamModel } = attempt.endpoint
  throw new AttemptFailed(
    readUpstreamFailure({
      status: response.status,
      headers: response.headers,
      body,
      requestedModel: call.model,
      modelNames: [upstreamModel, model, slugOf(model)],
      parameterNames: call.parameters,
    }),
  )
}
