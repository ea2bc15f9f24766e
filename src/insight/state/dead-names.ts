import type { Endpoint } from '../../canonical/endpoint.ts'
import type { CatalogView } from '../../catalog/catalog.ts'
import { describeMember, type OperatorNames } from '../../catalog/operator-names.ts'

/** A name of the operator's whose first group answers no call now. */
export interface DeadName {
  name: string
  /** What the first group has, as a message names it. */
  members: readonly string[]
  /** Whether a deployment offers any of it. If so, every one that does fails or is refused. */
  isServed: boolean
  /** Whether a later group takes the calls meanwhile. */
  hasOthers: boolean
}

/**
 * The names whose first group is dead: nothing of it is served, or `isDead` is true for all that is. A name of which no
 * group is served is left out: it has no calls to lose.
 */
export function listDeadNames(
  names: OperatorNames['names'],
  view: Pick<CatalogView, 'model' | 'placesOf'>,
  isDead: (endpoint: Endpoint) => boolean,
): DeadName[] {
  return Object.entries(names).flatMap(([name, { groups }]) => {
    const places = view.placesOf(name)
    const endpoints = view.model(name)?.endpoints ?? []
    if (places === null || endpoints.length === 0) return []
    const first = endpoints.filter(({ id }) => places.get(id)?.group === 0)
    if (first.some((endpoint) => !isDead(endpoint))) return []
    const members = (groups[0] ?? []).map(describeMember)
    return [{ name, members, isServed: first.length > 0, hasOthers: first.length < endpoints.length }]
  })
}
