import { isRemoteAudio } from '../canonical/audio.ts'
import type { Call, SpeechCall, TextCall, TranscriptionCall } from '../canonical/call.ts'
import { assert } from '../core/assert.ts'
import { nextTurn } from '../core/turns.ts'
import { withAvailability } from './preparing/availability.ts'
import type { ExecutionDependencies } from './dependencies.ts'
import { mayNeedGuard } from './fetched/guarded-addresses.ts'
import { asUntold, seekModel } from './preparing/missing-model.ts'
import type { Run } from './call/call-hooks.ts'
import { isShortage } from './preparing/prepare.ts'
import { withNamedFiles } from './fetched/named-files.ts'
import { withFetchedMedia } from './fetched/remote-media.ts'
import { routedCallOf, routeModel } from './preparing/route-model.ts'
import { carryOut, prepareCall, runCall } from './run-call.ts'
import type { Outcome, RequestScope } from './call/scope.ts'
import { speech } from './modalities/speech-call.ts'
import { isStepped, streamedText, wholeText } from './modalities/text-call.ts'
import { streamTranscript, type StreamedTranscript } from './modalities/transcript-stream.ts'
import { fetchAudio, knowAudio, type KnownAudio } from './modalities/transcription-audio.ts'
import {
  transcription,
  type TranscriptionKind,
  type TranscriptionOutcome,
} from './modalities/transcription-call.ts'

/**
 * The one path of live calls and batch items: finds what a call needs, then prepares and makes it. Rejects with a
 * GatewayError after the call is settled.
 */
export interface Executor {
  text(call: TextCall, scope: RequestScope): Promise<Outcome>
  transcription(call: TranscriptionCall, scope: RequestScope): Promise<TranscriptionOutcome>
  /** The same as a stream of events; `encode` turns the transcript into them. */
  transcriptionStream(
    call: TranscriptionCall,
    scope: RequestScope,
    encode: StreamedTranscript['encode'],
  ): Promise<Outcome>
  speech(call: SpeechCall, scope: RequestScope): Promise<Outcome>
  /**
   * Estimates the tokens of a call's prompt without making the call. Throws the same errors as a call when the model is
   * not served.
   */
  countTokens(call: TextCall, scope: RequestScope): number
}

export function createExecutor(dependencies: ExecutionDependencies): Executor {
  return {
    text: (call, scope) => runText(call, scope, dependencies),
    transcription: (call, scope) => transcribe(call, scope, dependencies),
    transcriptionStream: (call, scope, encode) =>
      streamTranscript({ run: (own) => transcribe(call, own, dependencies), encode }, scope, dependencies),
    speech: (call, scope) => speak(call, scope, dependencies),
    countTokens(call, scope) {
      const [endpoint] = routeModel(
        routedCallOf(call, [], scope, dependencies.serving()),
        call.model,
        dependencies,
      ).ordered
      assert(endpoint, 'a route has endpoints')
      const ratio = dependencies.learning.promptRatio(scope.principal.organizationId, endpoint.model)
      return Math.ceil(call.demand.inputTokens * ratio)
    },
  }
}

async function runText(
  call: TextCall,
  scope: RequestScope,
  dependencies: ExecutionDependencies,
): Promise<Outcome> {
  try {
    const seeking = seekModel(call, scope, dependencies)
    if (seeking !== null) await seeking
    // Decoding a large call has filled this turn of the event loop.
    if (isStepped(call)) await nextTurn()
    // Most calls have no media and skip this wait.
    const mayHaveMedia = call.demand.hasUncountedInput === true || mayNeedGuard(call, dependencies)
    const own = mayHaveMedia ? ofThisMoment(dependencies) : dependencies
    const known = mayHaveMedia ? await withMedia(call, scope, own) : call
    return await (call.stream
      ? runCall(streamedText, known, scope, own)
      : runCall(wholeText, known, scope, own))
  } catch (error) {
    throw told(error, call, dependencies)
  }
}

async function withMedia(
  call: TextCall,
  scope: RequestScope,
  dependencies: ExecutionDependencies,
): Promise<TextCall> {
  const whole = await withNamedFiles(call, scope.principal, dependencies)
  return withFetchedMedia(whole, scope, dependencies)
}

async function speak(
  call: SpeechCall,
  scope: RequestScope,
  dependencies: ExecutionDependencies,
): Promise<Outcome> {
  try {
    await seekModel(call, scope, dependencies)
    // Preparing a speech call takes half a millisecond, and many calls may arrive at once.
    const turn = dependencies.speechTurns.next()
    if (turn !== null) await turn
    return await runCall(speech, call, scope, dependencies)
  } catch (error) {
    throw told(error, call, dependencies)
  }
}

async function transcribe(
  call: TranscriptionCall,
  scope: RequestScope,
  dependencies: ExecutionDependencies,
): Promise<TranscriptionOutcome> {
  try {
    await seekModel(call, scope, dependencies)
    const own = ofThisMoment(dependencies)
    const prepared = await prepareTranscription(call, scope, own)
    try {
      return await carryOut(prepared.run)
    } finally {
      await prepared.dispose()
    }
  } catch (error) {
    throw told(error, call, dependencies)
  }
}

/**
 * For audio that stays at its address, the hold assumes a long recording. When the balance does not cover that hold,
 * the gateway fetches the audio: the balance may cover its true length.
 */
async function prepareTranscription(
  call: TranscriptionCall,
  scope: RequestScope,
  dependencies: ExecutionDependencies,
): Promise<{ run: Run<TranscriptionKind>; dispose: KnownAudio['dispose'] }> {
  const { audio } = call
  const known = await knowAudio(call, scope, dependencies)
  try {
    return { ...known, run: await prepareCall(transcription, known.call, scope, dependencies) }
  } catch (error) {
    await known.dispose()
    if (!isShortage(error) || !isRemoteAudio(audio) || !isRemoteAudio(known.call.audio)) throw error
  }
  const fetched = await fetchAudio(call, audio, { scope, dependencies })
  try {
    return { ...fetched, run: await prepareCall(transcription, fetched.call, scope, dependencies) }
  } catch (error) {
    await fetched.dispose()
    throw error
  }
}

/**
 * A reload may change what is served while the gateway fetches something for a call; the call keeps what it began with.
 */
function ofThisMoment(dependencies: ExecutionDependencies): ExecutionDependencies {
  const serving = dependencies.serving()
  return { ...dependencies, serving: () => serving }
}

/** The failure as the caller is told it, with `availability` when no model of the call could be served. */
function told(error: unknown, call: Call, dependencies: ExecutionDependencies): unknown {
  return withAvailability(asUntold(error, call.model, dependencies), call)
}
