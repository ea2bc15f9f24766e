import type { Endpoint, LongPrice } from '../../canonical/endpoint.ts'
import { modalityRow, type Modality } from '../../canonical/operation.ts'
import { withoutSurcharges } from '../../canonical/surcharges.ts'
import { freePrice, type Price, type PriceUnit } from '../../canonical/usage.ts'
import { parseOperatorPrices, tierPricesOf, withStated, type OperatorPrices } from './operator-prices.ts'
import { batchTier } from './cheaper-tier.ts'
import type { TableFacts } from './price-table.ts'
import {
  inRegion,
  tierLongPricesBy,
  tierPricesBy,
  withHourWrites,
  type HourRule,
  type RegionRule,
  type TierRule,
} from './provider-prices.ts'

/**
 * All sources of the price of one model at one deployment, in order: a later source overrules those before it, unit by
 * unit.
 */
export interface PriceSources {
  /** The table of default prices: the price package, or the list that the operator took in its place. */
  table: Pick<TableFacts, 'price' | 'longPrices'> | null
  /** The same table's price of the model in the provider's own batches, where it has one. */
  batches?: Pick<TableFacts, 'price' | 'longPrices'> | null
  /** `prices.ts` of the provider's folder. */
  provider: Price | null
  /** `prices` of the configuration, which hold at every deployment. */
  everywhere: OperatorPrices | undefined
  /** `prices` of the model at this deployment. */
  model: OperatorPrices | undefined
}

/** The modality of the model, and the provider's rules for prices that no source states. */
export interface PriceRules {
  modality: Modality
  upstream: string
  /** Whether the provider charges nothing for this model, so that the table does not count. */
  isFree: boolean
  hourWrites?: HourRule | undefined
  tiers?: readonly TierRule[] | undefined
  /** Absent where the deployment has the prices of the table and of its provider's folder. */
  regional?: RegionRule | undefined
}

/** What a call of the model costs. */
export type OrderedPrice = Pick<Endpoint, 'price' | 'longPrices' | 'tierPrices' | 'tierLongPrices'>

const noLongPrices: readonly LongPrice[] = []

/** Decides which source wins. A source that overrules the table does so for prompts of every length. */
export function priceInOrder(sources: PriceSources, rules: PriceRules): OrderedPrice {
  const { everywhere = {}, model = {} } = sources
  const provider = inRegion(rules.regional, rules.upstream, sources.provider ?? {})
  const table = regional(sources.table, rules)
  const batches = regional(sources.batches ?? null, rules)
  const { hourWrites, isFree } = rules
  const stated = [provider, parseOperatorPrices(everywhere), parseOperatorPrices(model)].reduce(withStated)
  const overTable = (known: Price) => withHourWrites(hourWrites, withStated(known, stated))
  const price = ofModality(
    rules.modality,
    overTable(isFree ? freeBeside(rules.modality, stated) : (table?.price ?? {})),
  )
  const inBatches = batches === null || Object.keys(batches.price).length === 0 ? null : batches
  const known = {
    ...(inBatches === null ? {} : { [batchTier]: withStated(price, inBatches.price) }),
    ...tierPricesBy(rules.tiers, rules.upstream, price),
  }
  const tierPrices = tierPricesOf({ price, known }, [everywhere, model], (tier) =>
    withHourWrites(hourWrites, tier),
  )
  const long = isFree ? noLongPrices : (table?.longPrices ?? noLongPrices)
  const longPrices = long.map((each) => ({ ...each, price: overTable(each.price) }))
  const tierLongPrices: Record<string, readonly LongPrice[]> = {
    ...(inBatches === null || inBatches.longPrices.length === 0 ? {} : { [batchTier]: inBatches.longPrices }),
    ...tierLongPricesBy(rules.tiers, rules.upstream, longPrices),
  }
  // What an operator states for a tier applies to prompts of every length.
  for (const { service_tiers: tiers = {} } of [everywhere, model])
    for (const tier of Object.keys(tiers)) delete tierLongPrices[tier]
  return {
    price,
    longPrices: long.length === 0 ? noLongPrices : longPrices,
    ...(tierPrices === null ? {} : { tierPrices }),
    ...(Object.keys(tierLongPrices).length === 0 ? {} : { tierLongPrices }),
  }
}

type TablePrices = PriceSources['table']

function regional(facts: TablePrices, { regional: rule, upstream }: PriceRules): TablePrices {
  if (facts === null || rule === undefined) return facts
  return {
    price: inRegion(rule, upstream, facts.price),
    longPrices: facts.longPrices.map((long) => ({ ...long, price: inRegion(rule, upstream, long.price) })),
  }
}

/**
 * The units that are free where the provider charges nothing. Once a price is stated, the model is billed only by the
 * units of that price: a zero for another unit would make the same text or sound free. Audio then costs the same as
 * text, because its provider states no price for it.
 */
function freeBeside(modality: Modality, stated: Price): Price {
  const units = billedUnits(modality, ofModality(modality, stated))
  if (units === null) return freePrice
  const free: Partial<Record<PriceUnit, bigint>> = { request: 0n }
  for (const unit of units) free[unit] = 0n
  if (units.includes('inputToken') && stated.inputToken !== undefined)
    free.inputAudioToken = stated.inputToken
  if (stated.outputToken !== undefined) free.outputAudioToken = stated.outputToken
  return free
}

/** The set of units of the modality that most of the stated prices belong to; null when they belong to none. */
function billedUnits(modality: Modality, stated: Price): readonly PriceUnit[] | null {
  let most: readonly PriceUnit[] | null = null
  let matches = 0
  for (const units of modalityRow(modality).pricedBy) {
    const found = units.filter((unit) => stated[unit] !== undefined).length
    if (found > matches) [most, matches] = [units, found]
  }
  return most
}

function ofModality(modality: Modality, price: Price): Price {
  const { hasSurcharges, speaks } = modalityRow(modality)
  // Surcharges for speakers and terms exist only for transcriptions.
  return hasSurcharges ? price : withoutSurcharges(speaks ? spoken(price) : price)
}

/** Price lists state every model's output as text, but the output of a speech model is sound. */
function spoken(price: Price): Price {
  const { outputToken, outputAudioToken = outputToken } = price
  return outputAudioToken === undefined ? price : { ...price, outputAudioToken }
}
