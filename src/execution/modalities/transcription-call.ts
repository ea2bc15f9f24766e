import { AttemptFailed } from '../../canonical/attempt-failed.ts'
import type { CanonicalTranscription, TranscriptionAdapter, TranscriptReader } from '../../canonical/audio.ts'
import type { TranscriptionCall } from '../../canonical/call.ts'
import type { Endpoint } from '../../canonical/endpoint.ts'
import type { MeterReading } from '../../canonical/upstream.ts'
import { featuresOf } from '../../billing/metering/surcharge-cost.ts'
import { priceWith, surchargeMembers } from '../../canonical/surcharges.ts'
import { noUsage, surchargedFeatures } from '../../canonical/usage.ts'
import type { Price } from '../../canonical/usage.ts'
import { GatewayError, toGatewayError } from '../../core/errors.ts'
import { audioChannelsMax } from '../../core/limits/billing.ts'
import { transcriptionRequirements } from '../../formats/transcription/transcription-requirements.ts'
import type { CallState } from '../call/call-state.ts'
import type { Attempt } from '../call/metadata.ts'
import type { CallHooks, Run } from '../call/call-hooks.ts'
import type { Candidate } from '../call/prepared.ts'
import type { UpstreamResponse } from '../../transport/exchange.ts'
import type { ShownCharge } from '../../canonical/upstream.ts'

/**
 * How far the duration that a provider reports may exceed the measured one and still be shown: the provider may count
 * every channel, or a minimum.
 */
const reportedDurationFactorMax = 2
const reportedDurationSlackMs = 60_000

/** A transcript with its charge; the edge renders it in the medium the caller asked for. */
export interface TranscriptionOutcome {
  generationId: string
  /** As it was made, with the measured length of its audio where the gateway measured it. */
  call: TranscriptionCall
  transcription: CanonicalTranscription
  charge: ShownCharge
  provider: string
  endpoint: Endpoint
}

/** A transcript, or the part of it that has come so far. */
interface HeardTranscript {
  transcription: CanonicalTranscription
  /** Whether the caller has been shown text of it, as events. */
  isShown: boolean
}

/** The types of a transcription on the one path. */
export interface TranscriptionKind {
  call: TranscriptionCall
  answer: CanonicalTranscription
  reader: TranscriptReader
  heard: HeardTranscript
  outcome: TranscriptionOutcome
}

/**
 * Transcribes. The audio's length, or a bound of it, is in the call, because it decides the hold. A caller who leaves
 * while the text is being shown pays for the audio, which the provider has heard.
 */
export const transcription: CallHooks<TranscriptionKind> = {
  requirements: (call) => transcriptionRequirements(call),
  wordsOf: ({ keyterms }) => ({ texts: keyterms, names: [] }),
  ask: (candidate, { call, state }) => ({
    candidate,
    adapter: adapterAt(candidate, state),
    at: { call, endpoint: candidate.endpoint, context: state.contextOf(candidate) },
  }),
  firstStep: ({ adapter, at }) => adapter.first(at),
  async hear(reached, attempt, run) {
    const { transcription: said, isShown } =
      reached.type === 'answer'
        ? { transcription: reached.answer, isShown: false }
        : await readStreamed(reached, attempt, run)
    return { transcription: believable(said, run.call.measuredMilliseconds), isShown }
  },
  reading: ({ value, endpoint }, { call }) => readingOf(value.transcription, call, endpoint),
  hasShown: ({ isShown }) => isShown,
  isOwed: (heard, ending) => ending === 'cancelled' && heard.transcription.text !== '',
  leaves: {
    type: 'whole',
    outcome: ({ endpoint, value }, charge, { call, state }) => ({
      generationId: state.generationId,
      call,
      transcription: value.transcription,
      charge,
      provider: endpoint.deployment.providerName,
      endpoint,
    }),
  },
}

interface Streamed {
  response: UpstreamResponse
  reader: TranscriptReader
}

/** Reads a transcript to its end and shows its text on the way. Once text was shown, no other endpoint is asked. */
async function readStreamed(
  { response, reader }: Streamed,
  attempt: Attempt,
  run: Run<TranscriptionKind>,
): Promise<HeardTranscript> {
  const { state } = run
  const { showText } = state.scope
  const shown = { transcription: { ...nothingHeard }, isShown: false }
  try {
    for (;;) {
      const { done, value } = await response.body.read()
      if (done) break
      const text = reader.push(value)
      if (text === '') continue
      attempt.firstTokenMs ??= state.elapsedMs()
      shown.transcription.text += text
      shown.isShown = showText !== undefined
      run.answered = { attempt, endpoint: attempt.endpoint, value: shown }
      showText?.(text)
    }
    attempt.firstTokenMs ??= state.elapsedMs()
    attempt.endedMs = state.elapsedMs()
    return { transcription: reader.end(), isShown: shown.isShown }
  } catch (thrown) {
    response.body.cancel()
    if (shown.transcription.text === '') throw thrown
    const last = { retryElsewhere: false, retrySame: false, credentialFault: false, retryAfterMs: null }
    throw new AttemptFailed({ error: toGatewayError(thrown), ...last })
  }
}

const nothingHeard: CanonicalTranscription = {
  text: '',
  language: null,
  durationSeconds: null,
  segments: null,
  words: null,
  confidence: null,
  languageConfidence: null,
  entities: null,
  tokens: null,
  upstreamId: null,
}

function adapterAt({ endpoint: { deployment } }: Candidate, { serving }: CallState): TranscriptionAdapter {
  const adapter = serving.adaptersOf(deployment).transcription
  if (adapter) return adapter
  throw new GatewayError('no_matching_endpoint', `${deployment.providerName} does not transcribe.`)
}

/**
 * The length that is billed. The gateway's own measure comes first: a provider reports whole seconds in one format of
 * its answer and fractions in another, and the same audio must not cost more in one of them. For the same reason, a
 * length that only the provider reports is rounded up to whole seconds.
 */
function audioLengthOf({ durationSeconds }: CanonicalTranscription, call: TranscriptionCall): number {
  return call.measuredMilliseconds ?? Math.ceil(durationSeconds ?? 0) * 1000
}

/** The gateway's own count comes first, as with the length; 0 where neither count is known. */
function channelsOf({ channels = 0 }: CanonicalTranscription, { demand }: TranscriptionCall): number {
  if (demand.audioChannels !== undefined) return demand.audioChannels
  return Number.isInteger(channels) && channels > 0 && channels <= audioChannelsMax ? channels : 0
}

/**
 * The provider's token counts and the audio's length. When a figure that the price needs is missing, the meter
 * estimates.
 */
function readingOf(heard: CanonicalTranscription, call: TranscriptionCall, endpoint: Endpoint): MeterReading {
  const { tokens } = heard
  const audioMilliseconds = audioLengthOf(heard, call)
  const isKnown = isChargeable(heard, audioMilliseconds, endpoint)
  const audioChannels = channelsOf(heard, call)
  const { isPerChannel } = priceWith(endpoint.price, featuresOf(call.demand, endpoint))
  const isCounted = isPerChannel !== true || audioChannels > 0
  return {
    usage: isKnown
      ? {
          ...noUsage,
          audioMilliseconds,
          audioChannels,
          inputTokens: tokens?.input ?? 0,
          inputAudioTokens: tokens?.inputAudio ?? 0,
          outputTokens: tokens?.output ?? 0,
        }
      : null,
    source: isKnown && isCounted ? 'provider' : 'estimated',
    finishReason: null,
    nativeFinishReason: null,
    upstreamId: heard.upstreamId,
    upstreamModel: null,
    mediaTokens: null,
    serviceTier: null,
    outputBytes: Buffer.byteLength(heard.text),
    outputPieces: 0,
    reportedCostNanocredits: null,
  }
}

/**
 * Removes a duration that this audio cannot have, such as milliseconds for seconds, because the caller would be shown
 * it.
 */
function believable(
  heard: CanonicalTranscription,
  measuredMilliseconds: number | null,
): CanonicalTranscription {
  const { durationSeconds } = heard
  if (durationSeconds === null || measuredMilliseconds === null) return heard
  const longestMs = measuredMilliseconds * reportedDurationFactorMax + reportedDurationSlackMs
  return durationSeconds * 1000 <= longestMs ? heard : { ...heard, durationSeconds: null }
}

/**
 * Whether the figure that is billed is known. A length does not help where tokens are billed, nor tokens where time is,
 * nor counts of zero beside a text: each would make the transcript free.
 */
function isChargeable(
  { tokens, text }: CanonicalTranscription,
  audioMilliseconds: number,
  { price }: Endpoint,
): boolean {
  if (needsLength(price) && audioMilliseconds === 0) return false
  if (price.audioHour !== undefined) return true
  if ((price.inputAudioToken ?? price.inputToken) === undefined)
    return tokens !== null || audioMilliseconds > 0
  if (tokens === null || tokens.input === 0) return false
  return tokens.output > 0 || text === '' || (price.outputToken ?? 0n) === 0n
}

/** Surcharges by the hour need the length, also where tokens are billed. */
function needsLength(price: Price): boolean {
  return (
    price.audioHour !== undefined ||
    surchargedFeatures.some((feature) => price[surchargeMembers[feature].unit] !== undefined)
  )
}
