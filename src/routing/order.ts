import type { Preferences } from '../canonical/call.ts'
import type { Deployment, Endpoint } from '../canonical/endpoint.ts'
import { comparedPrice } from '../catalog/prices/compared-price.ts'
import type { Variant } from '../catalog/model-ids.ts'
import type { Place } from '../catalog/operator-names.ts'
import { isProvider } from '../catalog/permissions.ts'
import { attemptsMax } from '../core/limits/calls.ts'
import { nameGroupsMax } from '../core/limits/catalog.ts'
import type { Health, HealthState } from './health.ts'

/** An endpoint is busy with so many times the usual calls, and some more. */
const busyRatio = 1.25
const busyCalls = 4

/** What decides the order in which endpoints are tried. */
export interface Ordering {
  preferences: Preferences
  variant: Variant | null
  health: Health
  /** Uniform in [0, 1). */
  random: () => number
  /** The id of the endpoint that answered this conversation last, or null. */
  stickyEndpointId: string | null
  /** What identifies the conversation; null for none. Every process draws the same endpoint for it, without asking the others. */
  conversation: string | null
  /** Calls that run at a deployment now. */
  runningOf: (deployment: Deployment) => number
  /** The endpoints' places in the operator's own name that was asked for; null when the caller asked for a model. */
  places: ReadonlyMap<string, Place> | null
}

/** An endpoint with its group and its place in it; lower comes first. A model is one group. */
interface Placed {
  endpoint: Endpoint
  state: HealthState
  /** Whether its latency or throughput is worse than the caller prefers. */
  isMissing: boolean
  group: number
  place: number
  /** The weight with which it is drawn. */
  weight: number
}

/**
 * Orders endpoints by the caller's order, else by the caller's sort, else at random by price with recently failed ones
 * last. For an operator's own name, groups come one after the other, and the sort applies within a group; without a sort
 * its weights count, not the price. Endpoints that miss the caller's preferred latency or throughput come after the
 * others, even in the caller's own order. Endpoints that asked for a pause come last of all; they are still tried when
 * no other is left.
 */
export function orderEndpoints(endpoints: readonly Endpoint[], ordering: Ordering): Endpoint[] {
  const { health, preferences, places } = ordering
  const order = orderOf(preferences)
  const sort = sortOf(ordering)
  const weightOf = weighing(endpoints, ordering)
  const place = placing(ordering, sort, weightOf)
  const placed: Placed[] = endpoints.map((endpoint) => ({
    endpoint,
    state: health.stateOf(endpoint),
    isMissing: misses(endpoint, ordering),
    group: groupOf(endpoint, places, order),
    place: place(endpoint),
    weight: weightOf(endpoint),
  }))
  const isBalanced = order === null && sort === null
  if (isBalanced && ordering.stickyEndpointId !== null) favour(placed, ordering.stickyEndpointId)
  if (isBalanced && ordering.conversation !== null) spread(placed, ordering)
  placed.sort(
    (left, right) =>
      Number(isPaused(left)) - Number(isPaused(right)) ||
      left.group - right.group ||
      (isBalanced ? Number(hasFailed(left)) - Number(hasFailed(right)) : 0) ||
      Number(left.isMissing) - Number(right.isMissing) ||
      left.place - right.place,
  )
  const inTurn = places && order === null ? withEveryGroup(placed) : placed
  return inTurn.map(({ endpoint }) => endpoint)
}

/** Without recent calls there are no figures, and the endpoint does not count as missing the preference. */
function misses(endpoint: Endpoint, { preferences, health }: Ordering): boolean {
  const { preferredThroughputMin: throughputMin, preferredLatencyMaxMs: latencyMaxMs } = preferences
  if (throughputMin === null && latencyMaxMs === null) return false
  const { throughput, latencyMs } = health.performanceOf(endpoint)
  const isSlow = percentiles.some((at) => (throughput?.[at] ?? Infinity) < (throughputMin?.[at] ?? 0))
  return isSlow || percentiles.some((at) => (latencyMs?.[at] ?? 0) > (latencyMaxMs?.[at] ?? Infinity))
}

const percentiles = ['p50', 'p75', 'p90', 'p99'] as const

/** The providers that the caller lists take precedence over the operator's groups. */
function groupOf(endpoint: Endpoint, places: Ordering['places'], order: readonly string[] | null): number {
  const group = places?.get(endpoint.id)?.group ?? 0
  return places && order ? listedAt(endpoint, order) * nameGroupsMax + group : group
}

/** Gives every group a share of the few attempts that a call has; otherwise one group could use them all up. */
function withEveryGroup(placed: readonly Placed[]): readonly Placed[] {
  if (placed.length <= attemptsMax) return placed
  const groups = new Set(placed.map(({ group }) => group))
  const share = Math.max(1, Math.floor(attemptsMax / groups.size))
  const taken = new Map<number, number>()
  const turns = placed.map((one) => {
    const before = taken.get(one.group) ?? 0
    taken.set(one.group, before + 1)
    return { one, isLater: before >= share || isPaused(one) }
  })
  return [...turns.filter(({ isLater }) => !isLater), ...turns.filter(({ isLater }) => isLater)].map(
    ({ one }) => one,
  )
}

/** Moves the endpoint that answered the conversation last to the front, unless it is in trouble. */
function favour(placed: readonly Placed[], endpointId: string): void {
  const entry = placed.find(({ endpoint, state }) => endpoint.id === endpointId && state === 'healthy')
  if (entry) entry.place = Number.NEGATIVE_INFINITY
}

/**
 * Lets conversations go elsewhere that would make an endpoint much busier than its equals: what its cache saves is less than
 * what waiting there costs. Equals are the healthy ones of its group, each by the weight with which it is drawn.
 */
function spread(placed: readonly Placed[], { runningOf }: Ordering): void {
  const groups = Map.groupBy(
    placed.filter(({ state }) => state === 'healthy'),
    ({ group }) => group,
  )
  for (const equals of groups.values()) {
    const weights = equals.reduce((sum, { weight }) => sum + weight, 0)
    const running = equals.reduce((sum, { endpoint }) => sum + runningOf(endpoint.deployment), 0)
    for (const one of equals) {
      const fair = (running * one.weight) / weights
      // Drawn places lie below 1, so that those of busy ones keep their order behind all others.
      if (runningOf(one.endpoint.deployment) > fair * busyRatio + busyCalls)
        one.place = 1 + Math.max(0, one.place)
    }
  }
}

function isPaused({ state }: Placed): boolean {
  return state === 'cooling_down' || state === 'out'
}

function hasFailed({ state }: Placed): boolean {
  return state === 'failing'
}

type Sort = NonNullable<Preferences['sort']>

function sortOf({ preferences, variant }: Ordering): Sort | null {
  if (orderOf(preferences)) return null
  if (preferences.sort) return preferences.sort
  if (variant === 'nitro') return 'throughput'
  return variant === 'floor' ? 'price' : null
}

/** The weights of a draw: the operator's in a name of theirs, else by price. */
function weighing(endpoints: readonly Endpoint[], { places }: Ordering): (endpoint: Endpoint) => number {
  if (places) return ({ id }) => places.get(id)?.weight ?? 1
  const dearest = Math.max(...endpoints.map((endpoint) => comparedPrice(endpoint) ?? 0))
  return (endpoint) => weightByPrice(endpoint, dearest)
}

function placing(
  ordering: Ordering,
  sort: Sort | null,
  weightOf: (endpoint: Endpoint) => number,
): (endpoint: Endpoint) => number {
  const { health, preferences, random, places, conversation } = ordering
  const order = orderOf(preferences)
  const drawn = (endpoint: Endpoint) =>
    draw(weightOf(endpoint), conversation === null ? random : () => lotOf(conversation, endpoint))
  // Equal places are drawn by lot, so that two endpoints of one price share the load; drawn places lie in [0, 1).
  if (order && places) return drawn
  if (order) return (endpoint) => listedAt(endpoint, order) + drawn(endpoint)
  if (sort === 'price') return (endpoint) => comparedPrice(endpoint) ?? Number.MAX_VALUE
  if (sort === 'latency')
    return (endpoint) => health.performanceOf(endpoint).latencyMs?.p50 ?? Number.MAX_VALUE
  if (sort === 'throughput') return (endpoint) => -(health.performanceOf(endpoint).throughput?.p50 ?? 0)
  return drawn
}

/** The caller's order of providers; null when it is absent or empty. */
export function orderOf({ order }: Preferences): readonly string[] | null {
  return order && order.length > 0 ? order : null
}

/** The index of the first name that means the endpoint; an endpoint that is not named comes after all that are. */
export function listedAt(endpoint: Endpoint, order: readonly string[]): number {
  const index = order.findIndex((name) => isProvider(endpoint, name))
  return index === -1 ? order.length : index
}

/** A price of zero would have an infinite weight. It counts as this fraction of the highest price, or of one when all are free. */
const cheapestShare = 1e-6

/** The deployment's weight divided by the square of the price. An unknown price counts as the highest. */
function weightByPrice(endpoint: Endpoint, dearest: number): number {
  const price = comparedPrice(endpoint) ?? dearest
  const relative = Math.max(dearest > 0 ? price / dearest : 1, cheapestShare)
  return endpoint.deployment.weight / (relative * relative)
}

/** A number in [0, 1) that only the two decide, as if it were drawn. */
function lotOf(conversation: string, { id }: Endpoint): number {
  return Number(BigInt.asUintN(53, Bun.hash.wyhash(`${conversation}\n${id}`))) / 2 ** 53
}

/** A random place in [0, 1), such that the probability of being first is weight/sum. */
function draw(weight: number, random: () => number): number {
  // Of exponential random variables, each is the smallest with a probability in proportion to its rate.
  const waiting = -Math.log(1 - random()) / weight
  return waiting / (1 + waiting)
}
