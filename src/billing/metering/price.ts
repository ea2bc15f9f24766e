import { unknownSurcharges } from '../../canonical/surcharges.ts'
import { countedUnits } from '../../canonical/usage.ts'
import type { Price, PriceUnit, TimeRules, Usage } from '../../canonical/usage.ts'
import { CostSum } from '../../core/money.ts'
import { addHourlySurcharges, addShares, addTime } from './surcharge-cost.ts'

/** What a usage costs at a price. Prompt and completion parts add up to the cost. */
export interface Cost {
  costNanocredits: bigint
  /** Input tokens, transcribed audio, synthesized characters and the fee per request. */
  promptNanocredits: bigint
  completionNanocredits: bigint
  /** Units that were used and have no price: the cost is a lower bound. */
  unpricedUnits: readonly PriceUnit[]
  /** A surcharge of unknown amount applies and was not charged: the cost is an estimate. */
  lacksSurcharge: boolean
}

/**
 * Prices a usage exactly and rounds once. Where a price is missing: cached and written input costs what input costs;
 * input written for an hour costs what other written input costs; a fee per request is charged only when there is one.
 * Audio is priced by time, characters, bytes or tokens; when one of these was used and has a price, the others need none. Heard audio
 * costs at least what text costs. Every other unit without a price is reported as unpriced. All surcharges of the
 * price are charged: `priceWith` has removed those of features that the call did not ask for.
 */
export function costOfUsage(usage: Usage, price: Price): Cost {
  const unpriced: PriceUnit[] = []
  const prompt = new CostSum()
  const completion = new CostSum()
  const isPricedOtherwise = isPricedByCounts(usage, price)
  const add = (sum: CostSum, quantity: number, unit: PriceUnit, stated: bigint | undefined): void => {
    if (quantity === 0) return
    if (stated !== undefined) sum.add(quantity, stated)
    else if (!isPricedOtherwise) {
      unpriced.push(unit)
      // Audio input never costs less than text input; holds and estimates assume the same.
      if (unit === 'inputAudioToken') sum.add(quantity, price.inputToken ?? 0n)
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
  if (isPricedOtherwise) addCounts(prompt, usage, price)
  addShares(prompt, price)
  addShares(completion, price)
  addHourlySurcharges(prompt, billedMilliseconds(usage, price), price)
  if (price.request !== undefined) prompt.add(1, price.request)
  unpriced.push(...unpricedCounts(usage, price))
  const promptNanocredits = prompt.rounded()
  prompt.addSum(completion)
  const costNanocredits = prompt.rounded()
  return {
    costNanocredits,
    promptNanocredits,
    completionNanocredits: costNanocredits - promptNanocredits,
    unpricedUnits: unpriced,
    lacksSurcharge: unknownSurcharges(price).length > 0,
  }
}

/** Adds the used quantities other than tokens, for every unit that has a price. */
function addCounts(sum: CostSum, usage: Usage, price: Price): void {
  if (price.audioHour !== undefined) addTime(sum, billedMilliseconds(usage, price), price.audioHour)
  for (const { unit, count } of countedUnits) {
    const stated = price[unit]
    if (stated !== undefined) sum.add(usage[count], stated)
  }
}

const none: readonly PriceUnit[] = []

/** Units other than tokens that were used, where the price has nothing for what was heard or spoken. */
function unpricedCounts(usage: Usage, price: Price): readonly PriceUnit[] {
  if (isPricedOnce(usage, price)) return none
  const unpriced: PriceUnit[] = usage.audioMilliseconds > 0 ? ['audioHour'] : []
  const counted = countedUnits.find(({ count }) => usage[count] > 0)
  if (counted) unpriced.push(counted.unit)
  return unpriced
}

/** Whether used audio and text have a price, by tokens or by another unit for the same thing. */
function isPricedOnce(usage: Usage, price: Price): boolean {
  return (usage.inputTokens + usage.outputTokens > 0 && pricesTokens(price)) || isPricedByCounts(usage, price)
}

/** Whether time, or another quantity than tokens, was used and has a price. */
function isPricedByCounts(usage: Usage, price: Price): boolean {
  if (usage.audioMilliseconds > 0 && price.audioHour !== undefined) return true
  for (const { unit, count } of countedUnits) if (usage[count] > 0 && price[unit] !== undefined) return true
  return false
}

/** The billed time for audio of a length, by the price's minimum and steps; 0 for no audio. */
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
  /** Cache writes with the provider's usual lifetime. */
  writtenInput: number
  hourInput: number
  audioInput: number
  plainOutput: number
  audioOutput: number
}

/** Splits the totals: what is left after their parts is charged as plain input and output. */
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

/** Whether time, or another quantity than tokens, has a price. */
export function pricesCounts(price: Price): boolean {
  if (price.audioHour !== undefined) return true
  for (const { unit } of countedUnits) if (price[unit] !== undefined) return true
  return false
}

/** Whether tokens of any kind have a price. */
export function pricesTokens(price: Price): boolean {
  return (
    price.inputToken !== undefined ||
    price.inputAudioToken !== undefined ||
    price.outputToken !== undefined ||
    price.outputAudioToken !== undefined
  )
}
