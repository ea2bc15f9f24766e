import type { Endpoint, Model } from '../canonical/endpoint.ts'
import type { Modality } from '../canonical/operation.ts'
import { slugOf } from './model-ids.ts'
import type { KindSource, Offer } from './offers.ts'

/** The catalog at one moment; never changed once built. */
export interface Snapshot {
  /** By rising id. */
  list: readonly Model[]
  models: ReadonlyMap<string, Model>
  endpoints: Readonly<Record<Modality, ReadonlyMap<string, readonly Endpoint[]>>>
  /** Ids by their lower-case form and by their lower-case slug; several when ambiguous. */
  idByLowerCase: ReadonlyMap<string, readonly string[]>
  idsBySlug: ReadonlyMap<string, readonly string[]>
  /** Of models whose kind the operator may correct: who says it, and the deployment to correct it at. */
  kinds: ReadonlyMap<string, { from: KindSource; deploymentId: string }>
}

/** Groups offers into models. A model has the modality of its first offer; endpoints of another are still routable. */
export function buildSnapshot(offers: readonly Offer[]): Snapshot {
  const endpoints = {
    language: new Map<string, Endpoint[]>(),
    embedding: new Map<string, Endpoint[]>(),
    transcription: new Map<string, Endpoint[]>(),
    speech: new Map<string, Endpoint[]>(),
  }
  const firsts = new Map<string, Offer>()
  for (const offer of offers) {
    const { model, modality } = offer.endpoint
    push(endpoints[modality], model, offer.endpoint)
    if (!firsts.has(model)) firsts.set(model, offer)
  }
  const list = [...firsts]
    .map(([id, offer]) => toModel(id, offer, endpoints[offer.endpoint.modality].get(id) ?? []))
    .toSorted((left, right) => (left.id < right.id ? -1 : 1))
  const idByLowerCase = new Map<string, string[]>()
  const idsBySlug = new Map<string, string[]>()
  for (const { id } of list) {
    push(idByLowerCase, id.toLowerCase(), id)
    push(idsBySlug, slugOf(id).toLowerCase(), id)
  }
  const kinds = [...firsts].flatMap(([id, { kindFrom, endpoint }]) =>
    kindFrom === null ? [] : [[id, { from: kindFrom, deploymentId: endpoint.deployment.id }] as const],
  )
  return {
    list,
    kinds: new Map(kinds),
    models: new Map(list.map((model) => [model.id, model])),
    endpoints,
    idByLowerCase,
    idsBySlug,
  }
}

function toModel(id: string, { name, created, endpoint }: Offer, endpoints: readonly Endpoint[]): Model {
  return { id, name: name ?? id, created, description: null, modality: endpoint.modality, endpoints }
}

function push<T>(map: Map<string, T[]>, key: string, value: T): void {
  const list = map.get(key)
  if (list) list.push(value)
  else map.set(key, [value])
}
