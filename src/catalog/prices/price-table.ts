import type { LongPrice } from '../../canonical/endpoint.ts'
import type { Price } from '../../canonical/usage.ts'

/** How the price package recognises a model by the provider's name for it, in the package's own rules. */
export type NameRule =
  | { equals: string }
  | { starts_with: string }
  | { ends_with: string }
  | { contains: string }
  | { regex: string }
  | { and: readonly NameRule[] }
  | { or: readonly NameRule[] }

/** One model of the table. Where a price depends on the hour of the day, it is the highest. */
export interface TableModel {
  /** The package's own id of the model, unique within a provider. */
  id: string
  /** A name that the provider takes; null when only a pattern is known, or when the provider withdraws the model. */
  upstream: string | null
  name: string | null
  contextLength: number | null
  match: NameRule
  /** By rising start; the last one that has begun is in effect. */
  prices: readonly DatedPrice[]
}

/** What a model costs from a moment on. */
export interface DatedPrice {
  /** Unix milliseconds. */
  fromMs: number
  price: Price
  /** By rising bound; absent when long prompts cost the same as others. */
  long?: readonly LongPrice[]
}

/**
 * Default prices, the weakest source of `price-order.ts`: models by the package's provider id. They come from the
 * package, or from a list that the operator took.
 */
export type PriceTable = Readonly<Record<string, readonly TableModel[]>>

/** What the table says about a model at a moment. */
export interface TableFacts {
  name: string | null
  contextLength: number | null
  price: Price
  longPrices: readonly LongPrice[]
}

/** A provider's models in a table of prices; with a null id no model is known. */
export interface PricedProvider {
  table: PriceTable
  providerId: string | null
}

/** The first of a provider's models whose rule matches a name, which prices that name; null when none does. */
export function modelNamed(models: readonly TableModel[], upstreamModel: string): TableModel | null {
  return models.find(({ match }) => fits(match, upstreamModel)) ?? null
}

/** The table's facts about a model of the provider, or null when no rule matches its name. */
export function tableFacts(
  { table, providerId }: PricedProvider,
  upstreamModel: string,
  nowMs: number,
): TableFacts | null {
  if (providerId === null) return null
  const model = modelNamed(table[providerId] ?? [], upstreamModel)
  if (!model) return null
  const { price = {}, long = [] } = model.prices.findLast(({ fromMs }) => fromMs <= nowMs) ?? {}
  return { name: model.name, contextLength: model.contextLength, price, longPrices: long }
}

/** Names of the provider's models that callers can ask for before its listing was read. */
export function tableNames({ table, providerId }: PricedProvider): string[] {
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

/** Compiled once, because each pattern is tested against every model of a listing. */
function compiled(rule: NameRule & { regex: string }): RegExp {
  const known = patterns.get(rule)
  if (known) return known
  const pattern = new RegExp(rule.regex)
  patterns.set(rule, pattern)
  return pattern
}
