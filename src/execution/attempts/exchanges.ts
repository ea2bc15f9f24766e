import { AttemptFailed } from '../../canonical/attempt-failed.ts'
import type { Exchange } from '../../canonical/steps.ts'
import type { UpstreamErrorResponse } from '../../canonical/upstream.ts'
import { modelNamesOf } from '../../catalog/model-ids.ts'
import { assert } from '../../core/assert.ts'
import { GatewayError } from '../../core/errors.ts'
import { answerBytesMax } from '../../core/limits/calls.ts'
import { readLimitReset } from '../../formats/retry-after.ts'
import type { UpstreamResponse } from '../../transport/exchange.ts'
import type { CallState } from '../call/call-state.ts'
import { keepSentBody } from '../call/debug.ts'
import { failureOf } from '../call/failures.ts'
import type { Attempt } from '../call/metadata.ts'
import type { Asking, Kind, Reached, Run, StepOf } from '../call/call-hooks.ts'
import type { ResourceTrail } from '../resources/upstream-resources.ts'
import { sleepUnless } from '../wait.ts'

/** Bytes that are read of an upstream's error body; the important part is at its beginning. */
const errorBodyBytesMax = 65_536
/** Requests of one attempt: enough to ask for a job every second for the longest time that a call may have. */
export const exchangesMax = 90_000
/**
 * How many looks at a job may fail in a row before the gateway gives it up, and the wait after the first failure, which
 * doubles.
 */
export const pollFailuresMax = 5
export const pollRetryWaitMs = 1_000

/**
 * Carries out the steps of an adapter until it has its answer: sends, waits, reads, each within the call's own time.
 * Throws what a request throws, and `provider_failed` for an adapter that never ends. However the attempt ends, what it
 * made at the provider is left for removal.
 */
export function exchange<K extends Kind>(
  asking: Asking<K>,
  first: StepOf<K>,
  attempt: Attempt,
  run: Run<K>,
): Promise<Reached<K>> {
  const { resources } = asking.adapter
  return resources === undefined
    ? follow(asking, first, attempt, { run, trail: null })
    : followWithTrail(resources, asking, first, { attempt, run })
}

function followWithTrail<K extends Kind>(
  resources: NonNullable<Asking<K>['adapter']['resources']>,
  asking: Asking<K>,
  first: StepOf<K>,
  { attempt, run }: { attempt: Attempt; run: Run<K> },
): Promise<Reached<K>> {
  const trail = run.dependencies.resources.trail({
    deploymentId: attempt.endpoint.deployment.id,
    credentialId: attempt.credential.reference.id,
    usedBy: run.state.generationId,
    kinds: resources,
  })
  return follow(asking, first, attempt, { run, trail }).finally(() => trail.end())
}

interface Trailed<K extends Kind> {
  run: Run<K>
  /** Null where the adapter's requests leave nothing at the provider. */
  trail: ResourceTrail | null
}

async function follow<K extends Kind>(
  { adapter, at }: Asking<K>,
  first: StepOf<K>,
  attempt: Attempt,
  trailed: Trailed<K>,
): Promise<Reached<K>> {
  const { run, trail } = trailed
  const { state } = run
  let step = first
  for (let sent = 0; sent < exchangesMax; sent += 1) {
    if (step.type === 'answer') return step
    const { waitMs = 0, dropped, approximated, makes } = step.exchange
    if (dropped) state.noteLosses(approximated ? { dropped, approximated } : { dropped })
    if (waitMs > 0) await waitForJob(waitMs, state)
    if (step.type === 'stream') {
      assert(makes === undefined, 'what is made has its id in a whole reply')
      const response = await sendStep(adapter, step.exchange, attempt, trailed)
      return { type: 'opened', response, reader: step.open(at.context, response.headers) }
    }
    if (makes) await trail?.begin(makes)
    const response = await sendStep(adapter, step.exchange, attempt, trailed)
    attempt.firstTokenMs = attempt.headersMs
    const bytes = await response.readAll(answerBytesMax)
    attempt.endedMs = state.elapsedMs()
    const reply = { headers: response.headers, bytes }
    if (makes) await trail?.replied(reply)
    step = adapter.next(step.state, reply, at)
  }
  throw new GatewayError('provider_failed', 'The provider did not finish the job it was given.')
}

/** Waits before the next look at a job, but not beyond the call's own time, and not after the caller has left. */
async function waitForJob(waitMs: number, state: CallState): Promise<void> {
  await sleepUnless(Math.min(waitMs, state.remainingMs()), state.scope.signal)
  if (state.scope.signal.aborted || state.remainingMs() > 0) return
  throw new GatewayError('deadline', 'The call ran out of its time before the provider had done its job.')
}

/**
 * Sends one request and returns its successful response. A GET is sent again where that may help: the job continues
 * while a look at it fails, and a second job would be paid for again.
 */
async function sendStep<K extends Kind>(
  adapter: Asking<K>['adapter'],
  { request }: Exchange,
  attempt: Attempt,
  { run: { state, dependencies }, trail }: Trailed<K>,
): Promise<UpstreamResponse> {
  if (Array.isArray(request.body)) keepSentBody(state, attempt, request.body)
  const { credential, endpoint } = attempt
  const { baseUrl, client } = endpoint.deployment
  const target = { baseUrl, client, credential }
  for (let failures = 0; ; failures += 1) {
    try {
      const remainingMs = Math.max(1, state.remainingMs())
      const response = await dependencies.transport.send(request, target, {
        signal: state.scope.signal,
        deadlineMs: remainingMs,
        firstByteTimeoutMs: state.firstByteMs(remainingMs),
      })
      attempt.headersMs = state.elapsedMs()
      attempt.status = response.status
      if (response.status >= 200 && response.status < 300) {
        attempt.restMs = readLimitReset(response.headers)
        return response
      }
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

/** Reads an unsuccessful response, and adds what of the call helps to explain it. */
async function readRefusal(
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
