import type { Endpoint } from '../../canonical/endpoint.ts'
import { priceWith, unknownSurcharges } from '../../canonical/surcharges.ts'
import type { Demand, Price, PriceUnit, TimeRules, Usage } from '../../canonical/usage.ts'
import { costOf } from '../../core/money.ts'
import type { PricedQuantity } from '../../core/money.ts'
import { featuresOf, hourlySurcharges, timeTerm, withShares } from './surcharge-cost.ts'

/** What a usage costs at a price. Prompt and completion parts add up to the cost. */
export interface Charge {
  costNanocredits: bigint
  /** Input tokens, transcribed audio, synthesized characters and the fee per request. */
  promptNanocredits: bigint
  completionNanocredits: bigint
  /** Units that were used and have no price: the cost is a lower bound. */
  unpricedUnits: readonly PriceUnit[]
  /** A surcharge applies whose amount is not known and which was not charged: the cost is an estimate. */
  lacksSurcharge: boolean
}

/**
 * Prices a usage, exactly and rounded once. Rules where a price is not stated: cached and written input costs what
 * input costs, and input written for an hour what other written input costs; a fee per request is only charged when stated; audio is priced by time, characters, bytes or by tokens, and
 * the other bases need no price when one has it; every other unit is reported as unpriced and not guessed, but for
 * heard audio, which costs at least what text does. Every surcharge of the price is charged: `priceWith` leaves out those
 * of features that a call did not ask for.
 */
export function chargeOf(usage: Usage, price: Price): Charge {
  const unpriced: PriceUnit[] = []
  const prompt: PricedQuantity[] = []
  const completion: PricedQuantity[] = []
  const isPricedOtherwise = pricesTime(price)
  const add = (
    terms: PricedQuantity[],
    quantity: number,
    unit: PriceUnit,
    stated: bigint | undefined,
  ): void => {
    if (quantity === 0) return
    if (stated !== undefined) terms.push({ quantity, price: stated })
    else if (!isPricedOtherwise) {
      unpriced.push(unit)
      // What is heard never costs less than what is read, and is held and estimated so.
      if (unit === 'inputAudioToken') terms.push({ quantity, price: price.inputToken ?? 0n })
    }
  }
  const parts = partsOf(usage)
  add(prompt, parts.plainInput, 'inputToken', price.inputToken)
  add(prompt, parts.cachedInput, 'cachedInputToken', price.cachedInputToken ?? price.inputToken)
  const written = price.cacheWriteToken ?? price.inputToken
  add(prompt, parts.writtenInput, 'cacheWriteToken', written)
  add(prompt, parts.hourInput, 'cacheWriteHourToken', price.cacheWriteHourToken ?? written)
  add(prompt, parts.audioInput, 'inputAudioToken', price.inputAudioToken)
  add(completion, parts.plainOutput, 'outputToken', price.outputToken)
  add(completion, parts.audioOutput, 'outputAudioToken', price.outputAudioToken)
  const seconds = billedMilliseconds(usage, price)
  prompt.push(...soundTerms(usage, price))
  if (!isPricedBySound(usage, price)) {
    if (usage.audioMilliseconds > 0) unpriced.push('audioHour')
    if (usage.characters > 0) unpriced.push('character')
  }
  const fees = price.request === undefined ? [] : [{ quantity: 1, price: price.request }]
  const paid = [...withShares(prompt, price), ...hourlySurcharges(seconds, price), ...fees]
  const costNanocredits = costOf([...paid, ...withShares(completion, price)])
  const promptNanocredits = costOf(paid)
  return {
    costNanocredits,
    promptNanocredits,
    completionNanocredits: costNanocredits - promptNanocredits,
    unpricedUnits: unpriced,
    lacksSurcharge: unknownSurcharges(price).length > 0,
  }
}

/** The audio that was heard and the text that was spoken, by every unit of them that has a price. */
function soundTerms(usage: Usage, price: Price): PricedQuantity[] {
  const terms: PricedQuantity[] = []
  if (price.audioHour !== undefined) terms.push(timeTerm(billedMilliseconds(usage, price), price.audioHour))
  if (price.character !== undefined) terms.push({ quantity: usage.characters, price: price.character })
  if (price.utf8Byte !== undefined) terms.push({ quantity: usage.utf8Bytes, price: price.utf8Byte })
  return terms
}

/** Whether audio and characters have their price, be it by tokens or by another unit of the same sound. */
function isPricedBySound(usage: Usage, price: Price): boolean {
  return (
    (usage.inputTokens + usage.outputTokens > 0 && pricesTokens(price)) ||
    (usage.audioMilliseconds > 0 && price.audioHour !== undefined) ||
    (usage.characters > 0 && price.character !== undefined) ||
    (usage.utf8Bytes > 0 && price.utf8Byte !== undefined)
  )
}

/** The time that is billed for audio of a length, as the price counts it; no audio is no time. */
export function billedMilliseconds(
  { audioMilliseconds, audioChannels }: Pick<Usage, 'audioMilliseconds' | 'audioChannels'>,
  { minimumMilliseconds = 0, roundToMilliseconds = 0, isPerChannel = false }: TimeRules,
): number {
  if (audioMilliseconds === 0) return 0
  const least = Math.max(audioMilliseconds, minimumMilliseconds)
  const whole =
    roundToMilliseconds === 0 ? least : Math.ceil(least / roundToMilliseconds) * roundToMilliseconds
  return isPerChannel === true ? whole * Math.max(1, audioChannels) : whole
}

interface TokenParts {
  plainInput: number
  cachedInput: number
  /** Written for the provider's usual time. */
  writtenInput: number
  hourInput: number
  audioInput: number
  plainOutput: number
  audioOutput: number
}

/** Totals include their parts, so what is left after the parts is charged as plain input and output. */
function partsOf(usage: Usage): TokenParts {
  const cachedInput = Math.min(usage.cachedInputTokens, usage.inputTokens)
  const written = Math.min(usage.cacheWriteTokens, usage.inputTokens - cachedInput)
  const hourInput = Math.min(usage.cacheWriteHourTokens, written)
  const audioInput = Math.min(usage.inputAudioTokens, usage.inputTokens - cachedInput - written)
  const audioOutput = Math.min(usage.outputAudioTokens, usage.outputTokens)
  return {
    plainInput: usage.inputTokens - cachedInput - written - audioInput,
    cachedInput,
    writtenInput: written - hourInput,
    hourInput,
    audioInput,
    plainOutput: usage.outputTokens - audioOutput,
    audioOutput,
  }
}

function pricesTime(price: Price): boolean {
  return price.audioHour !== undefined || price.character !== undefined || price.utf8Byte !== undefined
}

function pricesTokens(price: Price): boolean {
  return (
    price.inputToken !== undefined ||
    price.inputAudioToken !== undefined ||
    price.outputToken !== undefined ||
    price.outputAudioToken !== undefined
  )
}

/** Price units in words, for messages. */
const unitNames: Record<PriceUnit, string> = {
  inputToken: 'input tokens',
  cachedInputToken: 'cached input tokens',
  cacheWriteToken: 'cache writes',
  cacheWriteHourToken: 'cache writes for an hour',
  inputAudioToken: 'input audio tokens',
  outputToken: 'output tokens',
  outputAudioToken: 'output audio tokens',
  audioHour: 'audio time',
  diarizedHour: 'telling speakers apart',
  keytermHour: 'key terms',
  entityHour: 'entities',
  editHour: 'editing the transcript',
  roleHour: 'speaker roles',
  character: 'characters',
  utf8Byte: 'bytes of text',
  request: 'requests',
}

/**
 * What a call of this demand would use on an endpoint that has no price for it, in words; empty when the worst case can
 * be priced. On prepaid and limited accounts such an endpoint is refused before anything is spent. A surcharge of unknown
 * amount counts only where the operator refuses what has no known price: it must not close a feature by itself.
 */
export function missingPrices(
  demand: Demand,
  endpoint: Endpoint,
  refusesUnknownPrices = false,
): readonly string[] {
  const missing = unitsOf(endpoint, demand).filter((unit) => endpoint.price[unit] === undefined)
  if (refusesUnknownPrices && endpoint.modality === 'transcription')
    missing.push(...unknownSurcharges(priceWith(endpoint.price, featuresOf(demand, endpoint))))
  return missing.map((unit) => unitNames[unit])
}

function unitsOf(endpoint: Endpoint, demand: Demand): readonly PriceUnit[] {
  const { price } = endpoint
  switch (endpoint.modality) {
    case 'language': {
      const hears = (demand.audioInputTokens ?? 0) > 0
      const input: PriceUnit[] = hears ? ['inputToken', 'inputAudioToken'] : ['inputToken']
      return demand.outputTokensMax === 0 ? input : [...input, 'outputToken']
    }
    case 'embedding':
      return ['inputToken']
    case 'transcription':
      if (price.audioHour !== undefined || !pricesTokens(price)) return ['audioHour']
      return [price.inputAudioToken === undefined ? 'inputToken' : 'inputAudioToken', 'outputToken']
    case 'speech':
      if (pricesTime(price)) return []
      if (!pricesTokens(price)) return ['character']
      return ['inputToken', price.outputAudioToken === undefined ? 'outputToken' : 'outputAudioToken']
  }
}
