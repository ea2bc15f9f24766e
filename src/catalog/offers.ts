import type { Endpoint } from '../canonical/endpoint.ts'
import { isSoundModality, type Modality, modalityRow } from '../canonical/operation.ts'
import type { Price } from '../canonical/usage.ts'
import { modelsPerTurnMax } from '../core/limits/catalog.ts'
import { leastAudio, modalitiesOf, type ModelTraits, traitsOf } from './capabilities.ts'
import { type DeploymentSource, type OperatorModel, quotaOf } from './deployment-source.ts'
import type { ListedModel } from './listing.ts'
import { slugOf, splitVariant, toPublicId } from './model-ids.ts'
import { type OperatorAudio, statedAudio } from './operator-audio.ts'
import type { OperatorPrices } from './prices/operator-prices.ts'
import { priceInOrder } from './prices/price-order.ts'
import { tableFacts, tableNames, type PriceTable } from './prices/price-table.ts'

/** An endpoint, with what its sources say about its model. */
export interface Offer {
  endpoint: Endpoint
  name: string | null
  /** Unix seconds, 0 when unknown. */
  created: number
  /** The source of the model's kind, if the operator may want to correct it; null for a provider whose models are known by name. */
  kindFrom: KindSource | null
}

/** Where the kind of a model is known from. */
export type KindSource = 'name' | 'provider' | 'operator'

/** The sources of an offer besides the deployment itself. */
export interface OfferContext {
  /** The last listing, or null when there was none yet. */
  listed: readonly ListedModel[] | null
  /** The operator's prices by public id, for every deployment. */
  prices: Readonly<Record<string, OperatorPrices>>
  /** Default prices. */
  table: PriceTable
  nowMs: number
}

/**
 * All offers of a deployment: first the known or listed models, then the operator's changes and additions. In short steps,
 * because a listing may have thousands of models.
 */
export function* offersOf(source: DeploymentSource, context: OfferContext): Generator<void, Offer[]> {
  const listedByName = new Map(context.listed?.map((listed) => [listed.upstream, listed]))
  const byUpstream = new Map<string, OperatorModel[]>()
  for (const model of source.models) {
    const upstream = upstreamOf(model, source, listedByName)
    byUpstream.set(upstream, [...(byUpstream.get(upstream) ?? []), model])
  }
  const offers: Offer[] = []
  const ids = new Set<string>()
  const sets = new Set<ReadonlySet<string> | null>()
  let worked = 0
  for (const listed of modelsOf(source, context)) {
    if (++worked % modelsPerTurnMax === 0) yield
    if (isBatchPrice(listed.upstream)) continue
    // A model that the operator describes is offered only as described, under the operator's id.
    if (byUpstream.has(listed.upstream)) continue
    // An id means one model at a deployment: when two names give the same id, the first one has it.
    const id = publicIdOf(source, listed.upstream)
    if (ids.has(id)) continue
    ids.add(id)
    for (const offer of toOffer(source, context, { listed })) {
      offers.push(offer)
      // Finding the parameters may take milliseconds when no model before had the same set.
      const { parameters } = offer.endpoint
      if (!sets.has(parameters)) yield
      sets.add(parameters)
    }
  }
  for (const [upstream, models] of byUpstream) {
    const listed = listedByName.get(upstream) ?? nameOnly(upstream)
    for (const [index, operator] of models.entries()) {
      offers.push(...toOffer(source, context, { listed, operator, isSecondName: index > 0 }))
    }
  }
  return offers
}

function statedOutput(
  source: DeploymentSource,
  upstream: string,
  model: string,
): Pick<Endpoint, 'outputTokensStated'> {
  const outputTokensStated = source.outputTokensStatedOf?.(upstream, model) ?? null
  return outputTokensStated === null ? {} : { outputTokensStated }
}

/**
 * The public id of a model that the operator does not describe. At a server that the operator named it begins with that name,
 * and `publicName` has written `--` for `/`.
 */
function publicIdOf({ author, publicName }: DeploymentSource, upstream: string): string {
  return toPublicId(author, publicName(upstream))
}

/**
 * The provider's name for a model that the operator describes: the operator's `upstream`. Without it, the first of these
 * that the listing has: the part of the id after the author, its tag `latest`, the whole id, the name that gave the id.
 */
function upstreamOf(
  { id, upstream }: OperatorModel,
  source: DeploymentSource,
  listedByName: ReadonlyMap<string, ListedModel>,
): string {
  const name = upstream ?? (source.upstreamOf ?? slugOf)(id)
  const found = [name, `${name}:latest`, ...(upstream === undefined ? [id] : [])].find((one) =>
    listedByName.has(one),
  )
  if (found !== undefined) return found
  const isMadeId = upstream === undefined && id.startsWith(`${source.author}/`)
  const listed = isMadeId ? [...listedByName.keys()] : []
  return listed.find((one) => publicIdOf(source, one) === id) ?? name
}

/**
 * OpenRouter lists a model's prices in its own batches as a model `:batch`. Every call of this gateway is a live one, so
 * this entry is not a separate model, and its price is not that of a call.
 */
function isBatchPrice(upstream: string): boolean {
  return splitVariant(upstream).variant === 'batch'
}

/** The listed models and those that the listing leaves out; without a listing, the known models. */
function modelsOf(source: DeploymentSource, { listed, table }: OfferContext): readonly ListedModel[] {
  if (listed === null) return knownModels(source, table)
  const names = new Set(listed.map(({ upstream }) => upstream))
  const unlisted = source.onlyListed ? [] : (source.unlisted ?? [])
  return [...listed, ...unlisted.filter((name) => !names.has(name)).map(nameOnly)]
}

/** Without a listing: the models in the price sources of the provider. */
function knownModels(
  { onlyListed, pricesProviderId: providerId, prices }: DeploymentSource,
  table: PriceTable,
): ListedModel[] {
  if (onlyListed) return []
  const names = new Set([...tableNames({ table, providerId }), ...prices.names])
  return [...names].map(nameOnly)
}

function nameOnly(upstream: string): ListedModel {
  return { upstream, created: null, contextLength: null, name: null, modality: undefined }
}

interface Described {
  listed: ListedModel
  operator?: OperatorModel
  /** A second public name of an upstream model. It has an endpoint of its own, because its prices may differ. */
  isSecondName?: boolean
}

/** Empty when no operation serves the model, or the provider has no adapter for its modality. */
function toOffer(source: DeploymentSource, context: OfferContext, described: Described): Offer[] {
  const { deployment, pricesProviderId } = source
  const { listed, operator } = described
  const { upstream } = listed
  const traits = audioTraitsOf(source, upstream, operator)
  const modality = modalityOf(described, traits, source)
  if (modality === null || !source.modalities.includes(modality)) return []
  const priced = { table: context.table, providerId: pricesProviderId }
  const model = operator?.id ?? publicIdOf(source, upstream)
  const known = source.nameBehind?.(upstream, model) ?? upstream
  const facts = tableFacts(priced, known, context.nowMs)
  const ordered = priceInOrder(
    {
      table: facts,
      batches: tableFacts(priced, `${known}:batch`, context.nowMs),
      provider: source.prices.priceOf(known, context.nowMs),
      everywhere: context.prices[model],
      model: operator?.prices,
    },
    {
      modality,
      upstream: known,
      isFree: source.isFree || (source.freeEnding !== undefined && upstream.endsWith(source.freeEnding)),
      hourWrites: source.hourWrites,
      regional: source.regional,
      tiers: source.tiers,
    },
  )
  // The provider's listing is newer than the data in the program.
  const expirationDate = listed.expirationDate ?? source.expirationDates?.get(upstream)
  const modalities = withListed(modalitiesOf(modality, traits), modality, listed)
  const endpoint: Endpoint = {
    id: `${deployment.id}/${upstream}${described.isSecondName ? `@${model}` : ''}`,
    deployment,
    model,
    upstreamModel: upstream,
    ...(known === upstream ? {} : { knownAs: known }),
    modality,
    ...ordered,
    isPriced: hasPrice(modality, ordered.price),
    contextLength: operator?.context_length ?? listed.contextLength ?? facts?.contextLength ?? null,
    outputTokensMax: operator?.output_tokens_max ?? listed.outputTokensMax ?? null,
    ...statedOutput(source, known, model),
    parameters: null,
    inputModalities: modalities.input,
    outputModalities: modalities.output,
    dataPolicy: source.dataPolicy,
    reasons: traits.reasons,
    ...(traits.searches && modalityRow(modality).isConversation ? { searches: true } : {}),
    ...(listed.interfaces ? { interfaces: listed.interfaces } : {}),
    quantization: null,
    ...(expirationDate === undefined ? {} : { expirationDate }),
    batch: operator?.batch_upstream === undefined ? source.batch : 'native',
    ...quotaOf(operator),
    ...(operator?.batch_upstream === undefined ? {} : { batchUpstream: operator.batch_upstream }),
    audio: audioOf(source, modality, { traits, stated: operator?.audio ?? {} }),
  }
  const kindFrom = pricesProviderId === null ? kindSourceOf(described) : null
  const endpoints = [endpoint, ...transcribing(endpoint, source, { traits, stated: operator?.audio ?? {} })]
  const told = { name: listed.name ?? facts?.name ?? null, created: listed.created ?? 0, kindFrom }
  return endpoints.map((each) => ({
    endpoint: { ...each, parameters: source.parametersOf(each) },
    ...told,
  }))
}

/** The second endpoint of a language model that transcribes: same name, same prices, a different operation. */
function transcribing(
  endpoint: Endpoint,
  source: DeploymentSource,
  said: { traits: ModelTraits; stated: OperatorAudio },
): Endpoint[] {
  const modality = 'transcription'
  const isOffered =
    modalityRow(endpoint.modality).isConversation &&
    said.traits.transcribes &&
    source.modalities.includes(modality)
  if (!isOffered) return []
  const { input, output } = modalitiesOf(modality, said.traits)
  return [
    {
      ...endpoint,
      id: `${endpoint.id}@${modality}`,
      modality,
      isPriced: hasPrice(modality, endpoint.price),
      inputModalities: input,
      outputModalities: output,
      audio: audioOf(source, modality, said),
    },
  ]
}

/**
 * The modality by the operator, else by the provider's listing, else by the name. A model that the operator describes is
 * served in any case. The operator may have chosen its name, so the name counts only at a provider whose models are known
 * by name, or which has no text models.
 */
function modalityOf(
  { listed, operator }: Described,
  traits: ModelTraits,
  { pricesProviderId, modalities }: DeploymentSource,
): Modality | null {
  if (!operator) return listed.modality === undefined ? traits.modality : listed.modality
  const told = operator.modality ?? listed.modality
  if (told) return told
  const [only, another] = modalities
  const hasText = modalities.includes('language')
  if (only !== undefined && another === undefined && !hasText) return only
  return (pricesProviderId === null && hasText ? null : traits.modality) ?? 'language'
}

function kindSourceOf({ listed, operator }: Described): KindSource {
  if (operator?.modality !== undefined) return 'operator'
  return listed.modality === undefined || listed.modality === null ? 'name' : 'provider'
}

/** Input kinds in the listing take precedence over what the name tells. */
function withListed(
  told: ReturnType<typeof modalitiesOf>,
  modality: Modality,
  { inputs }: ListedModel,
): ReturnType<typeof modalitiesOf> {
  return modalityRow(modality).isConversation && inputs ? { ...told, input: ['text', ...inputs] } : told
}

function audioOf(
  { audio }: DeploymentSource,
  modality: Modality,
  { traits, stated }: { traits: ModelTraits; stated: OperatorAudio },
): Endpoint['audio'] {
  if (!isSoundModality(modality)) return null
  return { ...leastAudio, ...traits.audio, ...audio?.[modality], ...statedAudio(stated) }
}

/** What the provider's name tells; at Azure, where the operator chooses that name, what the public name tells. */
function audioTraitsOf(
  { modelRules }: DeploymentSource,
  upstream: string,
  operator?: OperatorModel,
): ModelTraits {
  const traits = traitsOf(upstream, modelRules)
  if (operator === undefined || Object.keys(traits.audio).length > 0) return traits
  return { ...traits, audio: traitsOf(slugOf(operator.id), modelRules).audio }
}

/** Whether a price is stated for one of the sets of units by which calls of the modality can be billed. */
function hasPrice(modality: Modality, price: Price): boolean {
  return modalityRow(modality).pricedBy.some((units) => units.every((unit) => price[unit] !== undefined))
}
