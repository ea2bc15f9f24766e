import type { BatchModel, LaneName } from '../../canonical/batch.ts'
import { assert } from '../../core/assert.ts'
import { boundedAmount } from '../../core/money.ts'
import type { PricedOffer } from '../../formats/batch/batch-object.ts'
import type { ResolvedBatch } from '../item-contract.ts'

/** The items of one model of a batch, resolved as if they were a batch of their own. */
export interface ResolvedShare {
  model: string
  items: number
  resolved: ResolvedBatch
  /** What they would cost in each lane that they could have. */
  offers: readonly PricedOffer[]
}

/** A batch of the items of one or several models. */
export interface MixedBatch {
  models: readonly BatchModel[]
  lane: LaneName
  providerSlug: string | null
  /** What is set aside. */
  estimate: bigint
  worstCase: bigint
  /** What the whole would cost in each lane that all items could have, and in its own, which comes first. */
  offers: readonly PricedOffer[]
}

/**
 * The lane of a batch, by those that the items of each of its models would have: theirs, where they agree. Jobs of a
 * provider run the items of one model, so items that they do not run are run beside them, live.
 */
export function laneOfAll(lanes: readonly LaneName[]): LaneName {
  const [first = 'emulated'] = lanes
  if (lanes.every((lane) => lane === first)) return first
  return lanes.includes('native') ? 'native' : 'emulated'
}

/** Joins the items of all models into one batch. Never empty. */
export function joinShares(shares: readonly ResolvedShare[]): MixedBatch {
  const lane = laneOfAll(shares.map(({ resolved }) => resolved.lane))
  const models = shares.map(({ model, items, resolved }) => ({
    model,
    items,
    lane: resolved.lane === lane ? lane : ('emulated' as const),
  }))
  const providers = new Set(shares.map(({ resolved }) => resolved.providerSlug))
  const [provider = null] = providers
  const held = sumOf(shares.map((share) => offerOf(share, share.resolved.heldLane)))
  const own = shares.map((share, place) => offerOf(share, models[place]?.lane ?? lane))
  const others = (shares[0]?.offers ?? []).filter(
    (offer) => offer.lane !== lane && shares.every(({ offers }) => hasLane(offers, offer.lane)),
  )
  return {
    models,
    lane,
    providerSlug: providers.size === 1 ? provider : null,
    ...held,
    offers: [
      { lane, ...sumOf(own) },
      ...others.map((other) => ({
        lane: other.lane,
        ...sumOf(shares.map((share) => offerOf(share, other.lane))),
      })),
    ],
  }
}

function hasLane(offers: readonly PricedOffer[], lane: LaneName): boolean {
  return offers.some((offer) => offer.lane === lane)
}

function offerOf({ offers }: ResolvedShare, lane: LaneName): PricedOffer {
  const offer = offers.find((each) => each.lane === lane)
  assert(offer, 'the items of a model have an offer for their lane')
  return offer
}

function sumOf(offers: readonly PricedOffer[]): Pick<PricedOffer, 'estimate' | 'worstCase'> {
  return {
    estimate: boundedAmount(offers.reduce((sum, { estimate }) => sum + estimate, 0n)),
    worstCase: boundedAmount(offers.reduce((sum, { worstCase }) => sum + worstCase, 0n)),
  }
}
