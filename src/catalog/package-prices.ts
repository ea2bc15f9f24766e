import type { LongPrice } from '../canonical/endpoint.ts'
import type { Price } from '../canonical/usage.ts'
import type { NameRule, PackageModel, PricePackage } from './price-package.ts'

/** What the package says about a model at a moment. */
export interface PackageFacts {
  name: string | null
  contextLength: number | null
  price: Price
  longPrices: readonly LongPrice[]
}

/** A provider's models of a table of prices; without one, none is known. */
export interface PricedProvider {
  table: PricePackage
  providerId: string | null
}

/** The first of a provider's models whose rule fits a name, which is the one that prices it; null when none does. */
export function modelNamed(models: readonly PackageModel[], upstreamModel: string): PackageModel | null {
  return models.find(({ match }) => fits(match, upstreamModel)) ?? null
}

/** What prices a model of the provider, or null. */
export function packageFacts(
  { table, providerId }: PricedProvider,
  upstreamModel: string,
  nowMs: number,
): PackageFacts | null {
  if (providerId === null) return null
  const model = modelNamed(table[providerId] ?? [], upstreamModel)
  if (!model) return null
  const { price = {}, long = [] } = model.prices.findLast(({ fromMs }) => fromMs <= nowMs) ?? {}
  return { name: model.name, contextLength: model.contextLength, price, longPrices: long }
}

/** Names of the provider's models that can be asked for without having seen its listing. */
export function packageNames({ table, providerId }: PricedProvider): string[] {
  return ((providerId === null ? null : table[providerId]) ?? []).flatMap(({ upstream }) =>
    upstream === null ? [] : [upstream],
  )
}

function fits(rule: NameRule, name: string): boolean {
  if ('equals' in rule) return name === rule.equals
  if ('starts_with' in rule) return name.startsWith(rule.starts_with)
  if ('ends_with' in rule) return name.endsWith(rule.ends_with)
  if ('contains' in rule) return name.includes(rule.contains)
  if ('regex' in rule) return compiled(rule).test(name)
  if ('and' in rule) return rule.and.every((part) => fits(part, name))
  return rule.or.some((part) => fits(part, name))
}

const patterns = new WeakMap<NameRule, RegExp>()

/** Each is asked about every model of a listing. */
function compiled(rule: NameRule & { regex: string }): RegExp {
  const known = patterns.get(rule)
  if (known) return known
  const pattern = new RegExp(rule.regex)
  patterns.set(rule, pattern)
  return pattern
}
