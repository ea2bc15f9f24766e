import type { UpstreamFailure } from '../../canonical/upstream.ts'
import { GatewayError, shownType } from '../../core/errors.ts'
import { attemptsMax } from '../../core/limits/calls.ts'
import type { CallState } from '../call/call-state.ts'
import { exchange } from './exchanges.ts'
import { asOwn, capacityOf, failureOf, isOwnFault, isOwnMatter, isWithoutRoom } from '../call/failures.ts'
import type { Attempt } from '../call/metadata.ts'
import type { Answered, Kind, Run } from '../call/call-hooks.ts'
import { askingAt } from '../preparing/suited-route.ts'
import type { Candidate } from '../call/prepared.ts'
import { sleepUnless } from '../wait.ts'

/** Wait before the same endpoint is tried again when the provider named none. */
const retryDelayMs = 250
/** Longest wait for a provider before it is tried again inside one call; a longer one goes back to the caller as a hint. */
const retryWaitMsMax = 2_500

/**
 * Tries the route in order until one candidate answers. Then it tries once more those whose failure may pass, each not
 * before the wait that its provider named. Attempts are bounded; every one is recorded for health and metadata. Throws
 * the last failure, with all of them in its metadata.
 */
export async function firstToAnswer<K extends Kind>(run: Run<K>): Promise<Answered<K['heard']>> {
  const { row, state, prepared } = run
  const rounds = new Rounds(prepared.route, state)
  for (let candidate = rounds.first(); candidate; candidate = await rounds.next()) {
    const { endpoint } = candidate
    const admission = state.takePermit(endpoint)
    const crowded = admission && (await crowdingOf(admission))
    if (crowded) {
      rounds.failed(candidate, crowded)
      continue
    }
    const counting = state.takeQuota(candidate)
    const held = counting instanceof Promise ? await counting : counting
    if (held) {
      // A model's own quota says nothing about the other models there.
      const isOfModel = endpoint.quota !== undefined
      state.releasePermit(isOfModel ? { type: 'other' } : { type: 'held', waitMs: held.retryAfterMs ?? 0 })
      rounds.failed(candidate, held)
      continue
    }
    const attempt = state.beginAttempt(candidate)
    try {
      const asking = askingAt(candidate, run)
      // The prepared step belongs to the first candidate; the step of any other is made when that candidate is tried.
      const first = (candidate === prepared.route[0] ? run.first : null) ?? row.firstStep(asking, run)
      const reached = await exchange(asking, first instanceof Promise ? await first : first, attempt, run)
      const heard = row.hear(reached, attempt, run)
      run.answered = { attempt, endpoint, value: heard instanceof Promise ? await heard : heard }
      return run.answered
    } catch (thrown) {
      const failure = asTierFull(asOwn(failureOf(thrown, attempt), attempt), state)
      attempt.endedMs = state.elapsedMs()
      attempt.errorType = failure.error.type
      attempt.againMs = failure.retryAfterMs === null ? null : attempt.endedMs + failure.retryAfterMs
      const isApart = isOwnMatter(failure, attempt) || isTierFull(failure, state)
      state.releasePermit(isApart ? { type: 'other' } : capacityOf(failure))
      state.correctQuota(endpoint, 0)
      // A caller who left makes the exchange fail too, which says nothing about the provider.
      if (!state.scope.signal.aborted) {
        noteFailure(failure, attempt, run)
      }
      rounds.failed(candidate, failure)
    }
  }
  throw withHistory(rounds.lastError(), state)
}

/**
 * Waits for the place. Returns a failure when too many calls wait for it already: nothing was tried, so the provider is
 * not blamed, and another endpoint may have room.
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

/** Chooses the candidate that is tried next. */
class Rounds {
  readonly #route: readonly Candidate[]
  readonly #state: CallState
  #index = 0
  #last: UpstreamFailure | null = null
  #waitedMs = 0
  /**
   * Candidates worth a second try, each with the time from which it may be tried, in milliseconds from the call's
   * start.
   */
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
    const isAgain = this.#again?.delete(candidate) || this.#index >= this.#route.length
    // One that was not asked for want of quota may be tried until the call has waited as long as it may.
    const isHeld = failure.error.type === 'quota_used_up' && this.#waitedMs < retryWaitMsMax
    if (!failure.retrySame || (isAgain && !isHeld)) return
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

  /**
   * When one endpoint of a model refuses the call, all endpoints of that model do; the caller's fallback models are
   * tried next.
   */
  #nextModel(): Candidate | undefined {
    const refused = this.#route[this.#index]?.endpoint.model
    const next = this.#route.findIndex(
      ({ endpoint }, index) => index > this.#index && endpoint.model !== refused,
    )
    if (next === -1) return undefined
    this.#index = next
    return this.#route[next]
  }

  /**
   * The candidate that may be tried again soonest; none when its wait is longer than `retryWaitMsMax` or the call's
   * time.
   */
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
    this.#waitedMs += Math.max(0, waitMs)
    await sleepUnless(waitMs, this.#state.scope.signal)
    return this.#state.scope.signal.aborted ? undefined : soonest
  }
}

/** Whether only the cheaper tier that a batch's lane asks for has no room: nothing follows for calls at the usual tier. */
function isTierFull({ error }: UpstreamFailure, { scope }: CallState): boolean {
  return scope.batch?.tier !== undefined && isWithoutRoom(error)
}

/** A full tier is not asked a second time by the same call: the lane waits for room, for all of its items at once. */
function asTierFull(failure: UpstreamFailure, state: CallState): UpstreamFailure {
  return isTierFull(failure, state) ? { ...failure, retrySame: false } : failure
}

function noteFailure<K extends Kind>(
  failure: UpstreamFailure,
  attempt: Attempt,
  { row, call, state, dependencies }: Run<K>,
): void {
  const said = state.noteFailure(attempt, failure, () => row.wordsOf(call))
  if (isOwnMatter(failure, attempt) || isOwnFault(failure.error) || isTierFull(failure, state)) return
  dependencies.health.recordFailure(attempt.endpoint, failure, said)
  state.releaseConversation(attempt.endpoint, failure)
}

/**
 * The error with the provider that failed and, after several attempts, each of them with the error it would have been
 * alone.
 */
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
 * Seconds until the first of the tried providers may answer, as each of them said; the error's own figure where none
 * said so. A call that is itself at fault would be refused later as well.
 */
function shortestWait(error: GatewayError, state: CallState): number | null {
  if (error.status < 429) return error.retryAfterSeconds
  const nowMs = state.elapsedMs()
  const waitsMs = state.attempts.flatMap(({ againMs }) => (againMs === null ? [] : [againMs - nowMs]))
  return waitsMs.length === 0 ? error.retryAfterSeconds : Math.max(1, Math.ceil(Math.min(...waitsMs) / 1000))
}
