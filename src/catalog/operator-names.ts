import type { Endpoint, Model } from '../canonical/endpoint.ts'
import type { Modality } from '../canonical/operation.ts'
import { resolveModel, type ModelIndex, type ResolvedModel } from './model-ids.ts'
import { isProvider } from './permissions.ts'

/** Endpoints of one model that a name may use; the members are those of the configuration file. */
export interface NameMember {
  /** A model's id, never another name. */
  model: string
  /** A deployment's id, else a provider's slug or tag; absent for every deployment that has the model. */
  provider?: string | undefined
  region?: string | undefined
  /** The member's share of its group's calls; 1 by default. Its endpoints divide it by the weights of their deployments. */
  weight?: number | undefined
}

/** A model id of the operator's own: groups of endpoints. A group is asked when all groups before it have failed. */
export interface OperatorName {
  description?: string | undefined
  groups: readonly (readonly NameMember[])[]
}

/** What the operator calls models besides their ids. */
export interface OperatorNames {
  names: Readonly<Record<string, OperatorName>>
  /** What an old name means: a model's id, a name, or another alias. Without cycles. */
  aliases: Readonly<Record<string, string>>
}

/** No names and no aliases. */
export const noNames: OperatorNames = Object.freeze({ names: {}, aliases: {} })

/** Where an endpoint stands in a name: its group, counted from 0, and its share of that group's calls. */
export interface Place {
  group: number
  weight: number
}

/** A name as it is served now. */
export interface ServedName {
  /** The name as a model of the list; its endpoints are in the order of their groups. */
  model: Model
  /** Of every modality. */
  endpoints: readonly Endpoint[]
  /** By the endpoint's id. */
  places: ReadonlyMap<string, Place>
}

/** Models by their ids, and the endpoints of each of every modality. */
export interface NamedModels extends ModelIndex {
  endpointsOf(base: string): readonly Endpoint[]
  /** All configured deployments, whether they offer anything now or not. */
  deploymentIds: ReadonlySet<string>
}

/** The part of a name that is served now, and the members that are not. */
export interface NameState {
  /** Null when none of its members is served. */
  served: ServedName | null
  missing: readonly NameMember[]
}

/** What a name means with these models. An endpoint that is in several groups counts in the first. */
export function serveName(id: string, name: OperatorName, models: NamedModels): NameState {
  const places = new Map<string, Place>()
  const endpoints: Endpoint[] = []
  const missing: NameMember[] = []
  const members = name.groups.flatMap((group, index) => group.map((member) => ({ member, group: index })))
  for (const { member, group } of members) {
    const found = endpointsOf(member, models)
    if (found.length === 0) missing.push(member)
    const total = found.reduce((sum, { deployment }) => sum + deployment.weight, 0)
    for (const endpoint of found) {
      const weight = ((member.weight ?? 1) * endpoint.deployment.weight) / total
      const known = places.get(endpoint.id)
      if (known?.group === group) known.weight += weight
      if (known) continue
      places.set(endpoint.id, { group, weight })
      endpoints.push(endpoint)
    }
  }
  const modality = endpoints[0]?.modality
  if (modality === undefined) return { served: null, missing }
  const model = {
    id,
    name: id,
    created: 0,
    description: name.description ?? null,
    modality,
    endpoints: ofModality(endpoints, modality),
  }
  return { served: { model, endpoints, places }, missing }
}

function endpointsOf({ model, provider, region }: NameMember, models: NamedModels): readonly Endpoint[] {
  const { base, variant } = resolveModel(models, model)
  if (variant !== null) return []
  // When the slug of a provider with several deployments is also the id of one of them, the operator means that one.
  const isDeployment = provider !== undefined && models.deploymentIds.has(provider)
  const isMeant = (endpoint: Endpoint) =>
    provider === undefined ||
    (isDeployment ? endpoint.deployment.id === provider : isProvider(endpoint, provider))
  return models
    .endpointsOf(base)
    .filter(
      (endpoint) =>
        isMeant(endpoint) &&
        (region === undefined || endpoint.deployment.region?.toLowerCase() === region.toLowerCase()),
    )
}

/** A member as a message names it. */
export function describeMember({ model, provider, region }: NameMember): string {
  const where = [provider, region].filter((part) => part !== undefined).join(' in ')
  return where === '' ? model : `${model} at ${where}`
}

/** The model or name that every alias finally leads to. */
export function resolveAliases(
  aliases: OperatorNames['aliases'],
  index: ModelIndex,
): ReadonlyMap<string, ResolvedModel> {
  return new Map(
    Object.keys(aliases).map((alias) => {
      let target = aliases[alias] ?? alias
      // The configuration refuses cycles, so each step uses up one alias.
      for (let left = Object.keys(aliases).length; left > 0 && Object.hasOwn(aliases, target); left--)
        target = aliases[target] ?? target
      return [alias, resolveModel(index, target)] as const
    }),
  )
}

/** The endpoints of one modality. */
export function ofModality(endpoints: readonly Endpoint[], modality: Modality): Endpoint[] {
  return endpoints.filter((endpoint) => endpoint.modality === modality)
}
