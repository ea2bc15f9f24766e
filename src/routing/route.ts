import { defaultPreferences } from '../canonical/call.ts'
import type { CallBase } from '../canonical/call.ts'
import type { Deployment, Endpoint } from '../canonical/endpoint.ts'
import type { Modality } from '../canonical/operation.ts'
import type { Constraints } from '../canonical/principal.ts'
import type { CatalogView } from '../catalog/catalog.ts'
import type { ResolvedModel } from '../catalog/model-ids.ts'
import type { Place } from '../catalog/operator-names.ts'
import { unservedVariants } from '../catalog/variants.ts'
import { exclude, exclusionOf } from './exclusion.ts'
import type { Exclusion, Filter } from './exclusion.ts'
import type { Health } from './health.ts'
import { listedAt, orderEndpoints, orderOf } from './order.ts'
import { refuseRoute } from './refusal.ts'
import type { Requirement } from './requirement.ts'
import type { StickyRoutes } from './sticky.ts'

/** Everything that decides which endpoints a call for one model may use. */
export interface RouteRequest<Routed extends RoutedPart = RoutedPart> {
  /** Null when only the model is checked, as for a batch. */
  call: Routed | null
  /** The requested model with its variant: the call's own or one of its fallbacks. */
  model: string
  modality: Modality
  requirements: readonly Requirement[]
  organizationId: string
  constraints: Constraints
  /** A batch's `provider.only`, in addition to the call's; null is no restriction. */
  providerOnly: readonly string[] | null
  catalog: CatalogView
  health: Health
  sticky: StickyRoutes
  /** Uniform in [0, 1). */
  random: () => number
  /** Calls that run at a deployment now. */
  runningOf?: (deployment: Deployment) => number
  /** What identifies the conversation when there is no `sessionId`, such as `prompt_cache_key`. Asked only where there is a choice. */
  conversationKey?: (call: Routed) => string | null
}

/** A call's preferences, parameters and conversation. */
type RoutedPart = Pick<CallBase, 'preferences' | 'parameters' | 'sessionId' | 'demand'>

/** The endpoints to try, in order and never empty, and the excluded ones with their reasons. */
export interface Route {
  ordered: readonly Endpoint[]
  /**
   * The endpoints that are no fallback: those of the model that the caller asked for, or of the first group of the
   * operator's name. The other endpoints answer when these have failed, and not because they are cheaper. The same
   * array as `ordered` where there is no fallback.
   */
  leading: readonly Endpoint[]
  excluded: readonly Exclusion[]
}

/**
 * Filters a model's endpoints, then orders them. Throws: `model_not_found` when the model has none; the requirement's
 * own error when no endpoint has the feature; `permission_denied` when the policy leaves none; `no_matching_endpoint`,
 * naming the preference, when a preference leaves none; `no_healthy_endpoint` when every credential was refused.
 */
export function route<Routed extends RoutedPart>(request: RouteRequest<Routed>): Route {
  const { catalog, health, call } = request
  const resolved = catalog.resolve(request.model)
  const candidates = candidatesOf(request, resolved)
  const places = catalog.placesOf(resolved.base)
  const preferences = call?.preferences ?? defaultPreferences
  const filter: Filter = {
    preferences,
    parameters: call?.parameters ?? none,
    inputTokens: call?.demand.inputTokens ?? 0,
    providerOnly: request.providerOnly,
    constraints: request.constraints,
    requirements: request.requirements,
    variant: resolved.variant,
    name: places ? resolved.base : null,
  }
  const kept: Endpoint[] = []
  const excluded: Exclusion[] = []
  for (const endpoint of candidates) {
    const exclusion = exclusionOf(endpoint, filter) ?? lastChecks(endpoint, filter, health)
    if (exclusion) excluded.push(exclusion)
    else kept.push(endpoint)
  }
  if (kept.length === 0) throw refuseRoute({ model: resolved.base, candidates, filter, health }, excluded)
  if (kept.length === 1) return { ordered: kept, leading: kept, excluded }
  const key = call === null ? null : (call.sessionId ?? request.conversationKey?.(call) ?? null)
  const { variant } = resolved
  const ordered = orderEndpoints(kept, {
    preferences,
    variant,
    health,
    random: request.random,
    stickyEndpointId: key === null ? null : stickyOf(key, request, kept),
    conversation: key === null ? null : `${request.organizationId}\n${key}`,
    runningOf: request.runningOf ?? (() => 0),
    places,
  })
  // Without fallbacks only the first endpoint is tried, or only those that the caller listed.
  const isCut = !preferences.allowFallbacks && orderOf(preferences) === null
  const tried = isCut ? ordered.slice(0, 1) : ordered
  const isByCaller = places === null || orderOf(preferences) !== null
  return { ordered: tried, leading: isByCaller ? tried : firstGroup(tried, places), excluded }
}

/** Also where a pause has put the first group behind the others: it is the one that was asked for. */
function firstGroup(ordered: readonly Endpoint[], places: ReadonlyMap<string, Place>): readonly Endpoint[] {
  const groupOf = ({ id }: Endpoint): number => places.get(id)?.group ?? 0
  const first = Math.min(...ordered.map(groupOf))
  const leading = ordered.filter((endpoint) => groupOf(endpoint) === first)
  return leading.length === ordered.length ? ordered : leading
}

const none: readonly string[] = []

function candidatesOf(
  { catalog, model, modality }: Pick<RouteRequest, 'catalog' | 'model' | 'modality'>,
  { base, variant }: ResolvedModel,
): readonly Endpoint[] {
  const candidates = catalog.endpointsOf(base, modality)
  if (candidates.length === 0 || (variant !== null && unservedVariants.has(variant)))
    throw catalog.unknownModel(model, modality)
  return candidates
}

/** These checks come last: a refused credential is the operator's problem, and must not hide a mistake of the caller. */
function lastChecks(endpoint: Endpoint, { preferences }: Filter, health: Health): Exclusion | null {
  const order = orderOf(preferences)
  if (order && !preferences.allowFallbacks && listedAt(endpoint, order) === order.length) {
    return exclude(endpoint, 'provider.order')
  }
  return health.stateOf(endpoint) === 'out' ? exclude(endpoint, 'credential') : null
}

/** The key has the model that answers, because an operator's own name may stand for several. */
function stickyOf(
  key: string,
  { sticky, organizationId }: Pick<RouteRequest, 'sticky' | 'organizationId'>,
  kept: readonly Endpoint[],
): string | null {
  for (const model of new Set(kept.map((endpoint) => endpoint.model))) {
    const found = sticky.endpointOf({ organizationId, model, key })
    if (found !== null) return found
  }
  return null
}
