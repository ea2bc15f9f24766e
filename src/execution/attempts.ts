import type { Endpoint } from '../canonical/endpoint.ts'
import type { UpstreamFailure, UpstreamRequest } from '../canonical/upstream.ts'
import { GatewayError, toGatewayError } from '../core/errors.ts'
import { attemptsMax, errorBodyBytesMax, retryDelayMs } from '../core/limits.ts'
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
 * Endpoints in order until one answers. A failure that may pass is tried again on the same endpoint once, after a
 * moment, when there is no other to go to; attempts are bounded; every attempt is recorded for health and metadata.
 * Throws the failure the caller can do most about: the last one.
 */
export async function firstToAnswer<T>(
  endpoints: readonly Endpoint[],
  state: CallState,
  parts: ExecutionParts,
  tryOne: Try<T>,
): Promise<Answered<T>> {
  let last: UpstreamFailure | null = null
  for (const endpoint of order(endpoints)) {
    if (last && !mayTry(endpoint, last, state)) continue
    if (last && last.retrySame && isSame(endpoint, state)) await pause(last, state)
    await state.takePermit(endpoint)
    const attempt = state.beginAttempt(endpoint)
    try {
      const value = await tryOne(endpoint, attempt)
      return { attempt, endpoint, value }
    } catch (thrown) {
      last = failureOf(thrown)
      attempt.endedMs = state.elapsedMs()
      attempt.errorType = last.error.type
      state.releasePermit(capacityOf(last))
      parts.health.recordFailure(endpoint, last)
      if (state.scope.signal.aborted || (!last.retryElsewhere && !last.retrySame)) break
    }
  }
  throw withHistory(
    last?.error ?? new GatewayError('no_healthy_endpoint', 'No endpoint could be tried.'),
    state,
  )
}

function capacityOf(failure: UpstreamFailure): CallOutcome {
  const { type } = failure.error
  const isRefusal = type === 'upstream_rate_limited' || type === 'provider_overloaded'
  return isRefusal ? { type: 'refused', retryAfterMs: failure.retryAfterMs } : { type: 'other' }
}

// Every endpoint once, then every endpoint once more for failures that may pass.
function order(endpoints: readonly Endpoint[]): readonly Endpoint[] {
  return [...endpoints, ...endpoints].slice(0, attemptsMax)
}

function mayTry(endpoint: Endpoint, last: UpstreamFailure, state: CallState): boolean {
  if (state.remainingMs() <= 0) return false
  const before = state.attempts.filter((attempt) => attempt.endpoint === endpoint)
  if (before.length === 0) return last.retryElsewhere
  return (
    last.retrySame &&
    before.every((attempt) => attempt.errorType !== null && transient.has(attempt.errorType))
  )
}

const transient: ReadonlySet<string> = new Set([
  'provider_failed',
  'provider_overloaded',
  'upstream_rate_limited',
])

function isSame(endpoint: Endpoint, state: CallState): boolean {
  return state.attempts.at(-1)?.endpoint === endpoint
}

async function pause(failure: UpstreamFailure, state: CallState): Promise<void> {
  const waitMs = failure.retryAfterMs ?? retryDelayMs
  // A longer wait than the caller would sit through is the caller's decision, so the failure goes back with its hint.
  if (waitMs > retryDelayMs * 8 || waitMs > state.remainingMs()) throw failure.error
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, waitMs)
  state.scope.signal.addEventListener('abort', () => resolve(), { once: true })
  await promise
  clearTimeout(timer)
}

function failureOf(thrown: unknown): UpstreamFailure {
  if (thrown instanceof AttemptFailed) return thrown.failure
  const error = toGatewayError(thrown)
  const isUpstream = error.type.startsWith('provider_') || error.type === 'upstream_rate_limited'
  return {
    error,
    retryElsewhere: isUpstream,
    retrySame: isUpstream && error.type !== 'provider_timeout',
    credentialFault: false,
    retryAfterMs: error.retryAfterSeconds === null ? null : error.retryAfterSeconds * 1000,
  }
}

function withHistory(error: GatewayError, state: CallState): GatewayError {
  if (state.attempts.length < 2) return error
  const previous = state.attempts.map((attempt) => ({
    provider: attempt.endpoint.deployment.providerName,
    status: attempt.status,
    error_type: attempt.errorType,
  }))
  return new GatewayError(error.type, error.message, {
    cause: error.cause,
    ...(error.param === null ? {} : { param: error.param }),
    ...(error.retryAfterSeconds === null ? {} : { retryAfterSeconds: error.retryAfterSeconds }),
    metadata: { ...error.metadata, previous_errors: previous },
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
  throw new AttemptFailed(
    readUpstreamFailure({
      status: response.status,
      headers: response.headers,
      body,
      requestedModel: call.model,
      parameterNames: call.parameters,
    }),
  )
}
