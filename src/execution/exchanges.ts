import { AttemptFailed } from '../canonical/attempt-failed.ts'
import type { Call } from '../canonical/call.ts'
import type { Adapter, CallAt, Step } from '../canonical/steps.ts'
import { GatewayError } from '../core/errors.ts'
import { answerBytesMax, exchangesMax } from '../core/limits/calls.ts'
import type { UpstreamResponse } from '../transport/http-client.ts'
import { readRefusal, sendAttempt } from './attempts.ts'
import type { CallState } from './call-state.ts'
import { keepSentBody } from './debug.ts'
import type { Attempt } from './metadata.ts'
import type { ExecutionDependencies } from './dependencies.ts'
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
 * what an exchange throws, and `provider_failed` for an adapter that would go on for ever.
 */
export async function exchange<Asked extends Call, State, Answer, Reader>(
  adapter: Adapter<Asked, State, Answer, Reader>,
  first: Step<State, Answer, Reader>,
  asked: CallAt<Asked>,
  { attempt, state, dependencies }: Work,
): Promise<Reached<Answer, Reader>> {
  let step = first
  for (let sent = 0; sent < exchangesMax; sent += 1) {
    if (step.type === 'answer') return step
    const { request, waitMs = 0, dropped, approximated } = step.exchange
    if (dropped) state.noteLosses({ dropped, ...(approximated ? { approximated } : {}) })
    if (waitMs > 0) await sleepUnless(Math.min(waitMs, state.remainingMs()), state.scope.signal)
    if (Array.isArray(request.body)) keepSentBody(state, attempt, request.body)
    const response = await sendAttempt(request, attempt, state, dependencies)
    if (response.status < 200 || response.status > 299)
      throw new AttemptFailed(adapter.readError(await readRefusal(response, attempt, state)))
    if (step.type === 'stream')
      return { type: 'opened', response, reader: step.open(asked.context, response.headers) }
    attempt.firstTokenMs = attempt.headersMs
    const bytes = await response.readAll(answerBytesMax)
    attempt.endedMs = state.elapsedMs()
    step = adapter.next(step.state, { headers: response.headers, bytes }, asked)
  }
  throw new GatewayError('provider_failed', 'The provider did not finish the job it was given.')
}
