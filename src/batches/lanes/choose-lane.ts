import type { Batch, BatchEndpoint, LaneChoice, LaneName } from '../../canonical/batch.ts'
import type { Endpoint } from '../../canonical/endpoint.ts'
import { splitVariant } from '../../catalog/model-ids.ts'
import { comparedPrice } from '../../catalog/prices/compared-price.ts'
import { assert } from '../../core/assert.ts'
import { GatewayError } from '../../core/errors.ts'
import type { BatchRoute } from '../../execution/items/route-batch.ts'
import type { LaneOffer, ResolvedBatch } from '../item-contract.ts'
import { emulated } from './emulated.ts'
import { flex } from './flex.ts'
import type { Lane } from './lane.ts'
import { native } from './native.ts'

const lanesByName = { native, flex, emulated } satisfies Record<LaneName, Lane>
/** Every lane; the last one is where `auto` moves items, at the price that it sets aside. */
const lanes: readonly Lane[] = Object.values(lanesByName)

/** The lane of this name. */
export function laneOf(name: LaneName): Lane {
  return lanesByName[name]
}

/** What a batch asks for, as far as its lane depends on it. */
export interface LaneQuestion {
  model: string
  endpoint: BatchEndpoint
  lane: LaneChoice
  /** The number of items; 0 while it is not known, so that a lane for many is not chosen yet. */
  items: number
  /** Of the items, those that a provider's jobs would run; all of them where it is absent. */
  jobItems?: number
}

/** A lane that the batch can have, with the endpoints that the lane uses at its own prices. */
interface PossibleLane extends LaneOffer {
  endpoints: readonly Endpoint[]
  /** Those of them whose prices are compared with other lanes' prices. */
  leading: readonly Endpoint[]
}

/**
 * Decides the lane of a batch that was routed: the one that its caller named, or the cheapest one. Throws the lane's own
 * 400 when the caller named one that the batch cannot have.
 */
export function chooseLane(question: LaneQuestion, route: BatchRoute): ResolvedBatch {
  const { model, endpoint, lane } = question
  const possible = lanes.flatMap((each): PossibleLane[] => {
    const hasItems = each !== native || question.jobItems !== 0
    // A price is no reason to ask a fallback: those answer when the providers before them have failed.
    const asked = each === emulated ? route.endpoints : route.leading
    const endpoints = hasItems ? each.offers(asked, endpoint) : []
    if (endpoints.length > 0) {
      const leading = each === emulated ? route.leading : endpoints
      return [{ lane: each.name, endpoints, leading, estimateItem: route.estimatorOf(endpoints) }]
    }
    if (lane === each.name) throw hasItems ? each.refuse(model) : withoutJobItems(model)
    return []
  })
  const last = possible.at(-1)
  const chosen = lane === 'auto' ? automatic(question, possible) : possible.find((each) => each.lane === lane)
  assert(chosen && last, 'every batch can have the emulated lane')
  const providers = new Set(chosen.endpoints.map(({ deployment }) => deployment.provider))
  const [provider] = providers
  return {
    endpointIds: chosen.endpoints.map(({ id }) => id),
    providerSlug: providers.size === 1 && provider !== undefined ? provider : null,
    lane: chosen.lane,
    heldLane: lane === 'auto' && !isForOwnBatches(model) ? last.lane : chosen.lane,
    offers: possible
      .map(({ lane: name, estimateItem }) => ({ lane: name, estimateItem }))
      .toSorted((left, right) => Number(right.lane === chosen.lane) - Number(left.lane === chosen.lane)),
  }
}

/**
 * The cheapest lane of those that this many items may take, and of equally cheap ones the first. So a lane at the live
 * price, or at an unknown one, is not waited for.
 */
function automatic(
  { model, items, jobItems = items }: LaneQuestion,
  possible: readonly PossibleLane[],
): PossibleLane | undefined {
  const last = possible.at(-1)
  if (last === undefined) return undefined
  if (isForOwnBatches(model)) return possible.find((each) => each.lane === 'native') ?? last
  return possible
    .filter(({ lane }) => (lane === 'native' ? jobItems : items) >= laneOf(lane).automaticFrom)
    .filter((each) => cheapestOf(each) < cheapestOf(last))
    .reduce((best, each) => (cheapestOf(each) < cheapestOf(best) ? each : best), last)
}

function withoutJobItems(model: string): GatewayError {
  return new GatewayError(
    'invalid_request',
    `headrace.lane: the batch service of the provider of ${model} runs none of these requests. Use "auto" or "emulated".`,
    { param: 'headrace.lane' },
  )
}

/** Whether the model's name asks for its provider's own batches: then nothing leaves their lane. */
function isForOwnBatches(model: string): boolean {
  return splitVariant(model).variant === 'batch'
}

/** Whether unfinished items of a batch may leave its lane: a lane that the caller named is the price that the caller named. */
export function mayMove({
  laneChoice,
  model,
  models,
}: Pick<Batch, 'laneChoice' | 'model' | 'models'>): boolean {
  const names = models?.map((each) => each.model) ?? [model]
  return laneChoice === 'auto' && !names.some(isForOwnBatches)
}

/** For comparing only; an unknown price counts as the highest. */
function cheapestOf({ leading }: PossibleLane): number {
  return Math.min(...leading.map((endpoint) => comparedPrice(endpoint) ?? Number.POSITIVE_INFINITY))
}
