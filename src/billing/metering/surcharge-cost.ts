import type { Endpoint } from '../../canonical/endpoint.ts'
import { modalityRow } from '../../canonical/operation.ts'
import { hasSurcharges, surchargeMembers } from '../../canonical/surcharges.ts'
import { audioFeatures, surchargedFeatures } from '../../canonical/usage.ts'
import type { AudioFeature, Demand, Price } from '../../canonical/usage.ts'
import type { PricedQuantity } from '../../core/money.ts'

const million = 1_000_000n

const noFeatures: readonly AudioFeature[] = []

/** The features that may cost a surcharge at this endpoint: the call asked for them, and the endpoint gets them. */
export function featuresOf(
  { audioFeatures: asked = [], askedAt }: Demand,
  { modality, audio, deployment }: Pick<Endpoint, 'modality' | 'audio' | 'deployment'>,
): readonly AudioFeature[] {
  if (!modalityRow(modality).hasSurcharges) return noFeatures
  if (asked.length === 0 && askedAt === undefined) return noFeatures
  const isAskedAt = (feature: AudioFeature): boolean =>
    [deployment.provider, deployment.preset].some((slug) => askedAt?.[feature]?.includes(slug))
  return audioFeatures.filter((feature) => {
    if (feature === 'diarize') return audio?.diarize === true && asked.includes(feature)
    if (feature === 'keyterms') return audio?.keyterms != null && asked.includes(feature)
    return isAskedAt(feature)
  })
}

/** The cost of the audio, raised by the surcharges that are a share of it. */
export function withShares(terms: readonly PricedQuantity[], price: Price): readonly PricedQuantity[] {
  if (!hasSurcharges(price)) return terms
  let millionths = 0
  for (const feature of surchargedFeatures) millionths += price[surchargeMembers[feature].share] ?? 0
  if (millionths === 0) return terms
  const factor = million + BigInt(millionths)
  return terms.map(({ quantity, price: amount, per = million }) => ({
    quantity,
    price: amount * factor,
    per: per * million,
  }))
}

/** The surcharges by time, for so many milliseconds of audio. */
export function hourlySurcharges(milliseconds: number, price: Price): PricedQuantity[] {
  if (!hasSurcharges(price)) return []
  return surchargedFeatures.flatMap((feature) => {
    const amount = price[surchargeMembers[feature].unit]
    return amount === undefined ? [] : [timeTerm(milliseconds, amount)]
  })
}

/** Milliseconds at a price for a million hours. */
export function timeTerm(milliseconds: number, price: bigint): PricedQuantity {
  return { quantity: milliseconds, price, per: millisecondsPerMillionHours }
}

const millisecondsPerMillionHours = 3_600_000n * million
