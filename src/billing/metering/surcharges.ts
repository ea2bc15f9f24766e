import type { Endpoint } from '../../canonical/endpoint.ts'
import { surchargeMembers } from '../../canonical/surcharges.ts'
import { audioFeatures } from '../../canonical/usage.ts'
import type { AudioFeature, Demand, Price, PriceUnit } from '../../canonical/usage.ts'
import type { PricedQuantity } from '../../core/money.ts'

const million = 1_000_000n

const noFeatures: readonly AudioFeature[] = []

/** What of a call may be charged for besides, at this endpoint: what was asked for, and the endpoint is sent. */
export function featuresOf(
  { audioFeatures: asked = [], entitiesAt = [] }: Demand,
  { modality, audio, deployment }: Pick<Endpoint, 'modality' | 'audio' | 'deployment'>,
): readonly AudioFeature[] {
  if (modality !== 'transcription') return noFeatures
  const sent: Record<AudioFeature, boolean> = {
    diarize: audio?.diarize === true && asked.includes('diarize'),
    keyterms: audio?.keyterms != null && asked.includes('keyterms'),
    entities: [deployment.provider, deployment.preset].some((slug) => entitiesAt.includes(slug)),
  }
  return audioFeatures.filter((feature) => sent[feature])
}

/** Surcharges of a price that exist and of which nobody has told the amount. */
export function unknownSurcharges(price: Price): PriceUnit[] {
  const { surcharged = [] } = price
  return surcharged
    .map((feature) => surchargeMembers[feature])
    .filter(({ unit, share }) => price[unit] === undefined && price[share] === undefined)
    .map(({ unit }) => unit)
}

/** What the audio costs, with the shares of it that are charged besides. */
export function withShares(terms: readonly PricedQuantity[], price: Price): readonly PricedQuantity[] {
  let millionths = 0
  for (const feature of audioFeatures) millionths += price[surchargeMembers[feature].share] ?? 0
  if (millionths === 0) return terms
  const factor = million + BigInt(millionths)
  return terms.map(({ quantity, price: amount, per = million }) => ({
    quantity,
    price: amount * factor,
    per: per * million,
  }))
}

/** What is charged besides by the time of the audio, for so many milliseconds of it. */
export function hourlySurcharges(milliseconds: number, price: Price): PricedQuantity[] {
  return audioFeatures.flatMap((feature) => {
    const amount = price[surchargeMembers[feature].unit]
    return amount === undefined ? [] : [timeTerm(milliseconds, amount)]
  })
}

/** Milliseconds at a price for a million hours. */
export function timeTerm(milliseconds: number, price: bigint): PricedQuantity {
  return { quantity: milliseconds, price, per: millisecondsPerMillionHours }
}

const millisecondsPerMillionHours = 3_600_000n * million
