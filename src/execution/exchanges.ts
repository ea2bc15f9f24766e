import { AttemptFailed } from '../canonical/attempt-failed.ts'
import type { Call } from '../canonical/call.ts'
import type { Adapter, CallAt, Exchange, Step } from '../canonical/steps.ts'
import { assert } from '../core/assert.ts'
import { GatewayError } from '../core/errors.ts'
import { answerBytesMax, exchangesMax, pollFailuresMax, pollRetryWaitMs } from '../core/limits/calls.ts'
import type { UpstreamResponse } from '../transport/http-client.ts'
import { failureOf, readRefusal, sendAttempt } from './attempts.ts'
import type { CallState } from './call-state.ts'
import { keepSentBody } from './debug.ts'
import type { Attempt } from './metadata.ts'
import type { ExecutionDependencies } from './dependencies.ts'
import type { ResourceTrail } from './resources/upstream-resources.ts'
import { sleepUnless } from './wait.ts'

/** Whose exchanges they are. */
export interface Work {
  attempt: Attempt
  state: CallState
  dependencies: ExecutionDependencies
}

/** How the steps of an attempt ended: with an answer, or with a body that is one. */
export type Reached<Answer, Reader> =
  | { type: 'answer'; answer: Answer }
  | { type: 'opened'; response: UpstreamResponse; reader: Reader }

/**
 * Does what an adapter asks for until it has its answer: sends, waits, reads, each within the call's own time. Throws
 * what an exchange throws, and `provider_failed` for an adapter that would go on for ever. Whatever was made at the
 * provider is left for removal when it ends, in whatever way.
 */
export async function exchange<Asked extends Call, State, Answer, Reader>(
  adapter: Adapter<Asked, State, Answer, Reader>,
  first: Step<State, Answer, Reader>,
  asked: CallAt<Asked>,
  work: Work,
): Promise<Reached<Answer, Reader>> {
  const { resources } = adapter
  if (resources === undefined) return follow(adapter, first, asked, { ...work, trail: null })
  const { attempt, state, dependencies } = work
  const trail = dependencies.resources.trail({
    deploymentId: attempt.endpoint.deployment.id,
    credentialId: attempt.credential.reference.id,
    usedBy: state.generationId,
    kinds: resources,
  })
  try {
    return await follow(adapter, first, asked, { ...work, trail })
  } finally {
    trail.end()
  }
}

interface TrailedWork extends Work {
  /** Null where the adapter's requests leave nothing. */
  trail: ResourceTrail | null
}

async function follow<Asked extends Call, State, Answer, Reader>(
  adapter: Adapter<Asked, State, Answer, Reader>,
  first: Step<State, Answer, Reader>,
  asked: CallAt<Asked>,
  work: TrailedWork,
): Promise<Reached<Answer, Reader>> {
  const { attempt, state } = work
  let step = first
  for (let sent = 0; sent < exchangesMax; sent += 1) {
    if (step.type === 'answer') return step
    const { waitMs = 0, dropped, approximated, makes } = step.exchange
    if (dropped) state.noteLosses({ dropped, ...(approximated ? { approximated } : {}) })
    if (waitMs > 0) await waitForJob(waitMs, state)
    if (step.type === 'stream') {
      assert(makes === undefined, 'what is made has its id in a whole reply')
      const response = await sendStep(adapter, step.exchange, work)
      return { type: 'opened', response, reader: step.open(asked.context, response.headers) }
    }
    if (makes) await work.trail?.begin(makes)
    const response = await sendStep(adapter, step.exchange, work)
    attempt.firstTokenMs = attempt.headersMs
    const bytes = await response.readAll(answerBytesMax)
    attempt.endedMs = state.elapsedMs()
    const reply = { headers: response.headers, bytes }
    if (makes) await work.trail?.replied(reply)
    step = adapter.next(step.state, reply, asked)
  }
  throw new GatewayError('provider_failed', 'The provider did not finish the job it was given.')
}

/** Never beyond the call's own time, and no longer than its caller waits. */
async function waitForJob(waitMs: number, state: CallState): Promise<void> {
  await sleepUnless(Math.min(waitMs, state.remainingMs()), state.scope.signal)
  if (state.scope.signal.aborted || state.remainingMs() > 0) return
  throw new GatewayError('deadline', 'The call ran out of its time before the provider had done its job.')
}

/**
 * Sends one request and returns its successful response. One that only asks (GET) is sent again where that may help: a
 * job runs on while a look at it fails, and to begin another one would be paid twice.
 */
async function sendStep<Asked extends Call, State, Answer, Reader>(
  adapter: Adapter<Asked, State, Answer, Reader>,
  { request }: Exchange,
  { attempt, state, dependencies, trail }: TrailedWork,
): Promise<UpstreamResponse> {
  if (Array.isArray(request.body)) keepSentBody(state, attempt, request.body)
  for (let failures = 0; ; failures += 1) {
    try {
      const response = await sendAttempt(request, attempt, state, dependencies)
      if (response.status >= 200 && response.status < 300) return response
      trail?.refused(response.status)
      throw new AttemptFailed(adapter.readError(await readRefusal(response, attempt, state)))
    } catch (thrown) {
      const { retrySame, retryAfterMs } = failureOf(thrown, attempt)
      const isLast = request.method !== 'GET' || !retrySame || failures >= pollFailuresMax
      if (isLast || state.scope.signal.aborted) throw thrown
      const waitMs = retryAfterMs ?? pollRetryWaitMs * 2 ** failures
      if (waitMs >= state.remainingMs()) throw thrown
      await sleepUnless(waitMs, state.scope.signal)
    }
  }
}
