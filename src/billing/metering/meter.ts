import type { Endpoint } from '../../canonical/endpoint.ts'
import { modalityRow } from '../../canonical/operation.ts'
import type { MeterReading } from '../../canonical/upstream.ts'
import { noUsage } from '../../canonical/usage.ts'
import type { Demand, Usage, UsageSource } from '../../canonical/usage.ts'
import {
  audioChannelsMax,
  imageTokensMax,
  inputTokensOfProviderMax,
  inputTokensPerByteMax,
  outputBeyondLimitFactor,
  outputTokensUnknown,
  providerRoundsMax,
  usageAudioMillisecondsMax,
  usageTokensMax,
} from '../../core/limits/billing.ts'
import { audioOfPrompt, meteredModalities, promptOf, type MeterContext } from './modalities.ts'

/** What a call consumed, and how far that may be trusted. */
export interface Metered {
  usage: Usage
  source: UsageSource
  /** What the provider reported where something else is charged; null where it reported nothing, or is believed. */
  disbelieved: Usage | null
}

/**
 * Usage for billing. What the provider reported counts when it can be true; what is missing or absurd is estimated from
 * what was asked and seen, and marked; only where nothing was answered is it zero.
 */
export function meter(reading: MeterReading, context: MeterContext): Metered {
  const { usage } = reading
  if (isNothing(reading, context)) {
    return { usage: noUsage, source: usage ? 'provider' : 'estimated', disbelieved: null }
  }
  if (usage && isWhole(usage, reading, context)) {
    const believed = withBelievedSides(usage, reading, context)
    const cleaned = withPrompt(withoutUnsentAudio(withinTotals(believed), context), context)
    if (cleaned === usage) return { usage, source: reading.source, disbelieved: null }
    return { usage: cleaned, source: 'estimated', disbelieved: usage }
  }
  return { usage: estimate(reading, context), source: 'estimated', disbelieved: usage }
}

/** Whether a report is one at all. One that is broken anywhere says nothing. */
function isWhole(usage: Usage, reading: MeterReading, context: MeterContext): boolean {
  return isPlausible(usage, reading, context) && !contradicts(usage, reading, context)
}

/** Input and output each as they were counted, as far as the request can have caused so much; else estimated, each for itself. */
function withBelievedSides(usage: Usage, reading: MeterReading, context: MeterContext): Usage {
  const isInput = isPromptWithin(usage, context)
  const isOutput = isWithinLimits(usage, context)
  if (isInput && isOutput) return usage
  const estimated = estimate(reading, context)
  const read = isInput ? usage : estimated
  const { outputTokens, reasoningTokens, outputAudioTokens } = isOutput ? usage : estimated
  return { ...read, outputTokens, reasoningTokens, outputAudioTokens }
}

/** Whether a prompt has what only its provider can count, on its way to this endpoint. */
export function isUncounted(demand: Demand, { searches }: Pick<Endpoint, 'searches'>): boolean {
  return demand.hasUncountedInput === true || searches === true
}

/**
 * Whether a request whose every byte is known can have had so many tokens. What has no bytes that tell its length is bounded
 * by the context alone, as in `isPlausible`.
 */
function isPromptWithin({ inputTokens }: Usage, { demand, endpoint }: MeterContext): boolean {
  const { inputBytes, images = 0 } = demand
  if (inputBytes === undefined || isUncounted(demand, endpoint)) return true
  return (
    inputTokens <= inputBytes * inputTokensPerByteMax + images * imageTokensMax + inputTokensOfProviderMax
  )
}

/**
 * Whether a call that was limited to so much output can have had so much. What a model thinks before it answers is for
 * some providers no part of that limit; the endpoint's own limit bounds it. Without any limit the context does. What is
 * believed so is charged as far as money covers it (`execution/covered-charge.ts`), since no hold was made for it.
 */
function isWithinLimits(
  { outputTokens, reasoningTokens }: Usage,
  { demand, endpoint }: MeterContext,
): boolean {
  const said = { outputTokens: outputTokens - reasoningTokens }
  if (!isBeyondLimit({ outputTokens }, { demand, endpoint })) return true
  const thinkingMax = endpoint.outputTokensMax ?? endpoint.contextLength ?? outputTokensUnknown
  return (
    reasoningTokens > 0 &&
    endpoint.reasons &&
    !isBeyondLimit(said, { demand, endpoint }) &&
    reasoningTokens <= Math.ceil(thinkingMax * demand.choices * outputBeyondLimitFactor)
  )
}

/** Whether there is more output than the call was limited to, and so more than its hold was for. */
export function isBeyondLimit(
  { outputTokens }: Pick<Usage, 'outputTokens'>,
  { demand, endpoint }: Pick<MeterContext, 'demand' | 'endpoint'>,
): boolean {
  if (!modalityRow(endpoint.modality).isConversation) return false
  const own = endpoint.outputTokensMax ?? Number.POSITIVE_INFINITY
  const limit = Math.min(demand.outputTokensMax ?? own, own)
  return outputTokens > Math.ceil(limit * demand.choices * outputBeyondLimitFactor)
}

/** Sound that nobody sent was not heard: where it has a price of its own such tokens are of the text. */
function withoutUnsentAudio(usage: Usage, { demand, endpoint }: MeterContext): Usage {
  const mayHaveHeard = demand.hasUncountedInput === true || (demand.audioInputTokens ?? 0) > 0
  const isDear = modalityRow(endpoint.modality).isConversation && endpoint.price.inputAudioToken !== undefined
  if (usage.inputAudioTokens === 0 || mayHaveHeard || !isDear) return usage
  return { ...usage, inputAudioTokens: 0 }
}

/** A prompt of no tokens beside an output is one that the provider did not count. */
function withPrompt(usage: Usage, context: MeterContext): Usage {
  const isMissing = usage.inputTokens === 0 && usage.outputTokens > 0 && context.demand.inputTokens > 0
  if (!isMissing || !modalityRow(context.endpoint.modality).isConversation) return usage
  return { ...usage, inputTokens: promptOf(context), inputAudioTokens: audioOfPrompt(context) }
}

/**
 * Nothing was answered: no piece of output and either a failure, a caller who left before anything came, or a model that
 * ended with a blank reason. An embedding has no output and a reason only sometimes, so there the usage itself says that
 * something was answered.
 */
function isNothing(reading: MeterReading, context: MeterContext): boolean {
  if (reading.outputBytes > 0 || reading.outputPieces > 0) return false
  if (context.ending === 'failed') return true
  // What the provider charges a caller who left is charged, whether or not a piece had come.
  if (context.ending === 'cancelled') return (reading.usage?.outputTokens ?? 0) === 0
  if (!modalityRow(context.endpoint.modality).isConversation) return false
  const hasOutput = (reading.usage?.outputTokens ?? 0) > 0
  if (hasOutput) return false
  return reading.finishReason === null || reading.finishReason === 'error'
}

const inputFields = [
  'inputTokens',
  'cachedInputTokens',
  'cacheWriteTokens',
  'cacheWriteHourTokens',
  'inputAudioTokens',
] as const
const outputFields = ['outputTokens', 'reasoningTokens', 'outputAudioTokens'] as const

function isPlausible(usage: Usage, reading: MeterReading, { demand, endpoint }: MeterContext): boolean {
  const { contextLength } = endpoint
  // Providers count special tokens beyond the context they state, but never by half.
  const tokensMax = contextLength === null ? usageTokensMax : Math.max(contextLength * 1.5 + 4_096, 65_536)
  const inputMax = Math.max(tokensMax, (contextLength ?? 0) * roundsOf(reading, { demand, endpoint }))
  for (const field of inputFields) if (!isCount(usage[field], inputMax)) return false
  for (const field of outputFields) if (!isCount(usage[field], tokensMax)) return false
  return (
    isCount(usage.audioMilliseconds, usageAudioMillisecondsMax) &&
    isCount(usage.audioChannels, audioChannelsMax) &&
    isCount(usage.characters, usageTokensMax) &&
    isCount(usage.utf8Bytes, usageTokensMax)
  )
}

/**
 * How often the provider asked the model, as far as the answer shows it: each time it may have filled the context. Once
 * where the request could not make it search.
 */
export function roundsOf(
  { providerCalls = 0 }: Pick<MeterReading, 'providerCalls'>,
  { demand, endpoint }: Pick<MeterContext, 'demand' | 'endpoint'>,
): number {
  return isUncounted(demand, endpoint) ? Math.min(providerRoundsMax, providerCalls + 1) : 1
}

function isCount(value: number, max: number): boolean {
  return Number.isSafeInteger(value) && value >= 0 && value <= max
}

/**
 * A report that says nothing was used, or no output was made, although output was seen, is a broken report; and so is one
 * of more characters than a text can have been billed for.
 */
function contradicts(usage: Usage, reading: MeterReading, context: MeterContext): boolean {
  return meteredModalities[context.endpoint.modality].contradicts(usage, reading, context)
}

/** Parts never exceed their totals; a report where they do is cut to them. */
export function withinTotals(usage: Usage): Usage {
  const cached = Math.min(usage.cachedInputTokens, usage.inputTokens)
  const written = Math.min(usage.cacheWriteTokens, usage.inputTokens - cached)
  const hour = Math.min(usage.cacheWriteHourTokens, written)
  const audioInput = Math.min(usage.inputAudioTokens, usage.inputTokens)
  const reasoning = Math.min(usage.reasoningTokens, usage.outputTokens)
  const audioOutput = Math.min(usage.outputAudioTokens, usage.outputTokens)
  const isWithin =
    cached === usage.cachedInputTokens &&
    written === usage.cacheWriteTokens &&
    hour === usage.cacheWriteHourTokens &&
    audioInput === usage.inputAudioTokens &&
    reasoning === usage.reasoningTokens &&
    audioOutput === usage.outputAudioTokens
  if (isWithin) return usage
  return {
    ...usage,
    cachedInputTokens: cached,
    cacheWriteTokens: written,
    cacheWriteHourTokens: hour,
    inputAudioTokens: audioInput,
    reasoningTokens: reasoning,
    outputAudioTokens: audioOutput,
  }
}

function estimate(reading: MeterReading, context: MeterContext): Usage {
  return meteredModalities[context.endpoint.modality].estimate(reading, context)
}
