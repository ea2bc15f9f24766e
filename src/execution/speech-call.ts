import { speechUsage } from '../billing/metering/speech-usage.ts'
import { createSpeechStream, speechContentType, wavHeader } from '../audio/speech-stream.ts'
import type { PassedFormat } from '../canonical/endpoint.ts'
import type { SpeechAdapter } from '../canonical/audio.ts'
import type { SpeechCall } from '../canonical/call.ts'
import type { CallAt } from '../canonical/steps.ts'
import type { MeterReading } from '../canonical/upstream.ts'
import { assert } from '../core/assert.ts'
import { GatewayError } from '../core/errors.ts'
import { publicFetchMs } from '../core/limits/calls.ts'
import { nextTurn } from '../core/turns.ts'
import { speechRequirements } from '../formats/speech/speech-requirements.ts'
import { failureOf, firstToAnswer, type Answered } from './attempts.ts'
import { CallerRest } from './caller-rest.ts'
import { CallState } from './call-state.ts'
import type { CallEnding } from './charge.ts'
import { coveredCharge } from './covered-charge.ts'
import { exchange } from './exchanges.ts'
import type { ExecutionDependencies } from './dependencies.ts'
import { OpenedSpeech } from './opened-speech.ts'
import { prepare, type Plan } from './prepare.ts'
import { hasRemoteClips, withFetchedClips, type ClipFetching } from './reference-clips.ts'
import type { Candidate } from './prepared.ts'
import type { Outcome, RequestScope } from './scope.ts'

/** Synthesizes: bytes leave as they arrive, the last chunk once the money is durable. */
export async function executeSpeech(
  call: SpeechCall,
  scope: RequestScope,
  dependencies: ExecutionDependencies,
): Promise<Outcome> {
  const state = new CallState(call, scope, dependencies)
  // A call takes half a millisecond to prepare, and many may come at once.
  const turn = dependencies.speechTurns.next()
  if (turn !== null) await turn
  const stepAt = (candidate: Candidate, asked = call) =>
    adapterAt(candidate, state).first(askedAt(asked, candidate, state))
  const plan = await prepare(
    { requirements: speechRequirements(call, makersIn(state)), firstStep: (candidate) => stepAt(candidate) },
    state,
    dependencies,
  )
  const { route } = plan.prepared
  try {
    const sent = hasRemoteClips(call) ? await withFetchedClips(call, clipFetching(state, dependencies)) : call
    const answered = await firstToAnswer<OpenedSpeech>(
      route,
      state,
      dependencies,
      async (candidate, attempt) => {
        const first = candidate === route[0] && sent === call ? plan.first : stepAt(candidate, sent)
        const asked = askedAt(call, candidate, state)
        const reached = await exchange(adapterAt(candidate, state), first, asked, {
          attempt,
          state,
          dependencies,
        })
        assert(reached.type === 'opened', 'speech is a body')
        const opened = await OpenedSpeech.open(
          {
            response: reached.response,
            stream: createSpeechStream(call, reached.reader, dependencies.mp3Codec),
            turns: dependencies.speechTurns,
            rest: new CallerRest(dependencies.streamWatch.keepAliveMs),
          },
          call.isWav ? wavHeader() : undefined,
        )
        attempt.firstTokenMs = state.elapsedMs()
        return opened
      },
    )
    scope.facts.firstByteMs = answered.attempt.firstTokenMs
    const work = { call, plan, state, dependencies }
    // All of it waits for the money: a charge that cannot be kept is an ordinary error then.
    if (answered.value.tail !== null) await settleSpeech(answered, work, 'completed')
    const { body, ended } = speechBody(answered, work)
    return {
      generationId: state.generationId,
      contentType: speechContentType(call),
      body,
      provider: answered.endpoint.deployment.providerName,
      ended,
    }
  } catch (error) {
    plan.settlement.release()
    throw withoutDeadline(error)
  }
}

/** The models of the catalog that make a format; looked for only when a call has to be told of them. */
function makersIn({ serving }: CallState): (format: PassedFormat) => readonly string[] {
  return (format) =>
    serving.catalog
      .models()
      .flatMap(({ id, endpoints }) =>
        endpoints.some(({ audio }) => audio?.passedFormats?.includes(format) === true) ? [id] : [],
      )
}

function clipFetching(state: CallState, { publicFetch }: ExecutionDependencies): ClipFetching {
  const timeoutMs = Math.max(1, Math.min(publicFetchMs, state.remainingMs()))
  return { publicFetch, timeoutMs, signal: state.scope.signal }
}

function askedAt(call: SpeechCall, candidate: Candidate, state: CallState): CallAt<SpeechCall> {
  return { call, endpoint: candidate.endpoint, context: state.contextOf(candidate) }
}

function adapterAt({ endpoint: { deployment } }: Candidate, { serving }: CallState): SpeechAdapter {
  const adapter = serving.adaptersOf(deployment).speech
  if (adapter) return adapter
  throw new GatewayError('no_matching_endpoint', `${deployment.providerName} does not synthesize speech.`)
}

/** The contract has no 504 for speech: a call out of its time is one that the provider did not answer in time. */
function withoutDeadline(error: unknown): unknown {
  if (!(error instanceof GatewayError) || error.type !== 'deadline') return error
  return new GatewayError('provider_timeout', error.message, { cause: error })
}

interface SpeechWork {
  call: SpeechCall
  plan: Pick<Plan<unknown>, 'settlement'>
  state: CallState
  dependencies: ExecutionDependencies
}

function speechBody(
  answered: Answered<OpenedSpeech>,
  work: SpeechWork,
): { body: ReadableStream<Uint8Array>; ended: Promise<void> } {
  const { value: opened } = answered
  const { promise: ended, resolve: finish } = Promise.withResolvers<void>()
  let isOver = false
  let shown: ReadableStreamDefaultController<Uint8Array> | null = null
  const settle = (ending: CallEnding) => settleSpeech(answered, work, ending)
  const watch = work.dependencies.streamWatch.add({
    onSilence: () => undefined,
    onDeadline: () => void leave('deadline'),
    deadlineMs: work.state.remainingMs(),
  })
  const { signal } = work.state.scope
  const over = () => {
    isOver = true
    signal.removeEventListener('abort', onAbort)
    watch.stop()
    finish()
  }
  const onAbort = () => void leave('caller')
  const settleBroken = (ending: CallEnding) => settle(ending).catch((error) => warnLate(error, work))
  const leave = async (why: 'caller' | 'deadline') => {
    if (isOver) return
    over()
    opened.close()
    // Whoever still listens must neither wait for more nor take this for the end.
    if (why === 'deadline')
      shown?.error(new GatewayError('provider_timeout', 'The call ran out of its time.'))
    await settleBroken('cancelled')
  }
  // A caller can be gone before anybody pulls; then neither pull nor cancel is ever called.
  if (signal.aborted) onAbort()
  else signal.addEventListener('abort', onAbort, { once: true })
  const body = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        shown = controller
      },
      pull: async (controller) => {
        try {
          const bytes = await opened.next()
          if (isOver) return
          if (bytes !== null) return controller.enqueue(bytes)
          await settle('completed')
          if (isOver) return
          if (opened.tail && opened.tail.byteLength > 0) controller.enqueue(opened.tail)
          controller.close()
          over()
        } catch (error) {
          if (isOver) return
          if (work.state.scope.signal.aborted) return leave('caller')
          // An upstream break after the first byte can only end the stream, so that nobody takes a part for the whole.
          noteBreak(error, answered, work)
          await shownHasLeft()
          if (isOver) return
          over()
          opened.close()
          controller.error(error)
          // A provider that was kept waiting gives up: then it is the caller who left.
          await settleBroken(opened.rest.wasJustLong ? 'cancelled' : 'failed')
        }
      },
      cancel: () => leave('caller'),
    },
    { highWaterMark: 0 },
  )
  return { body, ended }
}

/** The server sends what it was given in one turn of the event loop by the end of the next; an error before takes its place. */
async function shownHasLeft(): Promise<void> {
  await nextTurn()
  await nextTurn()
}

function warnLate(error: unknown, { dependencies }: SpeechWork): void {
  dependencies.warn('a capture of broken speech is late', { error: String(error) })
}

/** For the log, and for the provider's health unless the caller kept it waiting or the money did not become durable. */
function noteBreak(
  error: unknown,
  { attempt, endpoint, value }: Answered<OpenedSpeech>,
  { state, dependencies }: SpeechWork,
): void {
  const failure = failureOf(error, attempt)
  state.scope.facts.errorType = failure.error.type
  if (failure.retryElsewhere && !value.rest.wasJustLong)
    dependencies.health.recordFailure(endpoint, failure, state.noteFailure(attempt, failure))
}

/** The whole input once at least one whole frame or sample was delivered, however the speech then ended; nothing before. */
async function settleSpeech(
  answered: Answered<OpenedSpeech>,
  work: SpeechWork,
  ending: CallEnding,
): Promise<void> {
  const { state, plan, call } = work
  if (plan.settlement.isSettled) return
  answered.attempt.endedMs = state.elapsedMs()
  const { hasDelivered } = answered.value.stream
  if (ending !== 'completed' && !hasDelivered) return plan.settlement.release()
  const covered = coveredCharge(state, plan.settlement, {
    attempt: answered.attempt,
    reading: readingOf(call, answered),
    ending,
  })
  const { row } = covered instanceof Promise ? await covered : covered
  await plan.settlement.capture(row, hasDelivered ? 'part' : 'nothing')
}

function readingOf({ demand }: SpeechCall, { endpoint, value }: Answered<OpenedSpeech>): MeterReading {
  const usage = speechUsage(demand, endpoint, value.stream.billed ?? {})
  return {
    usage,
    source: usage === null ? 'estimated' : 'provider',
    finishReason: null,
    nativeFinishReason: null,
    upstreamId: null,
    upstreamModel: null,
    mediaTokens: null,
    serviceTier: null,
    outputBytes: 0,
    // Only what was delivered is settled; a call without any output would cost a caller who left nothing.
    outputPieces: 1,
    reportedCostNanocredits: null,
  }
}
