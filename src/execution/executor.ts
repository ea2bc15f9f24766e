import type { Call, SpeechCall, TextCall, TranscriptionCall } from '../canonical/call.ts'
import { isRemoteAudio } from '../canonical/audio.ts'
import { assert } from '../core/assert.ts'
import { nextTurn } from '../core/turns.ts'
import { withAvailability } from './availability.ts'
import type { ExecutionDependencies } from './dependencies.ts'
import { mayNeedGuard } from './guarded-addresses.ts'
import { isShortage } from './prepare.ts'
import { seekModel } from './missing-model.ts'
import { withFetchedMedia } from './remote-media.ts'
import { routedCallOf, routeModel } from './route-model.ts'
import type { Outcome, RequestScope } from './scope.ts'
import { executeSpeech } from './speech-call.ts'
import { executeText, isStepped } from './text-call.ts'
import { streamTranscript, type StreamedTranscript } from './transcript-stream.ts'
import { fetchAudio, knowAudio } from './transcription-audio.ts'
import { executeTranscription, type ShowText, type TranscriptionOutcome } from './transcription-call.ts'

/** The one path, for whoever calls: prepare, call, complete. Rejects with a GatewayError, having settled. */
export interface Executor {
  text(call: TextCall, scope: RequestScope): Promise<Outcome>
  transcription(call: TranscriptionCall, scope: RequestScope): Promise<TranscriptionOutcome>
  /** The same as a stream of events, which `encode` makes of the transcript. */
  transcriptionStream(
    call: TranscriptionCall,
    scope: RequestScope,
    encode: StreamedTranscript['encode'],
  ): Promise<Outcome>
  speech(call: SpeechCall, scope: RequestScope): Promise<Outcome>
  /** Tokens of a call's prompt, without making it. Throws as a call does whose model is not served. */
  countTokens(call: TextCall, scope: RequestScope): number
}

export function createExecutor(dependencies: ExecutionDependencies): Executor {
  return {
    text: (call, scope) =>
      available(
        call,
        // A large one was decoded in this turn.
        () =>
          isStepped(call)
            ? nextTurn().then(() => runText(call, scope, dependencies))
            : runText(call, scope, dependencies),
        dependencies,
      ),
    transcription: (call, scope) =>
      available(call, () => transcribe(call, scope, dependencies), dependencies),
    transcriptionStream: (call, scope, encode) =>
      streamTranscript(
        {
          run: (own, show) => available(call, () => transcribe(call, own, dependencies, show), dependencies),
          encode,
        },
        scope,
        dependencies,
      ),
    speech: (call, scope) => available(call, () => executeSpeech(call, scope, dependencies), dependencies),
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

/** Seeks a model nobody knows, and tells in the failure that is left whether a model could be served. */
function available<T>(call: Call, run: () => Promise<T>, dependencies: ExecutionDependencies): Promise<T> {
  return run().catch(async (error: unknown) => {
    try {
      return await seekModel(error, { model: call.model, run, dependencies })
    } catch (failure) {
      throw withAvailability(failure, call)
    }
  })
}

/**
 * Transcribes audio wherever it is. What is served may change while it is fetched; the call goes on with what it began
 * with. Audio that is left at its address is held as if it were long: where the balance does not cover that, its true
 * length may be one that it covers.
 */
async function transcribe(
  call: TranscriptionCall,
  scope: RequestScope,
  dependencies: ExecutionDependencies,
  show: ShowText | null = null,
): Promise<TranscriptionOutcome> {
  const serving = dependencies.serving()
  const own = { ...dependencies, serving: () => serving }
  const { audio } = call
  let known = await knowAudio(call, scope, own)
  try {
    return await executeTranscription(known.call, scope, own, show)
  } catch (error) {
    if (!isShortage(error) || !isRemoteAudio(audio) || !isRemoteAudio(known.call.audio)) throw error
    known = await fetchAudio(call, audio, { scope, dependencies: own })
    return await executeTranscription(known.call, scope, own, show)
  } finally {
    await known.dispose()
  }
}

/** Most calls have no media, and must not wait a turn for it. */
function runText(call: TextCall, scope: RequestScope, dependencies: ExecutionDependencies): Promise<Outcome> {
  return call.demand.hasUncountedInput === true || mayNeedGuard(call, dependencies)
    ? executeWithMedia(call, scope, dependencies)
    : executeText(call, scope, dependencies)
}

/** What is served may change while media is fetched; the call goes on with what it began with. */
async function executeWithMedia(
  call: TextCall,
  scope: RequestScope,
  dependencies: ExecutionDependencies,
): Promise<Outcome> {
  const serving = dependencies.serving()
  const own = { ...dependencies, serving: () => serving }
  return executeText(await withFetchedMedia(call, scope, own), scope, own)
}
