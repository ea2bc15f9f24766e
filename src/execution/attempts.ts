import { AttemptFailed } from '../canonical/attempt-failed.ts'
import type { Endpoint } from '../canonical/endpoint.ts'
import type { UpstreamErrorResponse, UpstreamFailure, UpstreamRequest } from '../canonical/upstream.ts'
import { GatewayError, shownType, toGatewayError } from '../core/errors.ts'
import { attemptsMax, errorBodyBytesMax, retryDelayMs, retryWaitMsMax } from '../core/limits/calls.ts'
import { modelNamesOf } from '../catalog/model-ids.ts'
import type { CallOutcome } from '../routing/limiter.ts'
import type { UpstreamResponse } from '../transport/http-client.ts'
import type { CallState } from './call-state.ts'
import type { Attempt } from './metadata.ts'
import { callerCredentialId } from './caller-login.ts'
import type { ExecutionDependencies } from './dependencies.ts'
import { isUnsuited } from './prepare.ts'
import type { Candidate } from './prepared.ts'
import { sleepUnless } from './wait.ts'

/** An endpoint's answer with the attempt that got it. */
export interface Answered<T> {
  attempt: Attempt
  endpoint: Endpoint
  value: T
}

/** One try: encodes, sends, and reads until an answer is certain enough to be shown. */
export type Try<T> = (candidate: Candidate, attempt: Attempt) => Promise<T>

/**
 * The route in order until one answers, then once more those whose failure may pass, each not before the wait that its
 * provider named. Attempts are bounded; every one is recorded for health and metadata. Throws the last failure, with
 * all of them in its metadata.
 */
export async function firstToAnswer<T>(
  route: readonly Candidate[],
  state: CallState,
  dependencies: ExecutionDependencies,
  tryOne: Try<T>,
): Promise<Answered<T>> {
  const rounds = new Rounds(route, state)
  for (let candidate = rounds.first(); candidate; candidate = await rounds.next()) {
    const { endpoint } = candidate
    const admission = state.takePermit(endpoint)
    const crowded = admission && (await crowdingOf(admission))
    if (crowded) {
      rounds.failed(candidate, crowded)
      continue
    }
    const attempt = state.beginAttempt(candidate)
    try {
      const value = await tryOne(candidate, attempt)
      return { attempt, endpoint, value }
    } catch (thrown) {
      const failure = asOwn(failureOf(thrown, attempt), attempt)
      attempt.endedMs = state.elapsedMs()
      attempt.errorType = failure.error.type
      attempt.againMs = failure.retryAfterMs === null ? null : attempt.endedMs + failure.retryAfterMs
      state.releasePermit(isOwnMatter(failure, attempt) ? { type: 'other' } : capacityOf(failure))
      // A caller who left makes the exchange fail too, which says nothing about the provider.
      if (!state.scope.signal.aborted) {
        noteFailure(failure, attempt, { state, dependencies })
      }
      rounds.failed(candidate, failure)
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

/** Which of the route is tried next. */
class Rounds {
  readonly #route: readonly Candidate[]
  readonly #state: CallState
  #index = 0
  #last: UpstreamFailure | null = null
  /** Endpoints worth a second try, with the time from which on. */
  #again: Map<Candidate, number> | null = null

  constructor(route: readonly Candidate[], state: CallState) {
    this.#route = route
    this.#state = state
  }

  first(): Candidate | undefined {
    return this.#route[0]
  }

  failed(candidate: Candidate, failure: UpstreamFailure): void {
    this.#last = failure
    const isSecond = this.#again?.delete(candidate) || this.#index >= this.#route.length
    if (!failure.retrySame || isSecond) return
    this.#again ??= new Map()
    this.#again.set(candidate, this.#state.elapsedMs() + (failure.retryAfterMs ?? retryDelayMs))
  }

  lastError(): GatewayError {
    return this.#last?.error ?? new GatewayError('no_healthy_endpoint', 'No endpoint could be tried.')
  }

  async next(): Promise<Candidate | undefined> {
    const { signal } = this.#state.scope
    const isOver = signal.aborted || this.#state.remainingMs() <= 0
    if (isOver || this.#state.attempts.length >= attemptsMax) return undefined
    if (this.#last?.retryElsewhere === false) return this.#nextModel()
    this.#index += 1
    return this.#route[this.#index] ?? this.#nextAgain()
  }

  /** What one endpoint of a model refuses all of them do; whoever names fallback models wants the next one asked. */
  #nextModel(): Candidate | undefined {
    const refused = this.#route[this.#index]?.endpoint.model
    const next = this.#route.findIndex(
      ({ endpoint }, index) => index > this.#index && endpoint.model !== refused,
    )
    if (next === -1) return undefined
    this.#index = next
    return this.#route[next]
  }

  /** The endpoint that may be tried again soonest; none when its wait is longer than a caller would sit through. */
  async #nextAgain(): Promise<Candidate | undefined> {
    let soonest: Candidate | undefined
    let atMs = Number.POSITIVE_INFINITY
    for (const [candidate, dueAtMs] of this.#again ?? []) {
      if (dueAtMs >= atMs) continue
      soonest = candidate
      atMs = dueAtMs
    }
    const waitMs = atMs - this.#state.elapsedMs()
    if (!soonest || waitMs > retryWaitMsMax || waitMs > this.#state.remainingMs()) return undefined
    await sleepUnless(waitMs, this.#state.scope.signal)
    return this.#state.scope.signal.aborted ? undefined : soonest
  }
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
  // What this process has no room for may pass in a moment, too.
  const isUpstream =
    isOwnFault(error) || error.type.startsWith('provider_') || error.type === 'upstream_rate_limited'
  // Refused while encoding, before anything was sent: what this endpoint cannot carry another one may.
  return {
    error,
    retryElsewhere: isUpstream || (attempt.status === null && isUnsuited(error)),
    retrySame: isUpstream && error.type !== 'provider_timeout',
    credentialFault: false,
    retryAfterMs: error.retryAfterSeconds === null ? null : error.retryAfterSeconds * 1000,
  }
}

/** Nothing of it says anything about a provider. */
function isOwnFault({ type }: GatewayError): boolean {
  return type === 'gateway_overloaded'
}

/**
 * Whether a caller's own login has failed, or has used up what it may: the operator's credential has not, so that neither
 * the deployment's health nor the room that it has for others follows from it.
 */
function isOwnMatter({ error, credentialFault }: UpstreamFailure, { candidate }: Attempt): boolean {
  if (candidate.credential.id !== callerCredentialId) return false
  return credentialFault || error.type === 'upstream_rate_limited' || error.type === 'payment_required'
}

function noteFailure(
  failure: UpstreamFailure,
  attempt: Attempt,
  { state, dependencies }: { state: CallState; dependencies: ExecutionDependencies },
): void {
  const said = state.noteFailure(attempt, failure)
  if (isOwnMatter(failure, attempt) || isOwnFault(failure.error)) return
  dependencies.health.recordFailure(attempt.endpoint, failure, said)
  state.releaseConversation(attempt.endpoint, failure)
}

/** A login that was refused, as its caller may read it. */
function asOwn(failure: UpstreamFailure, attempt: Attempt): UpstreamFailure {
  if (!failure.credentialFault || !isOwnMatter(failure, attempt)) return failure
  const { providerName } = attempt.endpoint.deployment
  const message = `${providerName} refused the login that came with the call in "Authorization"; sign in there again.`
  const error = new GatewayError('authentication', message, { cause: failure.error.cause })
  return { ...failure, error, retryElsewhere: false, retrySame: false }
}

/** Tells who failed and, when there was more than one try, each of them with the error it would have been alone. */
function withHistory(error: GatewayError, state: CallState): GatewayError {
  const { attempts } = state
  const last = attempts.at(-1)
  if (!last) return error
  const previous = attempts.map(({ endpoint, status, errorType }) => ({
    provider: endpoint.deployment.providerName,
    status,
    ...(errorType ? shownType(errorType) : {}),
  }))
  // A provider that was too crowded to be asked did not fail.
  const hasFailed = last.errorType === error.type && !isOwnFault(error)
  const retryAfterSeconds = shortestWait(error, state)
  return error.with({
    ...(retryAfterSeconds === null ? {} : { retryAfterSeconds }),
    metadata: {
      ...(hasFailed
        ? { provider_name: last.endpoint.deployment.providerName, is_byok: last.candidate.credential.isByok }
        : {}),
      ...(retryAfterSeconds === null ? {} : { retry_after_seconds: retryAfterSeconds }),
      ...(attempts.length > 1 ? { previous_errors: previous } : {}),
    },
  })
}

/**
 * When the first of those that were tried may answer, by what each of them said, in seconds from now; null where none said
 * so. A call that is itself at fault would be refused later as well.
 */
function shortestWait(error: GatewayError, state: CallState): number | null {
  if (error.status < 429) return error.retryAfterSeconds
  const nowMs = state.elapsedMs()
  const waitsMs = state.attempts.flatMap(({ againMs }) => (againMs === null ? [] : [againMs - nowMs]))
  return waitsMs.length === 0 ? error.retryAfterSeconds : Math.max(1, Math.ceil(Math.min(...waitsMs) / 1000))
}

/** Sends one request of an attempt and returns the response, whatever its status. */
export async function sendAttempt(
  request: UpstreamRequest,
  attempt: Attempt,
  state: CallState,
  dependencies: ExecutionDependencies,
): Promise<UpstreamResponse> {
  const remainingMs = Math.max(1, state.remainingMs())
  const { credential, endpoint } = attempt
  const target = { baseUrl: endpoint.deployment.baseUrl, credential }
  const response = await dependencies.transport.send(request, target, {
    signal: state.scope.signal,
    deadlineMs: remainingMs,
    firstByteTimeoutMs: state.firstByteMs(),
  })
  attempt.headersMs = state.elapsedMs()
  attempt.status = response.status
  return response
}

/** A response that is no success, read, with what of the call helps to explain it. */
export async function readRefusal(
  response: UpstreamResponse,
  { endpoint }: Attempt,
  { call }: CallState,
): Promise<UpstreamErrorResponse> {
  return {
    status: response.status,
    headers: response.headers,
    body: await response.readAll(errorBodyBytesMax),
    requestedModel: call.model,
    modelNames: modelNamesOf(endpoint),
    parameterNames: call.parameters,
  }
}
