import type { Price } from '../canonical/usage.ts'
import { divideHalfEven } from '../core/money.ts'
import { parseOperatorPrices } from './operator-prices.ts'
import type { OperatorPrices } from './operator-prices.ts'

/** Prices that the package lacks or has wrong, with where and when they were found. */
export interface PriceEntry {
  /** The names the provider knows. */
  upstream: readonly string[]
  prices: OperatorPrices
  source: string
  /** When the source was read, `YYYY-MM`. */
  seen: string
}

/** What the gateway itself knows of one provider's prices; its members replace the package's. */
export interface PriceOverlay {
  /** The price of a model with how its time is counted, or null. */
  priceOf(upstreamModel: string): Price | null
  /** Models that have a price here or are documented, and so can be asked for without having seen a listing. */
  names: readonly string[]
}

/** How time is counted, and what is charged besides; the price itself is known otherwise. */
const rules: ReadonlySet<string> = new Set([
  'minimum_seconds',
  'round_to_seconds',
  'per_channel',
  'surcharges',
])

/** A later entry adds to an earlier one of the same model. Models that are only `documented` are there without a price. */
export function createPriceOverlay(
  entries: readonly PriceEntry[],
  documented: readonly string[] = [],
): PriceOverlay {
  const byName = new Map<string, Price>()
  const names = new Set<string>(documented)
  for (const { upstream, prices } of entries) {
    const price = parseOperatorPrices(prices)
    const isPrice = Object.keys(prices).some((unit) => !rules.has(unit))
    for (const name of upstream) {
      byName.set(name, { ...byName.get(name), ...price })
      if (isPrice) names.add(name)
    }
  }
  return { priceOf: (upstreamModel) => byName.get(upstreamModel) ?? null, names: [...names] }
}

/** What input that is kept for an hour costs, as a fraction of what other written input costs, and of the input itself. */
export interface HourRule {
  ofWrite: readonly [bigint, bigint]
  ofInput: readonly [bigint, bigint]
}

/** A price with that of cache writes for an hour, where nobody stated it and the provider has a rule for it. */
export function withHourWrites(rule: HourRule | undefined, price: Price): Price {
  const { inputToken, cacheWriteToken, cacheWriteHourToken } = price
  const base = cacheWriteToken ?? inputToken
  if (!rule || cacheWriteHourToken !== undefined || base === undefined) return price
  const [factor, divisor] = cacheWriteToken === undefined ? rule.ofInput : rule.ofWrite
  return { ...price, cacheWriteHourToken: divideHalfEven(base * factor, divisor) }
}
