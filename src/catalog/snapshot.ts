import type { Endpoint, Model } from '../canonical/endpoint.ts'
import { modalityNames, type Modality } from '../canonical/operation.ts'
import { slugOf, withoutDate, type ModelIndex, type ResolvedModel } from './model-ids.ts'
import {
  ofModality,
  resolveAliases,
  serveName,
  type NameMember,
  type NamedModels,
  type OperatorNames,
  type ServedName,
} from './operator-names.ts'
import type { KindSource, Offer } from './offers.ts'

/** Offers that are grouped into models at a time, so that other work gets a turn in between. */
const offersPerTurnMax = 1_000

/** The catalog at one moment; never changed once built. The operator's own names are among the models. */
export interface Snapshot {
  /** By rising id. */
  list: readonly Model[]
  models: ReadonlyMap<string, Model>
  endpoints: Readonly<Record<Modality, ReadonlyMap<string, readonly Endpoint[]>>>
  /** Ids by their lower-case form and by their lower-case slug; several when ambiguous. */
  idByLowerCase: ReadonlyMap<string, readonly string[]>
  idsBySlug: ReadonlyMap<string, readonly string[]>
  /** Ids that end in a date, by the rest of the id and of the slug in lower case. */
  idsByUndated: ReadonlyMap<string, readonly string[]>
  /** For models whose kind the operator may correct: the source of the kind, and the deployment to correct it at. */
  kinds: ReadonlyMap<string, { from: KindSource; deploymentId: string }>
  /** The operator's names that something serves now; they hide models of the same id. */
  names: ReadonlyMap<string, ServedName>
  /** All names, as the operator wrote them. */
  operatorNames: OperatorNames['names']
  /** Members of names that nothing serves now. */
  missingMembers: readonly { name: string; member: NameMember }[]
  /** What the operator's aliases mean, and the same by their lower-case form. */
  aliases: ReadonlyMap<string, ResolvedModel>
  aliasByLowerCase: ReadonlyMap<string, ResolvedModel>
}

type Offered = Pick<Snapshot, 'list' | 'endpoints' | 'kinds'>

/** The operator's names, and the ids of all deployments that they may use. */
export interface Naming {
  operator: OperatorNames
  deploymentIds: ReadonlySet<string>
}

/**
 * Groups offers into models, and models into the operator's names. It yields between short steps, because there may be
 * thousands.
 */
export function* buildSnapshot(
  offers: readonly Offer[],
  { operator, deploymentIds }: Naming,
): Generator<void, Snapshot> {
  const offered = yield* groupOffers(offers)
  yield
  const plain = indexOf(offered.list)
  yield
  const maps = Object.values(offered.endpoints)
  const models: NamedModels = {
    ...plain,
    endpointsOf: (base) => maps.flatMap((map) => map.get(base) ?? []),
    deploymentIds,
  }
  const names = new Map<string, ServedName>()
  const missingMembers: { name: string; member: NameMember }[] = []
  for (const [id, name] of Object.entries(operator.names)) {
    const { served, missing } = serveName(id, name, models)
    if (served) names.set(id, served)
    for (const member of missing) missingMembers.push({ name: id, member })
    yield
  }
  const index = names.size === 0 ? plain : indexOf(listWith(offered.list, names))
  yield
  const aliases = resolveAliases(operator.aliases, index)
  return {
    ...index,
    kinds: offered.kinds,
    endpoints: withNames(offered.endpoints, names),
    names,
    operatorNames: operator.names,
    missingMembers,
    aliases,
    aliasByLowerCase: new Map([...aliases].map(([alias, meant]) => [alias.toLowerCase(), meant])),
  }
}

/** Lists the names among the models, in place of models of the same id. */
function listWith(list: readonly Model[], names: Snapshot['names']): readonly Model[] {
  const others = list.filter(({ id }) => !names.has(id))
  return [...others, ...[...names.values()].map(({ model }) => model)].toSorted(byId)
}

/** A value for each kind of model. */
function byModality<Value>(valueOf: (modality: Modality) => Value): Record<Modality, Value> {
  return Object.fromEntries(modalityNames.map((name) => [name, valueOf(name)])) as Record<Modality, Value>
}

function withNames(
  endpoints: Snapshot['endpoints'],
  names: ReadonlyMap<string, ServedName>,
): Snapshot['endpoints'] {
  if (names.size === 0) return endpoints
  const withOwn = (modality: Modality) =>
    new Map([
      ...endpoints[modality],
      ...[...names].map(([id, name]) => [id, ofModality(name.endpoints, modality)] as const),
    ])
  return byModality(withOwn)
}

function indexOf(list: readonly Model[]): ModelIndex & Pick<Snapshot, 'list' | 'models'> {
  const idsByUndated = new Map<string, string[]>()
  const idByLowerCase = new Map<string, string[]>()
  const idsBySlug = new Map<string, string[]>()
  for (const { id } of list) {
    push(idByLowerCase, id.toLowerCase(), id)
    push(idsBySlug, slugOf(id).toLowerCase(), id)
    const undated = withoutDate(id)?.toLowerCase()
    if (undated === undefined) continue
    push(idsByUndated, undated, id)
    if (slugOf(undated) !== undated) push(idsByUndated, slugOf(undated), id)
  }
  return {
    list,
    models: new Map(list.map((model) => [model.id, model])),
    idByLowerCase,
    idsBySlug,
    idsByUndated,
  }
}

const byId = (left: Model, right: Model): number => (left.id < right.id ? -1 : 1)

/** A model has the modality of its first offer; endpoints of another are still routable. */
function* groupOffers(offers: readonly Offer[]): Generator<void, Offered> {
  const endpoints = byModality(() => new Map<string, Endpoint[]>())
  const firsts = new Map<string, Offer>()
  let worked = 0
  for (const offer of offers) {
    if (++worked % offersPerTurnMax === 0) yield
    const { model, modality } = offer.endpoint
    push(endpoints[modality], model, offer.endpoint)
    if (!firsts.has(model)) firsts.set(model, offer)
  }
  yield
  const list = [...firsts]
    .map(([id, offer]) => toModel(id, offer, endpoints[offer.endpoint.modality].get(id) ?? []))
    .toSorted(byId)
  yield
  const kinds = [...firsts].flatMap(([id, { kindFrom, endpoint }]) =>
    kindFrom === null ? [] : [[id, { from: kindFrom, deploymentId: endpoint.deployment.id }] as const],
  )
  return { list, kinds: new Map(kinds), endpoints }
}

function toModel(id: string, { name, created, endpoint }: Offer, endpoints: readonly Endpoint[]): Model {
  return { id, name: name ?? id, created, description: null, modality: endpoint.modality, endpoints }
}

function push<T>(map: Map<string, T[]>, key: string, value: T): void {
  const list = map.get(key)
  if (list) list.push(value)
  else map.set(key, [value])
}
