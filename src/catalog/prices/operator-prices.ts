import { surchargeMembers } from '../../canonical/surcharges.ts'
import { surchargedFeatures, writtenPrices } from '../../canonical/usage.ts'
import type {
  Price,
  PriceUnit,
  SurchargedFeature,
  TimeRules,
  WrittenPrice,
  WrittenPriceRow,
} from '../../canonical/usage.ts'
import { parseCredits } from '../../core/money.ts'

/**
 * Prices as operators write them: in decimal USD; and how the time of audio is counted, in seconds. An absent member
 * says nothing about its unit; `"0"` means free.
 */
export type OperatorPrices = { [Member in WrittenPrice]?: string | number | undefined } & {
  /** The prices that differ at a service tier, by the name of the tier. */
  service_tiers?: Readonly<Record<string, OperatorPrices>> | undefined
  minimum_seconds?: number | undefined
  round_to_seconds?: number | undefined
  per_channel?: boolean | 'when_asked' | undefined
  /** What a transcription costs in addition when the call asks for a feature. */
  surcharges?: Readonly<Partial<Record<SurchargedFeature, Surcharge | undefined>>> | undefined
}

/**
 * In percent of the audio's cost, or in USD for the audio's time; `minimum_seconds` is the least time that a call with
 * the feature is billed for. `unknown`: there is a surcharge, and no source tells its amount.
 */
export type Surcharge =
  | (({ percent: string | number } | { per_minute: string | number } | { per_hour: string | number }) & {
      minimum_seconds?: number | undefined
    })
  | 'unknown'

/**
 * Written prices as nanocredits per million units, exact to a billionth of the written amount. Throws a RangeError that
 * names the member for a price that is not a decimal or is negative, and for two prices of one unit.
 */
export function parseOperatorPrices(prices: OperatorPrices): Price {
  const result: Partial<Record<PriceUnit, bigint>> = {}
  for (const [key, { unit, factor }] of rows) {
    const written = prices[key]
    if (written === undefined) continue
    if (result[unit] !== undefined)
      throw new RangeError(`${key} is a second price of the same time; state one`)
    result[unit] = amountOf(key, written, factor)
  }
  return { ...result, ...rulesOf(prices), ...surchargesOf(prices.surcharges ?? {}) }
}

const rows = Object.entries(writtenPrices) as readonly [WrittenPrice, WrittenPriceRow][]

/** Multiplies before it rounds, so that a price for a second is as exact as one for an hour. */
function amountOf(key: string, written: string | number, factor: bigint): bigint {
  const amount = parseCredits(written, factor)
  if (amount < 0n) throw new RangeError(`${key} is below zero; write 0 for what is free`)
  return amount
}

/**
 * A surcharge states both the amount and the share of its feature, so that it replaces an earlier one of either form.
 */
function surchargesOf(surcharges: NonNullable<OperatorPrices['surcharges']>): Price {
  const result: { -readonly [Member in keyof Price]: Price[Member] } = {}
  const unknown = surchargedFeatures.filter((feature) => surcharges[feature] === 'unknown')
  if (unknown.length > 0) result.surcharged = unknown
  const minimums: Partial<Record<SurchargedFeature, number>> = {}
  for (const feature of surchargedFeatures) {
    const stated = surcharges[feature]
    if (stated === undefined || stated === 'unknown') continue
    const { unit, share } = surchargeMembers[feature]
    result[unit] = hourlyOf(feature, stated)
    result[share] = millionthsOf(feature, stated)
    if (stated.minimum_seconds !== undefined) minimums[feature] = Math.round(stated.minimum_seconds * 1000)
  }
  if (Object.keys(minimums).length > 0) result.featureMinimums = minimums
  return result
}

function hourlyOf(feature: SurchargedFeature, stated: Exclude<Surcharge, 'unknown'>): bigint {
  const name = `surcharges.${feature}`
  if ('per_hour' in stated) return amountOf(`${name}.per_hour`, stated.per_hour, 1_000_000n)
  return 'per_minute' in stated ? amountOf(`${name}.per_minute`, stated.per_minute, 60n * 1_000_000n) : 0n
}

function millionthsOf(feature: SurchargedFeature, stated: Exclude<Surcharge, 'unknown'>): number {
  if (!('percent' in stated)) return 0
  const nano = amountOf(`surcharges.${feature}.percent`, stated.percent, 1n)
  const perMillionth = 100_000n
  if (nano % perMillionth !== 0n)
    throw new RangeError(`surcharges.${feature}.percent has more than four digits behind the point`)
  return Number(nano / perMillionth)
}

/**
 * Merges stated prices into a price. A text of speech is billed by characters or by bytes, so a stated price for one
 * removes the price for the other. A stated price for cache writes without one for an hour's writes removes the hour's
 * price: that belonged to the earlier price of writes.
 */
export function withStated(price: Price, stated: Price): Price {
  const merged = { ...price, ...stated }
  if (stated.cacheWriteToken !== undefined && stated.cacheWriteHourToken === undefined)
    delete merged.cacheWriteHourToken
  if (stated.utf8Byte === undefined && stated.character !== undefined) delete merged.utf8Byte
  if (stated.character === undefined && stated.utf8Byte !== undefined) delete merged.character
  return merged
}

/**
 * The price at each service tier that is `known` or stated in one of the lists. A unit that a list leaves out has its
 * known or usual price, and `completed` adds the prices that follow from the others.
 */
export function tierPricesOf(
  { price, known }: { price: Price; known: Readonly<Record<string, Price>> },
  lists: readonly OperatorPrices[],
  completed: (price: Price) => Price,
): Record<string, Price> | null {
  const tiers: Record<string, Price> = { ...known }
  for (const { service_tiers: stated = {} } of lists)
    for (const [tier, prices] of Object.entries(stated))
      tiers[tier] = completed(withStated(tiers[tier] ?? price, parseOperatorPrices(prices)))
  return Object.keys(tiers).length === 0 ? null : tiers
}

/** Operators write zero and false to undo a rule of another source, so these values are kept. */
function rulesOf(prices: OperatorPrices): TimeRules {
  const { minimum_seconds: minimum, round_to_seconds: step, per_channel: isPerChannel } = prices
  return {
    ...(minimum === undefined ? {} : { minimumMilliseconds: Math.round(minimum * 1000) }),
    ...(step === undefined ? {} : { roundToMilliseconds: Math.round(step * 1000) }),
    ...(isPerChannel === undefined ? {} : { isPerChannel }),
  }
}
