import type { Endpoint, Model } from '../canonical/endpoint.ts'
import { modalityRow, type Modality } from '../canonical/operation.ts'
import { unknownSurcharges } from '../canonical/surcharges.ts'
import { assert } from '../core/assert.ts'
import type { GatewayError } from '../core/errors.ts'
import { atOnce, inTurns } from '../core/turns.ts'
import type { DeploymentSource, PotentialProvider } from './deployment-source.ts'
import type { ListedModel } from './listing.ts'
import { nearestIds, resolveModel, splitVariant } from './model-ids.ts'
import type { ResolvedModel } from './model-ids.ts'
import { describeMember, noNames, type OperatorNames, type Place } from './operator-names.ts'
import { offersOf, type Offer } from './offers.ts'
import type { OperatorPrices } from './prices/operator-prices.ts'
import { pricePackage } from './prices/price-package.gen.ts'
import type { PriceTable } from './prices/price-table.ts'
import { buildSnapshot } from './snapshot.ts'
import type { Snapshot } from './snapshot.ts'
import { idsOf, unknownModel } from './unknown-model.ts'
import { awaitedProviders } from './unread-listings.ts'
import { voicedEndpoints } from './voiced-models.ts'

/** The models offered at one moment, and their endpoints. Never changed. */
export interface CatalogView {
  /** The endpoints of a base id for one modality; none when the id is unknown. Pass an id that `resolve` returned. */
  endpointsOf(base: string, modality: Modality): readonly Endpoint[]
  /** For an operator's own name, the places of its endpoints by their ids; null for a model. */
  placesOf(base: string): ReadonlyMap<string, Place> | null
  /**
   * Resolves the model that a caller wrote: first the operator's aliases and exact ids; then ids with a variant, in a
   * different case, or bare slugs that exactly one model has. A name without a tag means its tag `latest`. An unknown id is
   * returned as it is, without its variant.
   */
  resolve(modelId: string): ResolvedModel
  model(base: string): Model | null
  /** All models by id, or those of one modality. */
  models(modality?: Modality): readonly Model[]
  /** Up to three served ids that the caller may have meant. */
  nearest(modelId: string): string[]
  /** The error for a model without endpoints of the modality; its message tells what to do. */
  unknownModel(modelId: string, modality: Modality): GatewayError
  /**
   * For a model that no endpoint serves: display names of providers that may have it, because their listings have not been
   * read since the start.
   */
  awaitedProviders(modelId: string): readonly string[]
  /** The configured providers, in that order; a provider with several deployments appears once. */
  readonly providers: readonly CatalogProvider[]
  /** Endpoints without a known price, for a warning to the operator. */
  unpriced(): readonly Endpoint[]
  /** Endpoints with a surcharge of unknown amount. */
  surcharged(): readonly Endpoint[]
  /** One sentence for each of the operator's names and aliases that nothing serves now, for a warning to the operator. */
  unservedNames(): readonly string[]
}

/** A provider as callers name it and see it. */
export interface CatalogProvider {
  slug: string
  name: string
}

/** The served models. Answers from memory; a change replaces the whole view. */
export interface Catalog {
  /** The present view; the same object until something changes. */
  current(): CatalogView
  /**
   * Replaces what was known of a deployment's models by its listing; resolves when the view shows it. The deployment must
   * be a known one.
   */
  replaceDiscovered(deploymentId: string, models: readonly ListedModel[]): Promise<void>
  /**
   * Replaces the default prices. With null it computes all prices again, because some take effect on a day. Resolves when
   * the view shows it. Calls that have begun keep the prices they began with.
   */
  replacePrices(table: PriceTable | null): Promise<void>
  /** Rises with every change. */
  readonly version: number
}

/** What `createCatalog` needs. */
export interface CatalogOptions {
  deployments: readonly DeploymentSource[]
  /** Ids of the deployments whose listings are read. */
  askedDeployments?: ReadonlySet<string>
  /** Default prices; those that are shipped with the program when absent. */
  table?: PriceTable
  /** The operator's prices by public model id, for every deployment. */
  prices?: Readonly<Record<string, OperatorPrices>>
  /** The operator's own names of models. */
  names?: OperatorNames
  /** Providers that could be configured. */
  potential?: readonly PotentialProvider[]
  nowMs: () => number
}

/** Builds the catalog without network; discovery replaces parts of it later. Throws RangeError on a bad price. */
export function createCatalog(options: CatalogOptions): Catalog {
  const prices = options.prices ?? {}
  let table = options.table ?? pricePackage
  const providers = providersOf(options.deployments)
  const known: Known[] = options.deployments.map((source) => ({ source, listed: null, offers: [] }))
  const stale = new Set(known)
  const naming = {
    operator: options.names ?? noNames,
    deploymentIds: new Set(options.deployments.map(({ deployment }) => deployment.id)),
  }
  let refreshing: Promise<void> | null = null
  let version = 1
  let view = atOnce(build())

  /** Builds the view anew. It computes only the offers of deployments that have changed. */
  function* build(): Generator<void, CatalogView> {
    const nowMs = options.nowMs()
    for (const one of stale) {
      stale.delete(one)
      one.offers = yield* offersOf(one.source, { listed: one.listed, prices, table, nowMs })
    }
    const offers = known.flatMap((one) => one.offers)
    const isUnread = ({ source, listed }: Known) =>
      listed === null && options.askedDeployments?.has(source.deployment.id) === true
    const unread = known.filter(isUnread).map(({ source }) => source)
    const surroundings = {
      sources: options.deployments,
      providers,
      potential: options.potential ?? [],
      unread,
      table,
    }
    return viewOf(yield* buildSnapshot(offers, naming), surroundings)
  }

  async function refresh(): Promise<void> {
    try {
      // Changes that come meanwhile are left to the next round, so that many listings at once cost few rounds.
      while (stale.size > 0) {
        view = await inTurns(build())
        version += 1
      }
    } finally {
      refreshing = null
    }
  }

  return {
    current: () => view,
    replaceDiscovered(deploymentId, models) {
      const one = known.find(({ source }) => source.deployment.id === deploymentId)
      assert(one, `there is no deployment ${deploymentId}`)
      one.listed = models
      stale.add(one)
      return (refreshing ??= refresh())
    },
    replacePrices(other) {
      table = other ?? table
      for (const one of known) stale.add(one)
      return (refreshing ??= refresh())
    },
    get version() {
      return version
    },
  }
}

/** A deployment and what is known of its models. */
interface Known {
  source: DeploymentSource
  /** Its last listing; null before the first. */
  listed: readonly ListedModel[] | null
  offers: readonly Offer[]
}

function providersOf(deployments: readonly DeploymentSource[]): readonly CatalogProvider[] {
  const names = new Map<string, string>()
  for (const { deployment } of deployments)
    if (!names.has(deployment.provider)) names.set(deployment.provider, deployment.providerName)
  return [...names].map(([slug, name]) => ({ slug, name }))
}

/** The parts of a view besides its models. */
interface Surroundings {
  sources: readonly DeploymentSource[]
  providers: readonly CatalogProvider[]
  potential: readonly PotentialProvider[]
  /** Deployments with a listing that has not been read yet. */
  unread: readonly DeploymentSource[]
  table: PriceTable
}

function viewOf(
  snapshot: Snapshot,
  { providers, sources, potential, unread, table }: Surroundings,
): CatalogView {
  return {
    providers,
    awaitedProviders: (modelId) =>
      awaitedProviders({ base: resolveIn(snapshot, modelId).base, snapshot, unread, table }),
    endpointsOf: (base, modality) =>
      snapshot.endpoints[modality].get(base) ??
      (modalityRow(modality).speaks
        ? voicedEndpoints({ base, sources, speech: snapshot.endpoints.speech })
        : none),
    placesOf: (base) => snapshot.names.get(base)?.places ?? null,
    resolve: (modelId) => resolveIn(snapshot, modelId),
    model: (base) => snapshot.models.get(base) ?? null,
    models: (modality) =>
      modality ? snapshot.list.filter((model) => model.modality === modality) : snapshot.list,
    nearest: (modelId) => nearestIds(modelId, idsOf(snapshot)),
    unknownModel: (modelId, modality) =>
      unknownModel({
        modelId,
        modality,
        snapshot,
        potential,
        table,
        find: (name) => snapshot.models.get(resolveIn(snapshot, name).base) ?? null,
        resolve: (name) => resolveIn(snapshot, name).base,
      }),
    // The operator's names are left out: their endpoints are those of models, which are in the list already.
    unpriced: () =>
      snapshot.list.flatMap(({ id, endpoints }) =>
        snapshot.names.has(id) ? [] : endpoints.filter(({ isPriced }) => !isPriced),
      ),
    surcharged: () =>
      snapshot.list.flatMap(({ id, endpoints }) =>
        snapshot.names.has(id) ? [] : endpoints.filter(({ price }) => unknownSurcharges(price).length > 0),
      ),
    unservedNames: () => unservedNames(snapshot),
  }
}

function unservedNames({ models, operatorNames, aliases, missingMembers }: Snapshot): string[] {
  const members = missingMembers.map(
    ({ name, member }) =>
      `the name ${JSON.stringify(name)} has ${describeMember(member)}, which nothing serves now`,
  )
  const targets = [...aliases].flatMap(([alias, { base }]) =>
    models.has(base) || Object.hasOwn(operatorNames, base)
      ? []
      : [`the alias ${JSON.stringify(alias)} means ${base}, which nothing serves now`],
  )
  return [...members, ...targets]
}

const none: readonly Endpoint[] = []

function resolveIn(snapshot: Snapshot, modelId: string): ResolvedModel {
  const { aliases, aliasByLowerCase, models } = snapshot
  if (aliases.size === 0) return resolveModel(snapshot, modelId)
  const whole = aliases.get(modelId)
  if (whole) return whole
  if (models.has(modelId)) return { base: modelId, variant: null }
  const split = splitVariant(modelId)
  const named = aliases.get(split.base)
  if (named) return withVariant(named, split)
  const found = resolveModel(snapshot, modelId)
  if (models.has(found.base)) return found
  const otherCase = aliasByLowerCase.get(modelId.toLowerCase())
  if (otherCase) return otherCase
  const otherBase = aliasByLowerCase.get(split.base.toLowerCase())
  return otherBase ? withVariant(otherBase, split) : found
}

/** The caller's variant takes precedence over the alias's. */
function withVariant(meant: ResolvedModel, { variant }: ResolvedModel): ResolvedModel {
  return variant === null ? meant : { base: meant.base, variant }
}
