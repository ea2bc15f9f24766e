import type { Price, PriceUnit } from '../../canonical/usage.ts'
import { listOrEmpty, recordOrEmpty } from '../../json/values.ts'
import { parseCredits } from '../../core/money.ts'
import type { DatedPrice, NameRule, TableModel, PriceTable } from '../prices/price-table.ts'

/**
 * The highest price that is believed of a price list, in USD for a million tokens or an hour; and the longest pattern
 * for names, in characters.
 */
const priceUsdMax = 100_000
const ruleTextMax = 200
/** How deep rules for names may be nested. */
const ruleDepthMax = 64

/** The data is not a list of prices; the message names the provider, the model and the member. */
export class BadPriceData extends Error {}

/**
 * Converts the data of `@pydantic/genai-prices` (a list of providers with their models, USD for a million units) into
 * the gateway's table, for the wanted providers. All of it is checked: a negative or absurdly high price, an unknown
 * rule and a model without an id throw BadPriceData. Units that the gateway does not meter (searches, pages, images)
 * are left out. Where a price depends on the hour of the day, the highest counts: a hold must suffice whenever the call
 * ends.
 */
export function readPriceData(data: unknown, wanted: Iterable<string>): PriceTable {
  const providers = new Map<unknown, unknown>()
  for (const provider of listOrEmpty(data)) providers.set(recordOrEmpty(provider)['id'], provider)
  if (providers.size === 0) throw new BadPriceData('it names no provider')
  const found: Record<string, readonly TableModel[]> = {}
  for (const id of wanted) {
    const provider = recordOrEmpty(providers.get(id))
    if (provider['id'] === undefined) continue
    found[id] = listOrEmpty(provider['models']).flatMap((model) => readModel(id, recordOrEmpty(model)))
  }
  if (!Object.values(found).some((models) => models.length > 0))
    throw new BadPriceData('it has no price of any provider that this gateway knows')
  return found
}

type Wire = Readonly<Record<string, unknown>>

/** Empty where no unit that the gateway meters has a price. */
function readModel(providerId: string, model: Wire): TableModel[] {
  const { id, name, context_window: contextLength } = model
  if (typeof id !== 'string' || id === '') throw new BadPriceData(`a model of ${providerId} has no id`)
  const where = `${providerId}/${id}`
  const match = readRule(where, model['match'])
  const prices = dated(where, model['prices'])
  if (prices.length === 0) return []
  return [
    {
      id,
      upstream: model['deprecated'] === true ? null : offeredName(id, match),
      name: typeof name === 'string' ? name : null,
      contextLength: Number.isSafeInteger(contextLength) ? Number(contextLength) : null,
      match,
      prices,
    },
  ]
}

/**
 * The name under which callers can ask for the model before a listing was read: its own id where a rule names that
 * exactly, else the first exact name; null for a family that only a pattern describes.
 */
function offeredName(id: string, match: NameRule): string | null {
  const names = exactNames(match)
  return names.includes(id) ? id : (names[0] ?? null)
}

function exactNames(match: NameRule): string[] {
  if ('equals' in match) return [match.equals]
  return 'or' in match ? match.or.flatMap(exactNames) : []
}

const textRules = ['equals', 'starts_with', 'ends_with', 'contains', 'regex'] as const

function readRule(where: string, value: unknown, depth = 0): NameRule {
  if (depth > ruleDepthMax) throw new BadPriceData(`${where}: "match" has rules within rules without end`)
  const rule = recordOrEmpty(value)
  const [kind, ...others] = Object.keys(rule)
  if (kind === undefined || others.length > 0) throw new BadPriceData(`${where}: "match" is no rule`)
  const operand = rule[kind]
  if ((kind === 'and' || kind === 'or') && Array.isArray(operand)) {
    const parts = operand.map((part) => readRule(where, part, depth + 1))
    return kind === 'and' ? { and: parts } : { or: parts }
  }
  const known = textRules.find((one) => one === kind)
  if (known === undefined || typeof operand !== 'string')
    throw new BadPriceData(`${where}: "match" has the unknown rule ${JSON.stringify(kind)}`)
  if (known === 'regex') requireHarmless(where, operand)
  // The checks above make this a rule of that kind.
  return { [known]: operand } as NameRule
}

/** A repeated group with a repetition inside takes endless time on some names, and names come from listings. */
const repeatedTwice = /\([^()]*[+*}][^()]*\)[+*{]/

function requireHarmless(where: string, pattern: string): void {
  try {
    if (pattern.length <= ruleTextMax && !repeatedTwice.test(pattern)) {
      RegExp(pattern)
      return
    }
  } catch {
    // The error below reports it.
  }
  throw new BadPriceData(`${where}: "match" has a pattern that is not taken, ${JSON.stringify(pattern)}`)
}

/** Prices by the day on which they begin, the earliest first. */
function dated(where: string, value: unknown): DatedPrice[] {
  const conditions: unknown[] = Array.isArray(value) ? value : [{ prices: value }]
  const byDay = new Map<number, Wire[]>()
  for (const condition of conditions) {
    const { constraint, prices } = recordOrEmpty(condition)
    const start = recordOrEmpty(constraint)['start_date']
    const fromMs = start === undefined ? 0 : Date.parse(String(start))
    if (!Number.isFinite(fromMs)) throw new BadPriceData(`${where}: ${JSON.stringify(start)} is no date`)
    byDay.set(fromMs, [...(byDay.get(fromMs) ?? []), recordOrEmpty(prices)])
  }
  const entries = [...byDay].map(([fromMs, prices]) => {
    const long = boundsOf(where, prices).map((bound) => ({
      inputTokensAbove: bound,
      price: dearest(where, prices, bound + 1),
    }))
    return { fromMs, price: dearest(where, prices, 0), ...(long.length > 0 ? { long } : {}) }
  })
  return entries
    .filter(({ price }) => Object.keys(price).length > 0)
    .toSorted((left, right) => left.fromMs - right.fromMs)
}

const unitOfKey: Readonly<Record<string, PriceUnit>> = {
  input_mtok: 'inputToken',
  cache_read_mtok: 'cachedInputToken',
  cache_write_mtok: 'cacheWriteToken',
  cache_write_1h_mtok: 'cacheWriteHourToken',
  input_audio_mtok: 'inputAudioToken',
  output_mtok: 'outputToken',
  output_audio_mtok: 'outputAudioToken',
  audio_hours: 'audioHour',
  input_audio_hours: 'audioHour',
}

/** The numbers of input tokens above which some unit has another price. */
function boundsOf(where: string, prices: readonly Wire[]): number[] {
  const bounds = prices.flatMap((price) =>
    Object.entries(price).flatMap(([key, value]) =>
      unitOfKey[key] ? tiersOf(where, value).map(({ start }) => start) : [],
    ),
  )
  return [...new Set(bounds)].toSorted((left, right) => left - right)
}

function tiersOf(where: string, value: unknown): { start: number; price: unknown }[] {
  return listOrEmpty(recordOrEmpty(value)['tiers']).map((tier) => {
    const { start, price } = recordOrEmpty(tier)
    if (typeof start !== 'number' || !Number.isSafeInteger(start) || start < 0)
      throw new BadPriceData(`${where}: ${JSON.stringify(start)} is no number of tokens`)
    return { start, price }
  })
}

function dearest(where: string, prices: readonly Wire[], inputTokens: number): Price {
  const result: Partial<Record<PriceUnit, bigint>> = {}
  for (const price of prices) {
    for (const [unit, amount] of pricesAt(where, price, inputTokens)) {
      const known = result[unit]
      if (known === undefined || amount > known) result[unit] = amount
    }
  }
  return result
}

function pricesAt(where: string, prices: Wire, inputTokens: number): [PriceUnit, bigint][] {
  return Object.entries(prices).flatMap(([key, value]) => {
    const unit = unitOfKey[key]
    if (!unit || value === undefined || value === null) return []
    const usd = typeof value === 'object' ? tierAt(where, value, inputTokens) : value
    const amount = readAmount(`${where}: ${key}`, usd)
    // The package prices one hour of audio, but a million of every other unit.
    return [[unit, unit === 'audioHour' ? amount * 1_000_000n : amount]]
  })
}

/** By the package's own rule, the price of the last tier whose start is exceeded applies. */
function tierAt(where: string, value: object, inputTokens: number): unknown {
  const tier = tiersOf(where, value).findLast(({ start }) => inputTokens > start)
  return tier?.price ?? recordOrEmpty(value)['base']
}

function readAmount(where: string, usd: unknown): bigint {
  if (typeof usd !== 'number' || !Number.isFinite(usd))
    throw new BadPriceData(`${where} is ${JSON.stringify(usd)} and no number`)
  if (usd < 0) throw new BadPriceData(`${where} is below zero, ${usd}`)
  if (usd > priceUsdMax) throw new BadPriceData(`${where} is ${usd}, more than any price there is`)
  return parseCredits(usd)
}
