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
 * Prices as people write them: USD, decimal; and how the time of audio is counted, in seconds. A member that is absent
 * says nothing about its unit; `"0"` says free.
 */
export type OperatorPrices = { [Member in WrittenPrice]?: string | number | undefined } & {
  /** By the name of a service tier, what differs there. */
  service_tiers?: Readonly<Record<string, OperatorPrices>> | undefined
  minimum_seconds?: number | undefined
  round_to_seconds?: number | undefined
  per_channel?: boolean | 'when_asked' | undefined
  /** What a transcription costs besides when it was asked for a feature. */
  surcharges?: Readonly<Partial<Record<SurchargedFeature, Surcharge | undefined>>> | undefined
}

/**
 * In percent of what the audio costs, or USD for the time of the audio, of which a call with the feature is billed so many
 * seconds at least; `unknown`: there is one, and nobody told how much.
 */
export type Surcharge =
  | (({ percent: string | number } | { per_minute: string | number } | { per_hour: string | number }) & {
      minimum_seconds?: number | undefined
    })
  | 'unknown'

/**
 * Written prices as nanocredits per million units, exact to a billionth of what was written. Throws a RangeError that
 * names the member for a price that is no decimal or below zero, and for two prices of one unit.
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

/** Parts of a credit below its billionth count, so that a price of a second is as exact as one of an hour. */
function amountOf(key: string, written: string | number, factor: bigint): bigint {
  const amount = parseCredits(written, factor)
  if (amount < 0n) throw new RangeError(`${key} is below zero; write 0 for what is free`)
  return amount
}

/** A surcharge takes the place of another one of its feature, whichever of the two ways either was stated in. */
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
 * A price with what is stated over it. A text is spoken by its characters or by its bytes: who states the one takes the
 * place of the other. Who states what cache writes cost, and not what an hour of them does, has said it for the hour too:
 * an hour's price that was known before belongs to another price of writes.
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
 * The price at each service tier that is `known`, or that one of the price lists names; a unit that a list leaves out costs
 * what it does otherwise, or what `completed` says that it follows from the others.
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

/** Zero and false are written to undo a rule that is known otherwise, so they are kept. */
function rulesOf(prices: OperatorPrices): TimeRules {
  const { minimum_seconds: minimum, round_to_seconds: step, per_channel: isPerChannel } = prices
  return {
    ...(minimum === undefined ? {} : { minimumMilliseconds: Math.round(minimum * 1000) }),
    ...(step === undefined ? {} : { roundToMilliseconds: Math.round(step * 1000) }),
    ...(isPerChannel === undefined ? {} : { isPerChannel }),
  }
}
