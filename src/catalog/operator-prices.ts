import type { Price, PriceUnit, TimeRules } from '../canonical/usage.ts'
import { divideHalfEven, parseCredits } from '../core/money.ts'

/**
 * Prices as people write them: USD, decimal; and how the time of audio is counted, in seconds. A member that is absent
 * says nothing about its unit; `"0"` says free.
 */
export interface OperatorPrices {
  input_per_million?: string | number | undefined
  cached_input_per_million?: string | number | undefined
  cache_write_per_million?: string | number | undefined
  cache_write_hour_per_million?: string | number | undefined
  output_per_million?: string | number | undefined
  input_audio_per_million?: string | number | undefined
  output_audio_per_million?: string | number | undefined
  audio_per_minute?: string | number | undefined
  audio_per_hour?: string | number | undefined
  characters_per_million?: string | number | undefined
  per_request?: string | number | undefined
  /** By the name of a service tier, what differs there. */
  service_tiers?: Readonly<Record<string, Omit<OperatorPrices, 'service_tiers'>>> | undefined
  minimum_seconds?: number | undefined
  round_to_seconds?: number | undefined
}

type AmountMember = Exclude<keyof OperatorPrices, 'minimum_seconds' | 'round_to_seconds' | 'service_tiers'>

/** How a written price becomes nanocredits per million units: the unit, and the factor as a fraction. */
const conversions = {
  input_per_million: ['inputToken', 1n, 1n],
  cached_input_per_million: ['cachedInputToken', 1n, 1n],
  cache_write_per_million: ['cacheWriteToken', 1n, 1n],
  cache_write_hour_per_million: ['cacheWriteHourToken', 1n, 1n],
  output_per_million: ['outputToken', 1n, 1n],
  input_audio_per_million: ['inputAudioToken', 1n, 1n],
  output_audio_per_million: ['outputAudioToken', 1n, 1n],
  // A million milliseconds are 1000/60 minutes or 1000/3600 hours.
  audio_per_minute: ['audioMillisecond', 50n, 3n],
  audio_per_hour: ['audioMillisecond', 5n, 18n],
  characters_per_million: ['character', 1n, 1n],
  per_request: ['request', 1_000_000n, 1n],
} as const satisfies Record<AmountMember, readonly [PriceUnit, bigint, bigint]>

/**
 * Written prices as nanocredits per million units, each rounded half to even. Throws a RangeError that names the
 * member for a price that is no decimal or below zero.
 */
export function parseOperatorPrices(prices: OperatorPrices): Price {
  const result: Partial<Record<PriceUnit, bigint>> = {}
  for (const [key, [unit, factor, divisor]] of Object.entries(conversions) as [
    AmountMember,
    readonly [PriceUnit, bigint, bigint],
  ][]) {
    const written = prices[key]
    if (written === undefined) continue
    const amount = parseCredits(written)
    if (amount < 0n) throw new RangeError(`${key} is below zero; write 0 for what is free`)
    result[unit] = divideHalfEven(amount * factor, divisor)
  }
  return { ...result, ...timeRulesOf(prices) }
}

/** The price at each service tier that one of the price lists names; a unit that it leaves out costs what it does otherwise. */
export function tierPricesOf(price: Price, lists: readonly OperatorPrices[]): Record<string, Price> | null {
  const tiers: Record<string, Price> = {}
  for (const { service_tiers: stated = {} } of lists)
    for (const [tier, prices] of Object.entries(stated))
      tiers[tier] = { ...price, ...tiers[tier], ...parseOperatorPrices(prices) }
  return Object.keys(tiers).length === 0 ? null : tiers
}

/** Zero is written to undo a rule that is known otherwise, so it is kept. */
function timeRulesOf({ minimum_seconds: minimum, round_to_seconds: step }: OperatorPrices): TimeRules {
  return {
    ...(minimum === undefined ? {} : { minimumMilliseconds: Math.round(minimum * 1000) }),
    ...(step === undefined ? {} : { roundToMilliseconds: Math.round(step * 1000) }),
  }
}
