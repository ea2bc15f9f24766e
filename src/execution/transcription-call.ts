import { AttemptFailed } from '../canonical/attempt-failed.ts'
import type { CanonicalTranscription, TranscriptionAdapter, TranscriptReader } from '../canonical/audio.ts'
import type { TranscriptionCall } from '../canonical/call.ts'
import type { Endpoint } from '../canonical/endpoint.ts'
import type { CallAt } from '../canonical/steps.ts'
import type { MeterReading } from '../canonical/upstream.ts'
import { featuresOf } from '../billing/metering/surcharge-cost.ts'
import { priceWith, surchargeMembers } from '../canonical/surcharges.ts'
import { noUsage, surchargedFeatures } from '../canonical/usage.ts'
import type { Price } from '../canonical/usage.ts'
import { assert } from '../core/assert.ts'
import { GatewayError, toGatewayError } from '../core/errors.ts'
import {
  audioChannelsMax,
  reportedDurationFactorMax,
  reportedDurationSlackMs,
} from '../core/limits/billing.ts'
import { transcriptionRequirements } from '../formats/transcription/transcription-requirements.ts'
import { firstToAnswer } from './attempts.ts'
import { CallState } from './call-state.ts'
import { coveredCharge } from './covered-charge.ts'
import { exchange } from './exchanges.ts'
import type { ExecutionDependencies } from './dependencies.ts'
import { prepare } from './prepare.ts'
import type { Candidate } from './prepared.ts'
import type { RequestScope } from './scope.ts'
import type { Settlement } from './settlement.ts'
import type { Attempt } from './metadata.ts'
import type { UpstreamResponse } from '../transport/http-client.ts'
import type { ShownCharge } from '../canonical/upstream.ts'

/** A transcript with its charge; the edge renders it in the medium the caller asked for. */
export interface TranscriptionOutcome {
  generationId: string
  /** As it was made: with its audio measured, where it was. */
  call: TranscriptionCall
  transcription: CanonicalTranscription
  charge: ShownCharge
  provider: string
  endpoint: Endpoint
}

/** Told of text as it comes, where the provider streams it. */
export type ShowText = (text: string) => void

/** Transcribes. The audio's length, or a bound of it, is in the call, because it decides the hold. */
export async function executeTranscription(
  call: TranscriptionCall,
  scope: RequestScope,
  dependencies: ExecutionDependencies,
  show: ShowText | null = null,
): Promise<TranscriptionOutcome> {
  let shown = ''
  let isCaptured = false
  const showText = (text: string) => {
    shown += text
    show?.(text)
  }
  const state = new CallState(call, scope, dependencies)
  const stepAt = (candidate: Candidate) => adapterAt(candidate, state).first(askedAt(call, candidate, state))
  const plan = await prepare(
    { requirements: transcriptionRequirements(call), firstStep: stepAt },
    state,
    dependencies,
  )
  const { route } = plan.prepared
  try {
    const answered = await firstToAnswer<CanonicalTranscription>(
      route,
      state,
      dependencies,
      async (candidate, attempt) => {
        const first = candidate === route[0] ? plan.first : stepAt(candidate)
        const asked = askedAt(call, candidate, state)
        const work = { attempt, state, dependencies }
        const reached = await exchange(adapterAt(candidate, state), first, asked, work)
        const heard =
          reached.type === 'answer'
            ? reached.answer
            : await readStreamed(reached, attempt, { state, showText })
        return believable(heard, call.measuredMilliseconds)
      },
    )
    const reading = readingOf(answered.value, call, answered.endpoint)
    const covered = coveredCharge(state, plan.settlement, {
      attempt: answered.attempt,
      reading,
      ending: 'completed',
    })
    const { row, shown: charge } = covered instanceof Promise ? await covered : covered
    isCaptured = true
    await plan.settlement.capture(row, 'nothing')
    return {
      generationId: state.generationId,
      call,
      transcription: answered.value,
      charge,
      provider: answered.endpoint.deployment.providerName,
      endpoint: answered.endpoint,
    }
  } catch (error) {
    if (shown !== '' && scope.signal.aborted && !isCaptured) await captureShown(shown, state, plan.settlement)
    else plan.settlement.release()
    throw error
  }
}

interface Streamed {
  response: UpstreamResponse
  reader: TranscriptReader
}

/** Reads a transcript to its end and shows its text on the way. What has been shown cannot be asked of another endpoint. */
async function readStreamed(
  { response, reader }: Streamed,
  attempt: Attempt,
  { state, showText }: { state: CallState; showText: ShowText },
): Promise<CanonicalTranscription> {
  let isShown = false
  try {
    for (;;) {
      const { done, value } = await response.body.read()
      if (done) break
      const text = reader.push(value)
      if (text === '') continue
      attempt.firstTokenMs ??= state.elapsedMs()
      isShown = true
      showText(text)
    }
    attempt.firstTokenMs ??= state.elapsedMs()
    attempt.endedMs = state.elapsedMs()
    return reader.end()
  } catch (thrown) {
    response.body.cancel()
    if (!isShown) throw thrown
    const last = { retryElsewhere: false, retrySame: false, credentialFault: false, retryAfterMs: null }
    throw new AttemptFailed({ error: toGatewayError(thrown), ...last })
  }
}

/** A caller who leaves in the middle has had what was shown, and pays for the sound, which its provider has heard. */
async function captureShown(text: string, state: CallState, settlement: Settlement): Promise<void> {
  const attempt = state.attempts.at(-1)
  assert(attempt, 'what was shown came of an attempt')
  const call = state.call as TranscriptionCall
  const reading = readingOf({ ...nothingHeard, text }, call, attempt.endpoint)
  const { row } = await coveredCharge(state, settlement, { attempt, reading, ending: 'cancelled' })
  await settlement.capture(row, 'part')
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

function askedAt(call: TranscriptionCall, candidate: Candidate, state: CallState): CallAt<TranscriptionCall> {
  return { call, endpoint: candidate.endpoint, context: state.contextOf(candidate) }
}

function adapterAt({ endpoint: { deployment } }: Candidate, { serving }: CallState): TranscriptionAdapter {
  const adapter = serving.adaptersOf(deployment).transcription
  if (adapter) return adapter
  throw new GatewayError('no_matching_endpoint', `${deployment.providerName} does not transcribe.`)
}

/**
 * The length that is billed. Our own measure first: a provider tells whole seconds in one format of its answer and
 * fractions in another, and the same audio must not cost more in one of them. A length that only the provider told is
 * taken in whole seconds for that reason.
 */
function audioLengthOf({ durationSeconds }: CanonicalTranscription, call: TranscriptionCall): number {
  return call.measuredMilliseconds ?? Math.ceil(durationSeconds ?? 0) * 1000
}

/** Our own count first, as with the length; 0 where neither tells. */
function channelsOf({ channels = 0 }: CanonicalTranscription, { demand }: TranscriptionCall): number {
  if (demand.audioChannels !== undefined) return demand.audioChannels
  return Number.isInteger(channels) && channels > 0 && channels <= audioChannelsMax ? channels : 0
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
  const audioChannels = channelsOf(transcription, call)
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
  if (needsLength(price) && audioMilliseconds === 0) return false
  if (price.audioHour !== undefined) return true
  if ((price.inputAudioToken ?? price.inputToken) === undefined)
    return tokens !== null || audioMilliseconds > 0
  if (tokens === null || tokens.input === 0) return false
  return tokens.output > 0 || text === '' || (price.outputToken ?? 0n) === 0n
}

/** Surcharges by the hour are charged by the length beside tokens too. */
function needsLength(price: Price): boolean {
  return (
    price.audioHour !== undefined ||
    surchargedFeatures.some((feature) => price[surchargeMembers[feature].unit] !== undefined)
  )
}
