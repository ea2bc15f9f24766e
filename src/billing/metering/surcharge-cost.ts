import type { Endpoint } from '../../canonical/endpoint.ts'
import { modalityRow } from '../../canonical/operation.ts'
import { hasSurcharges, surchargeMembers } from '../../canonical/surcharges.ts'
import { audioFeatures, surchargedFeatures } from '../../canonical/usage.ts'
import type { AudioFeature, Demand, Price } from '../../canonical/usage.ts'
import type { CostSum } from '../../core/money.ts'

const million = 1_000_000n

const noFeatures: readonly AudioFeature[] = []

/** The features that may cost a surcharge at this endpoint: the call asked for them, and the endpoint gets them. */
export function featuresOf(demand: Demand, endpoint: HearingEndpoint): readonly AudioFeature[] {
  return modalityRow(endpoint.modality).hasSurcharges ? heardFeatures(demand, endpoint) : noFeatures
}

type HearingEndpoint = Pick<Endpoint, 'modality' | 'audio' | 'deployment'>

function heardFeatures(
  { audioFeatures: asked = [], askedAt }: Demand,
  { audio, deployment }: HearingEndpoint,
): readonly AudioFeature[] {
  if (asked.length === 0 && askedAt === undefined) return noFeatures
  const isAskedAt = (feature: AudioFeature): boolean =>
    [deployment.provider, deployment.preset].some((slug) => askedAt?.[feature]?.includes(slug))
  return audioFeatures.filter((feature) => {
    if (feature === 'diarize') return audio?.diarize === true && asked.includes(feature)
    if (feature === 'keyterms') return audio?.keyterms != null && asked.includes(feature)
    return isAskedAt(feature)
  })
}

/** Raises the cost of the audio by the surcharges that are a share of it. */
export function addShares(sum: CostSum, price: Price): void {
  if (!hasSurcharges(price)) return
  let millionths = 0
  for (const feature of surchargedFeatures) millionths += price[surchargeMembers[feature].share] ?? 0
  if (millionths !== 0) sum.multiply(million + BigInt(millionths))
}

/** Adds the surcharges by time, for so many milliseconds of audio. */
export function addHourlySurcharges(sum: CostSum, milliseconds: number, price: Price): void {
  if (!hasSurcharges(price)) return
  for (const feature of surchargedFeatures) {
    const amount = price[surchargeMembers[feature].unit]
    if (amount !== undefined) addTime(sum, milliseconds, amount)
  }
}

/** Adds milliseconds at a price for a million hours. */
export function addTime(sum: CostSum, milliseconds: number, price: bigint): void {
  sum.add(milliseconds, price, millisecondsPerMillionHours)
}

const millisecondsPerMillionHours = 3_600_000n * million
