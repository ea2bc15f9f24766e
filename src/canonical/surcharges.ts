import { surchargedFeatures } from './usage.ts'
import type { AudioFeature, Price, PriceUnit, SurchargedFeature, SurchargeShares } from './usage.ts'

/** The members of a price that state a feature's surcharge: per hour of audio, and as a share of the audio's cost. */
export const surchargeMembers = {
  diarize: { unit: 'diarizedHour', share: 'diarizeMillionths' },
  keyterms: { unit: 'keytermHour', share: 'keytermsMillionths' },
  entities: { unit: 'entityHour', share: 'entitiesMillionths' },
  transcript_edit: { unit: 'editHour', share: 'transcriptEditMillionths' },
  speaker_roles: { unit: 'roleHour', share: 'speakerRolesMillionths' },
} as const satisfies Record<SurchargedFeature, { unit: PriceUnit; share: keyof SurchargeShares }>

/** A price for every set of features, cached so that equal prices are the same object. */
const appliedPrices = new WeakMap<Price, Map<string, Price>>()

/** The price of a call that asked for these features: without the surcharges of all others. */
export function priceWith(price: Price, features: readonly AudioFeature[]): Price {
  if (!hasSurcharges(price)) return price
  const known = appliedPrices.get(price) ?? new Map<string, Price>()
  appliedPrices.set(price, known)
  const key = features.join()
  const found = known.get(key) ?? applied(price, features)
  known.set(key, found)
  return found
}

/** The price without any surcharge, for calls other than transcriptions. */
export function withoutSurcharges(price: Price): Price {
  return priceWith(price, [])
}

const noUnits: readonly PriceUnit[] = []

/** A price's surcharges of unknown amount. */
export function unknownSurcharges(price: Price): readonly PriceUnit[] {
  return price.surcharged === undefined ? noUnits : unknownAmong(price.surcharged, price)
}

function unknownAmong(surcharged: NonNullable<Price['surcharged']>, price: Price): PriceUnit[] {
  return surcharged
    .map((feature) => surchargeMembers[feature])
    .filter(({ unit, share }) => price[unit] === undefined && price[share] === undefined)
    .map(({ unit }) => unit)
}

const surchargedPrices = new WeakMap<Price, boolean>()

/** Whether the price has anything that depends on the features of a call. */
export function hasSurcharges(price: Price): boolean {
  const known = surchargedPrices.get(price)
  if (known !== undefined) return known
  const found = statesSurcharges(price)
  surchargedPrices.set(price, found)
  return found
}

function statesSurcharges(price: Price): boolean {
  return (
    price.surcharged !== undefined ||
    price.featureMinimums !== undefined ||
    price.isPerChannel === 'when_asked' ||
    surchargedFeatures.some((feature) => {
      const { unit, share } = surchargeMembers[feature]
      return price[unit] !== undefined || price[share] !== undefined
    })
  )
}

function applied(price: Price, features: readonly AudioFeature[]): Price {
  const { featureMinimums = {}, ...kept } = price
  const left: { -readonly [Member in keyof Price]: Price[Member] } = kept
  for (const feature of surchargedFeatures) {
    if (features.includes(feature)) continue
    delete left[surchargeMembers[feature].unit]
    delete left[surchargeMembers[feature].share]
  }
  delete left.surcharged
  if (left.isPerChannel === 'when_asked') left.isPerChannel = features.includes('channels')
  const minimums = surchargedFeatures.map((feature) =>
    features.includes(feature) ? (featureMinimums[feature] ?? 0) : 0,
  )
  const minimumMilliseconds = Math.max(left.minimumMilliseconds ?? 0, ...minimums)
  if (minimumMilliseconds > 0) left.minimumMilliseconds = minimumMilliseconds
  const unknown = price.surcharged?.filter((feature) => features.includes(feature)) ?? []
  return unknown.length === 0 ? left : { ...left, surcharged: unknown }
}
