import type { CanonicalTranscription } from '../canonical/audio.ts'
import type { TranscriptionCall } from '../canonical/call.ts'
import type { Endpoint } from '../canonical/endpoint.ts'
import type { MeterReading } from '../canonical/upstream.ts'
import { noUsage } from '../canonical/usage.ts'
import { GatewayError } from '../core/errors.ts'
import { reportedDurationFactorMax, reportedDurationSlackMs } from '../core/limits/billing.ts'
import { answerBytesMax } from '../core/limits/calls.ts'
import { transcriptionRequirements } from '../formats/transcription/transcription-requirements.ts'
import { firstToAnswer, sendAttempt } from './attempts.ts'
import { CallState } from './call-state.ts'
import type { ExecutionParts } from './parts.ts'
import { prepare } from './prepare.ts'
import type { RequestScope } from './scope.ts'
import type { ShownCharge } from '../canonical/upstream.ts'

/** A transcript with its charge; the edge renders it in the medium the caller asked for. */
export interface TranscriptionOutcome {
  generationId: string
  transcription: CanonicalTranscription
  charge: ShownCharge
  provider: string
  endpoint: Endpoint
}

/** Transcribes: the audio was read to its end before, because its length decides the hold. */
export async function executeTranscription(
  call: TranscriptionCall,
  scope: RequestScope,
  parts: ExecutionParts,
): Promise<TranscriptionOutcome> {
  const state = new CallState(call, scope, parts)
  const plan = await prepare(call, transcriptionRequirements(call), state, parts)
  try {
    const answered = await firstToAnswer<CanonicalTranscription>(
      plan.endpoints,
      state,
      parts,
      async (endpoint, attempt) => {
        const adapter = parts.presetOf(endpoint.deployment.preset).adapters.transcription
        if (!adapter)
          throw new GatewayError(
            'no_matching_endpoint',
            `${endpoint.deployment.providerName} does not transcribe.`,
          )
        state.noteLosses({ dropped: adapter.dropped(call, endpoint) })
        const response = await sendAttempt(adapter.encode(call, endpoint), attempt, state, parts)
        attempt.firstTokenMs = attempt.headersMs
        const bytes = await response.readAll(answerBytesMax)
        attempt.endedMs = state.elapsedMs()
        return believable(adapter.decode(bytes, call, endpoint), call.measuredMilliseconds)
      },
    )
    const reading = readingOf(answered.value, call, answered.endpoint)
    const { row, shown } = state.charge(answered.attempt, reading, 'completed')
    await plan.settlement.capture(row, 'nothing')
    return {
      generationId: state.generationId,
      transcription: answered.value,
      charge: shown,
      provider: answered.endpoint.deployment.providerName,
      endpoint: answered.endpoint,
    }
  } catch (error) {
    plan.settlement.release()
    throw error
  }
}

/**
 * The length that is billed. Our own measure first: a provider tells whole seconds in one format of its answer and
 * fractions in another, and the same audio must not cost more in one of them. A length that only the provider told is
 * taken in whole seconds for that reason.
 */
function audioLengthOf({ durationSeconds }: CanonicalTranscription, call: TranscriptionCall): number {
  return call.measuredMilliseconds ?? Math.ceil(durationSeconds ?? 0) * 1000
}

/** The provider's token counts and the audio's length; without what the price asks for the meter estimates. */
function readingOf(
  transcription: CanonicalTranscription,
  call: TranscriptionCall,
  endpoint: Endpoint,
): MeterReading {
  const { tokens } = transcription
  const audioMilliseconds = audioLengthOf(transcription, call)
  const isKnown = isChargeable(transcription, audioMilliseconds, endpoint)
  return {
    usage: isKnown
      ? {
          ...noUsage,
          audioMilliseconds,
          inputTokens: tokens?.input ?? 0,
          inputAudioTokens: tokens?.inputAudio ?? 0,
          outputTokens: tokens?.output ?? 0,
        }
      : null,
    source: isKnown ? 'provider' : 'estimated',
    finishReason: null,
    nativeFinishReason: null,
    upstreamId: transcription.upstreamId,
    upstreamModel: null,
    mediaTokens: null,
    serviceTier: null,
    outputBytes: Buffer.byteLength(transcription.text),
    outputPieces: 0,
    reportedCostNanocredits: null,
  }
}

/** Without a length that no such audio can have, such as milliseconds for seconds: it would be shown to the caller. */
function believable(
  transcription: CanonicalTranscription,
  measuredMilliseconds: number | null,
): CanonicalTranscription {
  const { durationSeconds } = transcription
  if (durationSeconds === null || measuredMilliseconds === null) return transcription
  const longestMs = measuredMilliseconds * reportedDurationFactorMax + reportedDurationSlackMs
  return durationSeconds * 1000 <= longestMs ? transcription : { ...transcription, durationSeconds: null }
}

/**
 * Whether what is charged for was told. A length says nothing where tokens are billed, nor tokens where time is, and
 * neither do counts of none beside words: each would make the transcript free.
 */
function isChargeable(
  { tokens, text }: CanonicalTranscription,
  audioMilliseconds: number,
  { price }: Endpoint,
): boolean {
  if (price.audioMillisecond !== undefined) return audioMilliseconds > 0
  if ((price.inputAudioToken ?? price.inputToken) === undefined)
    return tokens !== null || audioMilliseconds > 0
  if (tokens === null || tokens.input === 0) return false
  return tokens.output > 0 || text === '' || (price.outputToken ?? 0n) === 0n
}
