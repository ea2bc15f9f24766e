import { speechUsage } from '../../billing/metering/speech-usage.ts'
import { createSpeechStream, speechContentType, wavHeader } from '../../audio/speech-stream.ts'
import type { Endpoint, PassedFormat } from '../../canonical/endpoint.ts'
import type { SpeechAdapter, SpeechReader } from '../../canonical/audio.ts'
import type { SpeechCall } from '../../canonical/call.ts'
import type { MeterReading, UpstreamFailure } from '../../canonical/upstream.ts'
import { assert } from '../../core/assert.ts'
import { GatewayError } from '../../core/errors.ts'
import { publicFetchMs } from '../../core/limits/calls.ts'
import { nextTurn } from '../../core/turns.ts'
import { speechRequirements } from '../../formats/speech/speech-requirements.ts'
import { CallerRest } from '../settling/caller-rest.ts'
import { CallerStream, type Leaving } from '../streams/caller-stream.ts'
import type { CallState } from '../call/call-state.ts'
import type { ExecutionDependencies } from '../dependencies.ts'
import { failureOf } from '../call/failures.ts'
import type { Answered, CallHooks, Run } from '../call/call-hooks.ts'
import { OpenedSpeech } from './opened-speech.ts'
import type { Candidate } from '../call/prepared.ts'
import { hasRemoteClips, withFetchedClips, type ClipFetching } from '../fetched/reference-clips.ts'
import type { Outcome } from '../call/scope.ts'
import { endingOfBreak, settle, settleEarly } from '../settling/settle.ts'

interface SpeechKind {
  call: SpeechCall
  answer: never
  reader: SpeechReader
  heard: OpenedSpeech
  outcome: Outcome
}

/**
 * Synthesizes speech. Bytes go to the caller as they arrive, the last of them once the capture is durable. The whole
 * input is charged once at least one whole frame or sample was delivered, however the speech then ended; nothing before
 * that.
 */
export const speech: CallHooks<SpeechKind> = {
  requirements: (call, state) => speechRequirements(call, makersIn(state)),
  wordsOf: ({ input, references }) => ({
    texts: [input, ...references.flatMap(({ transcript }) => transcript ?? [])],
    names: [],
  }),
  ask: (candidate, { call, state }) => ({
    candidate,
    adapter: adapterAt(candidate, state),
    at: { call, endpoint: candidate.endpoint, context: state.contextOf(candidate) },
  }),
  firstStep: ({ adapter, at }) => adapter.first(at),
  fetch: ({ call, state, dependencies }) =>
    hasRemoteClips(call) ? withFetchedClips(call, clipFetching(state, dependencies)) : null,
  async hear(reached, attempt, { call, state, dependencies }) {
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
  reading: ({ value, endpoint }, { call }) => readingOf(value, call, endpoint),
  hasShown: ({ stream }) => stream.hasDelivered,
  isOwed: ({ stream }) => stream.hasDelivered,
  leaves: { type: 'stream', open: openSpeech },
  failureOf: withoutDeadline,
}

async function openSpeech(
  answering: Promise<Answered<OpenedSpeech>>,
  run: Run<SpeechKind>,
): Promise<Outcome> {
  const answered = await answering
  const { state, call } = run
  state.scope.facts.firstByteMs = answered.attempt.firstTokenMs
  // A short answer waits for the capture as a whole, so that a capture that fails is an ordinary error response.
  if (answered.value.tail !== null) await settle(run, answered, 'completed')
  const { body, ended } = speechBody(answered, run)
  return {
    generationId: state.generationId,
    contentType: speechContentType(call),
    body,
    provider: answered.endpoint.deployment.providerName,
    ended,
  }
}

/** The models of the catalog that make a format; searched only when a caller has to be told of them. */
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

function adapterAt({ endpoint: { deployment } }: Candidate, { serving }: CallState): SpeechAdapter {
  const adapter = serving.adaptersOf(deployment).speech
  if (adapter) return adapter
  throw new GatewayError('no_matching_endpoint', `${deployment.providerName} does not synthesize speech.`)
}

/** The contract has no 504 for speech, so a call that ran out of its time is a `provider_timeout`. */
function withoutDeadline(error: unknown): unknown {
  if (!(error instanceof GatewayError) || error.type !== 'deadline') return error
  return new GatewayError('provider_timeout', error.message, { cause: error })
}

function speechBody(
  answered: Answered<OpenedSpeech>,
  run: Run<SpeechKind>,
): { body: ReadableStream<Uint8Array>; ended: Promise<void> } {
  const { value: opened } = answered
  const { state, dependencies } = run
  let shown: ReadableStreamDefaultController<Uint8Array> | null = null
  const stream = new CallerStream(
    { signal: state.scope.signal, deadlineMs: state.remainingMs() },
    { onSilence: () => undefined, onLeave: (why) => void leave(why) },
    dependencies,
  )
  const leave = async (why: Leaving) => {
    if (!stream.end()) return
    opened.close()
    // A caller who still listens must neither wait for more nor take this for the end.
    if (why === 'deadline')
      shown?.error(new GatewayError('provider_timeout', 'The call ran out of its time.'))
    await settleEarly(run, answered, 'cancelled')
    stream.close()
  }
  const fail = async (thrown: unknown, controller: ReadableStreamDefaultController<Uint8Array>) => {
    if (stream.isOver) return
    if (state.scope.signal.aborted) return leave('caller')
    // After the first byte, a provider's failure can only break the stream, so that the caller does not take a part for
    // the whole.
    const { error } = noteBreak(thrown, answered, run)
    await shownHasLeft()
    if (!stream.end()) return
    opened.close()
    controller.error(thrown)
    await settleEarly(run, answered, endingOfBreak(error, opened.rest))
    stream.close()
  }
  stream.listen()
  const body = new ReadableStream<Uint8Array>(
    {
      start(controller) {
        shown = controller
      },
      pull: async (controller) => {
        try {
          const bytes = await opened.next()
          if (stream.isOver) return
          if (bytes !== null) return controller.enqueue(bytes)
          await settle(run, answered, 'completed')
          if (!stream.end()) return
          if (opened.tail && opened.tail.byteLength > 0) controller.enqueue(opened.tail)
          controller.close()
          stream.close()
        } catch (error) {
          await fail(error, controller)
        }
      },
      cancel: () => leave('caller'),
    },
    { highWaterMark: 0 },
  )
  return { body, ended: stream.ended }
}

/**
 * The server sends the bytes of one turn of the event loop by the end of the next turn; an error before that replaces
 * them.
 */
async function shownHasLeft(): Promise<void> {
  await nextTurn()
  await nextTurn()
}

/**
 * Notes a break for the log, and for the provider's health unless the caller kept the provider waiting or the capture
 * failed.
 */
function noteBreak(
  thrown: unknown,
  { attempt, endpoint, value }: Answered<OpenedSpeech>,
  { call, state, dependencies }: Run<SpeechKind>,
): UpstreamFailure {
  const failure = failureOf(thrown, attempt)
  state.scope.facts.errorType = failure.error.type
  if (failure.retryElsewhere && !value.rest.wasJustLong) {
    const said = state.noteFailure(attempt, failure, () => speech.wordsOf(call))
    dependencies.health.recordFailure(endpoint, failure, said)
  }
  return failure
}

function readingOf({ stream }: OpenedSpeech, { demand }: SpeechCall, endpoint: Endpoint): MeterReading {
  const usage = speechUsage(demand, endpoint, stream.billed ?? {})
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
    // Only delivered speech is settled, and the meter charges nothing for a cancelled answer without output.
    outputPieces: 1,
    reportedCostNanocredits: null,
  }
}
