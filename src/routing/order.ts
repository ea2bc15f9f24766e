import type { Preferences } from '../canonical/call.ts'
import type { Endpoint } from '../canonical/endpoint.ts'
import { effectivePrice } from '../catalog/effective-price.ts'
import type { Variant } from '../catalog/model-ids.ts'
import type { Place } from '../catalog/operator-names.ts'
import { isProvider } from '../catalog/permissions.ts'
import { attemptsMax } from '../core/limits/calls.ts'
import { nameGroupsMax } from '../core/limits/catalog.ts'
import type { Health, HealthState } from './health.ts'

/** What decides the order in which endpoints are tried. */
export interface Ordering {
  preferences: Preferences
  variant: Variant | null
  health: Health
  /** Uniform in [0, 1). */
  random: () => number
  /** Id of the endpoint the conversation sticks to, or null. */
  stickyEndpointId: string | null
  /** Where the endpoints stand in the operator's own name that was asked for; null when a model was. */
  places: ReadonlyMap<string, Place> | null
}

/** An endpoint with its group and its place there: lower first. A model is one group. */
interface Placed {
  endpoint: Endpoint
  state: HealthState
  /** Whether it misses the latency or the throughput that the caller prefers. */
  isMissing: boolean
  group: number
  place: number
}

/**
 * Orders endpoints: the caller's order, else his sort, else at random by price with those that failed lately last.
 * Of a name of the operator's own the groups follow each other, whatever sorts within a group; without a sort its weights
 * decide, not the price. Those that miss the latency or the throughput that the caller prefers follow those that do not,
 * also in his own order. An endpoint that asked for a pause comes last in any case, and is tried all the same when no
 * other is left.
 */
export function orderEndpoints(endpoints: readonly Endpoint[], ordering: Ordering): Endpoint[] {
  const { health, preferences, places } = ordering
  const order = orderOf(preferences)
  const sort = sortOf(ordering)
  const place = placing(endpoints, ordering, sort)
  const placed: Placed[] = endpoints.map((endpoint) => ({
    endpoint,
    state: health.stateOf(endpoint),
    isMissing: misses(endpoint, ordering),
    group: groupOf(endpoint, places, order),
    place: place(endpoint),
  }))
  const isBalanced = order === null && sort === null
  if (isBalanced && ordering.stickyEndpointId !== null) favour(placed, ordering.stickyEndpointId)
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

/** An endpoint that nobody has asked lately misses nothing. */
function misses(endpoint: Endpoint, { preferences, health }: Ordering): boolean {
  const { preferredThroughputMin: throughputMin, preferredLatencyMaxMs: latencyMaxMs } = preferences
  if (throughputMin === null && latencyMaxMs === null) return false
  const { throughput, latencyMs } = health.performanceOf(endpoint)
  const isSlow = percentiles.some((at) => (throughput?.[at] ?? Infinity) < (throughputMin?.[at] ?? 0))
  return isSlow || percentiles.some((at) => (latencyMs?.[at] ?? 0) > (latencyMaxMs?.[at] ?? Infinity))
}

const percentiles = ['p50', 'p75', 'p90', 'p99'] as const

/** The providers that the caller lists count before the operator's groups. */
function groupOf(endpoint: Endpoint, places: Ordering['places'], order: readonly string[] | null): number {
  const group = places?.get(endpoint.id)?.group ?? 0
  return places && order ? listedAt(endpoint, order) * nameGroupsMax + group : group
}

/** A call has few attempts: no group may use them up before a later one had its turn. */
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

/** A conversation goes where it was unless that endpoint is in trouble. */
function favour(placed: readonly Placed[], endpointId: string): void {
  const entry = placed.find(({ endpoint, state }) => endpoint.id === endpointId && state === 'healthy')
  if (entry) entry.place = Number.NEGATIVE_INFINITY
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

function placing(
  endpoints: readonly Endpoint[],
  ordering: Ordering,
  sort: Sort | null,
): (endpoint: Endpoint) => number {
  const { health, preferences, random, places } = ordering
  const order = orderOf(preferences)
  const dearest = Math.max(...endpoints.map((endpoint) => effectivePrice(endpoint) ?? 0))
  const weightOf = (endpoint: Endpoint) =>
    places ? (places.get(endpoint.id)?.weight ?? 1) : weightByPrice(endpoint, dearest)
  const drawn = (endpoint: Endpoint) => draw(weightOf(endpoint), random)
  // Equal places are drawn for, so that two endpoints of one price share the load; drawn places lie in [0, 1).
  if (order && places) return drawn
  if (order) return (endpoint) => listedAt(endpoint, order) + drawn(endpoint)
  if (sort === 'price') return (endpoint) => effectivePrice(endpoint) ?? Number.MAX_VALUE
  if (sort === 'latency')
    return (endpoint) => health.performanceOf(endpoint).latencyMs?.p50 ?? Number.MAX_VALUE
  if (sort === 'throughput') return (endpoint) => -(health.performanceOf(endpoint).throughput?.p50 ?? 0)
  return drawn
}

/** The providers the caller wants tried in order; an empty list asks for nothing. */
export function orderOf({ order }: Preferences): readonly string[] | null {
  return order && order.length > 0 ? order : null
}

/** The place of the first name that means the endpoint; those not named follow all that are. */
export function listedAt(endpoint: Endpoint, order: readonly string[]): number {
  const index = order.findIndex((name) => isProvider(endpoint, name))
  return index === -1 ? order.length : index
}

/** Keeps a price of zero from being infinitely attractive: a millionth of the dearest, or of one when all are free. */
const cheapestShare = 1e-6

/** The deployment's weight divided by the square of the price. An unknown price counts as the dearest. */
function weightByPrice(endpoint: Endpoint, dearest: number): number {
  const price = effectivePrice(endpoint) ?? dearest
  const relative = Math.max(dearest > 0 ? price / dearest : 1, cheapestShare)
  return endpoint.deployment.weight / (relative * relative)
}

/** A place in [0, 1) drawn so that being first has the probability weight/sum. */
function draw(weight: number, random: () => number): number {
  // The smallest of exponential variables belongs to each with the share of its rate.
  const waiting = -Math.log(1 - random()) / weight
  return waiting / (1 + waiting)
}
