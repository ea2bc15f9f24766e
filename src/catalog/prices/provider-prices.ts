import type { LongPrice } from '../../canonical/endpoint.ts'
import type { Price } from '../../canonical/usage.ts'
import { divideHalfEven } from '../../core/money.ts'
import { parseOperatorPrices } from './operator-prices.ts'
import type { OperatorPrices } from './operator-prices.ts'

/** Prices that the package lacks or has wrong, with the source and the month. */
export interface PriceEntry {
  /**
   * The provider's names of the models. A name that ends in `*` stands for all names with that beginning that are not
   * listed themselves.
   */
  upstream: readonly string[]
  prices: OperatorPrices
  source: string
  /** When the source was read, `YYYY-MM`. */
  seen: string
  /** The source is a reseller or another third party: the provider itself may charge another price. */
  isThirdParty?: true
  /** The day from which the prices are in effect, `YYYY-MM-DD`; absent for prices in effect already. */
  from?: string
}

/** The gateway's own data about one provider's prices; its members replace the package's. */
export interface ProviderPrices {
  /** The price of a model at a moment (Unix milliseconds), with the rules for its time; null where nothing is known. */
  priceOf(upstreamModel: string, nowMs: number): Price | null
  /** Models that have a price here or are documented, so that callers can ask for them before a listing was read. */
  names: readonly string[]
}

/** Members that are rules for time and surcharges. An entry with these alone states no price. */
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

/** A later entry adds to an earlier one of the same model. A model that is only `documented` has no price. */
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

/** The price of a service tier as a fraction of the usual price, for the models whose upstream name matches. */
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
    if (models.test(upstreamModel)) tiers[tier] = shareOf(price, share)
  }
  return tiers
}

/** The prices that these rules give long prompts of a model at its tiers. */
export function tierLongPricesBy(
  tierRules: readonly TierRule[] | undefined,
  upstreamModel: string,
  longPrices: readonly LongPrice[],
): Record<string, readonly LongPrice[]> {
  const tiers: Record<string, readonly LongPrice[]> = {}
  if (longPrices.length === 0) return tiers
  for (const { tier, models, share } of tierRules ?? []) {
    if (!models.test(upstreamModel)) continue
    tiers[tier] = longPrices.map((long) => ({ ...long, price: shareOf(long.price, share) }))
  }
  return tiers
}

function shareOf(price: Price, [factor, divisor]: TierRule['share']): Price {
  const amounts = Object.entries(price).map(([unit, amount]: [string, unknown]) => [
    unit,
    typeof amount === 'bigint' ? divideHalfEven(amount * factor, divisor) : amount,
  ])
  return Object.fromEntries(amounts) as Price
}

/** The prices of models in a region, as a share of the prices in price lists, which are those of calls that any region may serve. */
export interface RegionRule {
  models: RegExp
  share: readonly [bigint, bigint]
}

/** A listed price in the deployment's region. */
export function inRegion(rule: RegionRule | undefined, upstreamModel: string, price: Price): Price {
  return rule?.models.test(upstreamModel) === true ? shareOf(price, rule.share) : price
}

/**
 * The price of cache writes for an hour, as a fraction of the price of other cache writes, or else of the input's. Without
 * `ofInput` a model whose writes have no price has none for an hour either.
 */
export interface HourRule {
  ofWrite: readonly [bigint, bigint]
  ofInput?: readonly [bigint, bigint]
}

/** Adds the price of cache writes for an hour, where no source states it and the provider has a rule for it. */
export function withHourWrites(rule: HourRule | undefined, price: Price): Price {
  const { inputToken, cacheWriteToken, cacheWriteHourToken } = price
  const base = cacheWriteToken ?? inputToken
  const share = cacheWriteToken === undefined ? rule?.ofInput : rule?.ofWrite
  if (!share || cacheWriteHourToken !== undefined || base === undefined) return price
  const [factor, divisor] = share
  return { ...price, cacheWriteHourToken: divideHalfEven(base * factor, divisor) }
}
