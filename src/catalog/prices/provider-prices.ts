import type { Price } from '../../canonical/usage.ts'
import { divideHalfEven } from '../../core/money.ts'
import { parseOperatorPrices } from './operator-prices.ts'
import type { OperatorPrices } from './operator-prices.ts'

/** Prices that the package lacks or has wrong, with where and when they were found. */
export interface PriceEntry {
  /** The names the provider knows; one that ends in `*` stands for all that begin so and are not named themselves. */
  upstream: readonly string[]
  prices: OperatorPrices
  source: string
  /** When the source was read, `YYYY-MM`. */
  seen: string
  /** From a reseller's list or somebody else's page: the provider itself may charge another price. */
  isThirdParty?: true
  /** The day from which it counts, `YYYY-MM-DD`; absent for one that counts already. */
  from?: string
}

/** What the gateway itself knows of one provider's prices; its members replace the package's. */
export interface ProviderPrices {
  /** The price of a model at a moment (Unix milliseconds), with how its time is counted; null where nothing is known. */
  priceOf(upstreamModel: string, nowMs: number): Price | null
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

interface StatedPrice {
  fromMs: number
  price: Price
}

/** A later entry adds to an earlier one of the same model. Models that are only `documented` are there without a price. */
export function createProviderPrices(
  entries: readonly PriceEntry[],
  documented: readonly string[] = [],
): ProviderPrices {
  const byName = new Map<string, StatedPrice[]>()
  const names = new Set<string>(documented)
  for (const { upstream, prices, from } of entries) {
    const stated = { fromMs: from === undefined ? 0 : Date.parse(from), price: parseOperatorPrices(prices) }
    const isPrice = Object.keys(prices).some((unit) => !rules.has(unit))
    for (const name of upstream) {
      byName.set(name, [...(byName.get(name) ?? []), stated])
      if (isPrice && !name.endsWith('*')) names.add(name)
    }
  }
  const families = [...byName.keys()].filter((name) => name.endsWith('*')).map((name) => name.slice(0, -1))
  return {
    priceOf: (upstreamModel, nowMs) => {
      const family = families.find((beginning) => upstreamModel.startsWith(beginning))
      const stated =
        byName.get(upstreamModel) ?? (family === undefined ? undefined : byName.get(`${family}*`))
      const reached = stated?.filter(({ fromMs }) => fromMs <= nowMs) ?? []
      return reached.length === 0 ? null : summed(reached)
    },
    names: [...names],
  }
}

function summed(stated: readonly StatedPrice[]): Price {
  const price: Price = {}
  for (const one of stated) Object.assign(price, one.price)
  return price
}

/** What a service tier costs as a fraction of the usual price, for the models whose name at the provider fits. */
export interface TierRule {
  tier: string
  models: RegExp
  share: readonly [bigint, bigint]
}

/** The prices that these rules give a model at its tiers. */
export function tierPricesBy(
  tierRules: readonly TierRule[] | undefined,
  upstreamModel: string,
  price: Price,
): Record<string, Price> {
  const tiers: Record<string, Price> = {}
  for (const { tier, models, share } of tierRules ?? []) {
    if (!models.test(upstreamModel)) continue
    const [factor, divisor] = share
    const amounts = Object.entries(price).map(([unit, amount]: [string, unknown]) => [
      unit,
      typeof amount === 'bigint' ? divideHalfEven(amount * factor, divisor) : amount,
    ])
    tiers[tier] = Object.fromEntries(amounts) as Price
  }
  return tiers
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
