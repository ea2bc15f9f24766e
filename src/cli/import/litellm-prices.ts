import { tableFacts } from '../../catalog/prices/price-table.ts'
import { createProviderPrices } from '../../catalog/prices/provider-prices.ts'
import { pricePackage } from '../../catalog/prices/price-package.gen.ts'
import type { Price, PriceUnit } from '../../canonical/usage.ts'
import { recordOrEmpty } from '../../json/values.ts'
import type { Preset } from '../../providers/define-provider.ts'
import { type LitellmModel, parseLitellmModel, presetFor } from './litellm-providers.ts'
import { scaled } from './litellm-values.ts'

/** Prices as members of the configuration. */
export type CarriedPrices = Record<string, string>

/** LiteLLM's map of prices, by the names of models. */
export type PriceMap = Readonly<Record<string, unknown>>

/** Prices by LiteLLM's names, with the configuration's names and the power of ten between them. */
const prices: readonly (readonly [theirs: string, ours: string, power: number])[] = [
  ['input_cost_per_token', 'input_per_million', 6],
  ['output_cost_per_token', 'output_per_million', 6],
  ['cache_read_input_token_cost', 'cached_input_per_million', 6],
  ['cache_creation_input_token_cost', 'cache_write_per_million', 6],
  ['cache_creation_input_token_cost_above_1hr', 'cache_write_hour_per_million', 6],
  ['input_cost_per_audio_token', 'input_audio_per_million', 6],
  ['output_cost_per_audio_token', 'output_audio_per_million', 6],
  ['input_cost_per_character', 'characters_per_million', 6],
  ['input_cost_per_request', 'per_request', 0],
]

/** Reads prices under LiteLLM's names; `textOf` returns each, and `refuse` is called for an invalid one. */
export function readPrices(
  textOf: (theirs: string) => string | null | undefined,
  refuse: (theirs: string) => void,
): CarriedPrices {
  const found: CarriedPrices = {}
  const read = (theirs: string, power: number): string | null => {
    const text = textOf(theirs)
    if (text === undefined) return null
    const price = text === null ? null : scaled(text, power)
    if (price === null) refuse(theirs)
    return price
  }
  for (const [theirs, ours, power] of prices) {
    const price = read(theirs, power)
    if (price !== null) found[ours] = price
  }
  // LiteLLM bills only one of the two, and its own lists state both for the same second.
  for (const theirs of ['output_cost_per_second', 'input_cost_per_second']) {
    const price = read(theirs, 0)
    if (price !== null && (found['audio_per_second'] ?? '0') === '0') found['audio_per_second'] = price
  }
  return found
}

/** A model without a price in the file. */
export interface Unpriced {
  asked: LitellmModel
  /** The name under which LiteLLM looks its price up; null when the file names none. */
  baseModel: string | null
  /** The preset and the name under which it is served. */
  preset: Preset
  upstream: string
}

/** Prices and their source. */
export interface LitellmPrices {
  source: string
  prices: CarriedPrices
}

/**
 * The price that LiteLLM would bill: from its map if one was given, otherwise this gateway's price of the same model at
 * its maker. Null when the gateway knows the model's price at its own URL; `unknown` when no source has one.
 */
export function findPrices(
  { asked, baseModel, preset, upstream }: Unpriced,
  map: PriceMap,
): LitellmPrices | 'unknown' | null {
  if (preset.isLocal) return null
  const base =
    baseModel === null ? null : (parseLitellmModel(baseModel, null) ?? { ...asked, name: baseModel })
  const meant = base ?? asked
  for (const name of [baseModel, `${meant.provider}/${meant.name}`, meant.name]) {
    const entry = name !== null && Object.hasOwn(map, name) ? recordOrEmpty(map[name]) : {}
    const told = readPrices(
      (theirs) => (typeof entry[theirs] === 'number' ? String(entry[theirs]) : undefined),
      () => undefined,
    )
    if (Object.keys(told).length > 0) return { source: `LiteLLM's map for ${name}`, prices: told }
  }
  if (isKnown(priceAt(preset, upstream))) return null
  // A name may contain its maker when the provider is another, such as Azure or a proxy.
  for (const { provider, name } of [meant, parseLitellmModel(meant.name, null)].flatMap((one) => one ?? [])) {
    const maker = presetFor(provider)
    const known = maker === null ? {} : carried(priceAt(maker, name))
    if (maker !== null && Object.keys(known).length > 0)
      return { source: `the list of ${maker.name} for ${name}`, prices: known }
  }
  return 'unknown'
}

/** The gateway's own price of a model. */
function priceAt({ pricesProviderId: providerId, prices: own }: Preset, upstream: string): Price {
  const nowMs = Date.now()
  const facts = tableFacts({ table: pricePackage, providerId }, upstream, nowMs)
  return { ...facts?.price, ...createProviderPrices(own).priceOf(upstream, nowMs) }
}

const isKnown = (price: Price): boolean => Object.keys(carried(price)).length > 0

/** The configuration's member of each unit, and the power of ten between them. */
const members: readonly (readonly [unit: PriceUnit, ours: string, power: number])[] = [
  ['inputToken', 'input_per_million', -9],
  ['outputToken', 'output_per_million', -9],
  ['cachedInputToken', 'cached_input_per_million', -9],
  ['cacheWriteToken', 'cache_write_per_million', -9],
  ['cacheWriteHourToken', 'cache_write_hour_per_million', -9],
  ['inputAudioToken', 'input_audio_per_million', -9],
  ['outputAudioToken', 'output_audio_per_million', -9],
  ['audioHour', 'audio_per_hour', -15],
  ['character', 'characters_per_million', -9],
  ['utf8Byte', 'utf8_bytes_per_million', -9],
  ['request', 'per_request', -15],
]

function carried(price: Price): CarriedPrices {
  return Object.fromEntries(
    members.flatMap(([unit, ours, power]) => {
      const amount = price[unit]
      const text = amount === undefined ? null : scaled(String(amount), power)
      return text === null ? [] : [[ours, text]]
    }),
  )
}
