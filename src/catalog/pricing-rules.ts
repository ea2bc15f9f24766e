import type { Endpoint } from '../canonical/endpoint.ts'
import { modalityRow } from '../canonical/operation.ts'
import { surchargeMembers } from '../canonical/surcharges.ts'
import { priceUnitRows, surchargedFeatures } from '../canonical/usage.ts'
import type { Price, PriceUnit, SurchargedFeature } from '../canonical/usage.ts'
import { divideHalfEven } from '../core/money.ts'

/**
 * The facts of a price that the contract's `pricing` has no member for; a fact is absent where nothing special applies.
 */
export interface PricingRulesJson {
  /** The unit of `pricing.prompt`, where that is neither a token nor a character. */
  prompt_unit?: 'utf8_byte'
  minimum_seconds?: number
  round_to_seconds?: number
  per_channel?: true | 'when_asked'
  surcharges?: Partial<Record<SurchargedFeature, SurchargeJson>>
  /** USD for one of a unit that `pricing` has no member for, such as `per_search_unit`. */
  [unit: `per_${string}_unit`]: string
}

/** In percent of the audio's cost, or in USD for a second of it; both null where no source tells the amount. */
export interface SurchargeJson {
  percent: number | null
  per_second: string | null
  /** The least seconds that a call with this feature is billed for. */
  minimum_seconds?: number
}

/** The pricing rules of an endpoint; null where `pricing` says everything. */
export function pricingRules(
  { modality, price }: Pick<Endpoint, 'modality' | 'price'>,
  shownAmount: (amount: bigint) => string,
): PricingRulesJson | null {
  if (modalityRow(modality).isConversation) return null
  const { minimumMilliseconds = 0, roundToMilliseconds = 0, isPerChannel = false } = price
  const isByBytes = promptUnitOf({ modality, price }) === 'utf8Byte'
  const surcharges = surchargesOf(price, shownAmount)
  const shown: PricingRulesJson = {
    ...(isByBytes ? { prompt_unit: 'utf8_byte' } : {}),
    ...(minimumMilliseconds > 0 ? { minimum_seconds: minimumMilliseconds / 1000 } : {}),
    ...(roundToMilliseconds > 0 ? { round_to_seconds: roundToMilliseconds / 1000 } : {}),
    ...(isPerChannel === false ? {} : { per_channel: isPerChannel }),
    ...(Object.keys(surcharges).length > 0 ? { surcharges } : {}),
    ...unitPrices({ modality, price }, shownAmount),
  }
  return Object.keys(shown).length > 0 ? shown : null
}

/** The prices of those units that `pricing` has no member for and by which calls of this kind are billed. */
function unitPrices(
  { modality, price }: Pick<Endpoint, 'modality' | 'price'>,
  shownAmount: (amount: bigint) => string,
): Record<string, string> {
  const units = modalityRow(modality).pricedBy.flat()
  const shown: Record<string, string> = {}
  for (const unit of units) {
    const { shownAs } = priceUnitRows[unit]
    const amount = price[unit] ?? 0n
    if (shownAs !== undefined && amount > 0n) shown[shownAs] = shownAmount(amount)
  }
  return shown
}

/** The unit of `pricing.prompt`; undefined where no unit that it may stand for has a price. */
export function promptUnitOf({
  modality,
  price,
}: Pick<Endpoint, 'modality' | 'price'>): PriceUnit | undefined {
  return modalityRow(modality).promptUnits.find((unit) => price[unit] !== undefined)
}

const secondsPerHour = 3_600n
const millionthsPerPercent = 10_000

function surchargesOf(
  price: Price,
  shownAmount: (amount: bigint) => string,
): Partial<Record<SurchargedFeature, SurchargeJson>> {
  const shown: Partial<Record<SurchargedFeature, SurchargeJson>> = {}
  for (const feature of surchargedFeatures) {
    const amount = price[surchargeMembers[feature].unit]
    const share = price[surchargeMembers[feature].share]
    const isUnknown =
      price.surcharged?.includes(feature) === true && amount === undefined && share === undefined
    if (!isUnknown && (amount ?? 0n) === 0n && (share ?? 0) === 0) continue
    const minimumMs = price.featureMinimums?.[feature]
    shown[feature] = {
      percent: share === undefined || share === 0 ? null : share / millionthsPerPercent,
      per_second:
        amount === undefined || amount === 0n ? null : shownAmount(divideHalfEven(amount, secondsPerHour)),
      ...(minimumMs === undefined ? {} : { minimum_seconds: minimumMs / 1000 }),
    }
  }
  return shown
}
