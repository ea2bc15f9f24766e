import type { BatchEndpoint, LaneChoice, LaneName } from '../../canonical/batch.ts'
import { assert } from '../../core/assert.ts'
import type { BatchRoute } from '../../execution/items/route-batch.ts'
import type { LaneOffer, ResolvedBatch } from '../item-contract.ts'
import { emulated } from './emulated.ts'
import type { Lane } from './lane.ts'

/** Every lane, the cheaper ones first. `auto` takes the first that the batch can have. */
const lanes: readonly Lane[] = [emulated]

/** What a batch asks for, as far as its lane depends on it. */
export interface LaneQuestion {
  model: string
  endpoint: BatchEndpoint
  lane: LaneChoice
}

/** Decides the lane of a batch that was routed. Throws the lane's own 400 when the caller named one that the batch cannot have. */
export function chooseLane({ model, endpoint, lane }: LaneQuestion, route: BatchRoute): ResolvedBatch {
  const possible = lanes.flatMap((each) => {
    const endpoints = each.offers(route.endpoints, endpoint)
    if (endpoints.length > 0)
      return [{ lane: each.name, endpoints, estimateItem: route.estimatorOf(endpoints) }]
    if (lane === each.name) throw each.refuse(model)
    return []
  })
  const chosen = possible.find((each) => lane === 'auto' || lane === each.lane)
  assert(chosen, 'every batch can have the emulated lane')
  const providers = new Set(chosen.endpoints.map(({ deployment }) => deployment.provider))
  const [provider] = providers
  return {
    endpointIds: chosen.endpoints.map(({ id }) => id),
    providerSlug: providers.size === 1 && provider !== undefined ? provider : null,
    lane: chosen.lane,
    estimateItem: heldBy(lane, chosen, possible).estimateItem,
    offers: ownFirst(chosen.lane, possible),
  }
}

/** The price that is set aside: under `auto` that of the last lane, to which items may move, else the lane's own. */
function heldBy(choice: LaneChoice, chosen: LaneOffer, possible: readonly LaneOffer[]): LaneOffer {
  return (choice === 'auto' ? possible.at(-1) : undefined) ?? chosen
}

function ownFirst(own: LaneName, offers: readonly LaneOffer[]): LaneOffer[] {
  return offers.toSorted((left, right) => Number(right.lane === own) - Number(left.lane === own))
}
