import type { Preferences } from '../canonical/call.ts'
import type { Endpoint } from '../canonical/endpoint.ts'
import { effectivePrice } from '../catalog/effective-price.ts'
import type { Variant } from '../catalog/model-ids.ts'
import { isProvider } from '../catalog/permissions.ts'
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
}

/** An endpoint with its place: lower first. */
interface Placed {
  endpoint: Endpoint
  state: HealthState
  place: number
}

/**
 * Orders endpoints: the caller's order, else his sort, else at random by price with those that failed lately last.
 * Whoever asked for a pause comes last in any case, and is tried all the same when nobody else is left.
 */
export function orderEndpoints(endpoints: readonly Endpoint[], ordering: Ordering): Endpoint[] {
  const { health, preferences } = ordering
  const sort = sortOf(ordering)
  const place = placing(endpoints, ordering, sort)
  const placed: Placed[] = endpoints.map((endpoint) => ({
    endpoint,
    state: health.stateOf(endpoint),
    place: place(endpoint),
  }))
  const isBalanced = orderOf(preferences) === null && sort === null
  if (isBalanced && ordering.stickyEndpointId !== null) favour(placed, ordering.stickyEndpointId)
  placed.sort(
    (left, right) => tierOf(left, isBalanced) - tierOf(right, isBalanced) || left.place - right.place,
  )
  return placed.map(({ endpoint }) => endpoint)
}

/** A conversation goes where it was unless that endpoint is in trouble. */
function favour(placed: readonly Placed[], endpointId: string): void {
  const entry = placed.find(({ endpoint, state }) => endpoint.id === endpointId && state === 'healthy')
  if (entry) entry.place = Number.NEGATIVE_INFINITY
}

function tierOf({ state }: Placed, isBalanced: boolean): number {
  if (state === 'cooling_down' || state === 'out') return 2
  return state === 'failing' && isBalanced ? 1 : 0
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
  const { health, preferences, random } = ordering
  const order = orderOf(preferences)
  const dearest = Math.max(...endpoints.map((endpoint) => effectivePrice(endpoint) ?? 0))
  const drawn = (endpoint: Endpoint) => draw(endpoint, dearest, random)
  // Equal places are drawn for, so that two endpoints of one price share the load; drawn places lie in [0, 1).
  if (order) return (endpoint) => listedAt(endpoint, order) + drawn(endpoint)
  if (sort === 'price') return (endpoint) => effectivePrice(endpoint) ?? Number.MAX_VALUE
  if (sort === 'latency') return (endpoint) => health.performanceOf(endpoint).latencyMs ?? Number.MAX_VALUE
  if (sort === 'throughput') return (endpoint) => -(health.performanceOf(endpoint).throughput ?? 0)
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

/**
 * A place in [0, 1) drawn so that being first has the probability weight/sum, with the deployment's weight divided by
 * the square of its price. An unknown price counts as the dearest.
 */
function draw(endpoint: Endpoint, dearest: number, random: () => number): number {
  const price = effectivePrice(endpoint) ?? dearest
  const relative = Math.max(dearest > 0 ? price / dearest : 1, cheapestShare)
  const weight = endpoint.deployment.weight / (relative * relative)
  // The smallest of exponential variables belongs to each with the share of its rate.
  const waiting = -Math.log(1 - random()) / weight
  return waiting / (1 + waiting)
}
