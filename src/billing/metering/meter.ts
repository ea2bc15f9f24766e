import type { Endpoint } from '../../canonical/endpoint.ts'
import { modalityRow } from '../../canonical/operation.ts'
import type { MeterReading } from '../../canonical/upstream.ts'
import { noUsage } from '../../canonical/usage.ts'
import type { Demand, Usage, UsageSource } from '../../canonical/usage.ts'
import {
  audioChannelsMax,
  outputTokensUnknown,
  usageAudioMillisecondsMax,
  usageTokensMax,
} from '../../core/limits/billing.ts'
import { audioOfPrompt, meteredModalities, promptOf, type MeterContext } from './modalities.ts'

/** How much more output than a call allowed its provider is believed to count: for tokens that end an answer. */
const outputBeyondLimitFactor = 1.05
/**
 * The most input tokens that are believed of a request of known length. A text token has at least one byte. Providers add
 * instructions of their own: up to 1,900 tokens were seen for a greeting of a dozen bytes, and 2,200 for all tools of a
 * computer.
 */
const inputTokensPerByteMax = 1
const inputTokensOfProviderMax = 4_096
/** The most tokens that a picture was ever counted as: in the finest tiles, by a small model. */
const imageTokensMax = 50_000
/**
 * How often a provider may ask the model again within one call, with the results of its own tools; more is not
 * believed.
 */
const providerRoundsMax = 20

/** What a call consumed, and where the figures are from. */
export interface Metered {
  usage: Usage
  source: UsageSource
  /** What the provider reported, when something else is charged; null when it reported nothing or is believed. */
  disbelieved: Usage | null
}

/**
 * Usage for billing. The provider's report counts when it can be true. Missing or absurd figures are estimated from the
 * request and the answer, and marked as estimated. The usage is zero only when nothing was answered.
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

/** Whether every figure of a report can be true. When one is impossible, the whole report is ignored. */
function isWhole(usage: Usage, reading: MeterReading, context: MeterContext): boolean {
  return isPlausible(usage, reading, context) && !contradicts(usage, reading, context)
}

/** Believes input and output separately: each counts as reported if this request can have caused so much, and is estimated otherwise. */
function withBelievedSides(usage: Usage, reading: MeterReading, context: MeterContext): Usage {
  const isInput = isPromptWithin(usage, context)
  const isOutput = isWithinLimits(usage, context)
  if (isInput && isOutput) return usage
  const estimated = estimate(reading, context)
  const read = isInput ? usage : estimated
  const { outputTokens, reasoningTokens, outputAudioTokens } = isOutput ? usage : estimated
  return { ...read, outputTokens, reasoningTokens, outputAudioTokens }
}

/** Whether the prompt sent to this endpoint has parts that only the provider can count, such as search results. */
export function isUncounted(demand: Demand, { searches }: Pick<Endpoint, 'searches'>): boolean {
  return demand.hasUncountedInput === true || searches === true
}

/**
 * Whether a request can have had so many tokens, when the length of all its parts is known. When it has a part of
 * unknown length, only the context bounds it, as in `isPlausible`.
 */
function isPromptWithin({ inputTokens }: Usage, { demand, endpoint }: MeterContext): boolean {
  const { inputBytes, images = 0 } = demand
  if (inputBytes === undefined || isUncounted(demand, endpoint)) return true
  return (
    inputTokens <= inputBytes * inputTokensPerByteMax + images * imageTokensMax + inputTokensOfProviderMax
  )
}

/**
 * Whether a call with an output limit can have had so much output. Some providers do not count thinking towards the
 * caller's limit; then the endpoint's own limit bounds the thinking, or the context when the endpoint has none. No hold
 * was made for such thinking, so it is charged as far as money covers it (`execution/settling/covered-charge.ts`).
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

/** Whether the output exceeds the call's limit, and therefore its hold. */
export function isBeyondLimit(
  { outputTokens }: Pick<Usage, 'outputTokens'>,
  { demand, endpoint }: Pick<MeterContext, 'demand' | 'endpoint'>,
): boolean {
  if (!modalityRow(endpoint.modality).isConversation) return false
  const own = endpoint.outputTokensMax ?? Number.POSITIVE_INFINITY
  const limit = Math.min(demand.outputTokensMax ?? own, own)
  return outputTokens > Math.ceil(limit * demand.choices * outputBeyondLimitFactor)
}

/** Counts audio input as text when the request had no audio and audio has a price of its own. */
function withoutUnsentAudio(usage: Usage, { demand, endpoint }: MeterContext): Usage {
  const mayHaveHeard = demand.hasUncountedInput === true || (demand.audioInputTokens ?? 0) > 0
  const isDear = modalityRow(endpoint.modality).isConversation && endpoint.price.inputAudioToken !== undefined
  if (usage.inputAudioTokens === 0 || mayHaveHeard || !isDear) return usage
  return { ...usage, inputAudioTokens: 0 }
}

/** A report of output with zero prompt tokens: the provider did not count the prompt, so it is estimated. */
function withPrompt(usage: Usage, context: MeterContext): Usage {
  const isMissing = usage.inputTokens === 0 && usage.outputTokens > 0 && context.demand.inputTokens > 0
  if (!isMissing || !modalityRow(context.endpoint.modality).isConversation) return usage
  return { ...usage, inputTokens: promptOf(context), inputAudioTokens: audioOfPrompt(context) }
}

/**
 * Whether nothing was answered: there was no piece of output, and the call failed, or the caller left before anything
 * came, or the model ended without a finish reason. An embedding has no output and seldom a finish reason, so there a
 * completed call counts as answered.
 */
function isNothing(reading: MeterReading, context: MeterContext): boolean {
  if (reading.outputBytes > 0 || reading.outputPieces > 0) return false
  if (context.ending === 'failed') return true
  // When the provider reports output for a caller who left, the caller pays for it, even if no piece had arrived.
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
  // Providers also count special tokens, beyond the context length they state, but never half as many again.
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
 * How often the provider called the model, as far as the answer shows it; each call may have filled the context. Once
 * when the request could not make the provider search.
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
 * Whether a report contradicts the answer: it says that nothing was used or no output was made although there was
 * output, or it has more characters than the text can have been billed for.
 */
function contradicts(usage: Usage, reading: MeterReading, context: MeterContext): boolean {
  return meteredModalities[context.endpoint.modality].contradicts(usage, reading, context)
}

/** Cuts parts to their totals: a report may have more cached input than input. */
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
