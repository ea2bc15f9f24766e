import type { Endpoint, LongPrice } from '../canonical/endpoint.ts'
import { isSoundModality, modalityRow, type Modality } from '../canonical/operation.ts'
import { withoutSurcharges } from '../canonical/surcharges.ts'
import { freePrice, type Price } from '../canonical/usage.ts'
import { modelsPerTurnMax } from '../core/limits/catalog.ts'
import { leastAudio, modalitiesOf, traitsOf, type ModelTraits } from './capabilities.ts'
import type { DeploymentSource, OperatorModel } from './deployment-source.ts'
import type { ListedModel } from './listing.ts'
import { slugOf, splitVariant, toPublicId } from './model-ids.ts'
import { statedAudio, type OperatorAudio } from './operator-audio.ts'
import { parseOperatorPrices, tierPricesOf, withStated } from './operator-prices.ts'
import type { OperatorPrices } from './operator-prices.ts'
import { packageFacts, packageNames } from './package-prices.ts'
import { withHourWrites, tierPricesBy } from './price-overlay.ts'
import type { HourRule } from './price-overlay.ts'
import type { PricePackage } from './price-package.ts'

/** An endpoint with what its sources say of the model behind it. */
export interface Offer {
  endpoint: Endpoint
  name: string | null
  /** Unix seconds, 0 when unknown. */
  created: number
  /** Who says what kind of model it is, where the operator may well say otherwise; null of a provider known by name. */
  kindFrom: KindSource | null
}

/** Where the kind of a model is known from. */
export type KindSource = 'name' | 'provider' | 'operator'

/** What the sources besides the deployment itself contribute. */
export interface OfferContext {
  /** The last listing, or null when there was none yet. */
  listed: readonly ListedModel[] | null
  /** The operator's prices by public id, for every deployment. */
  prices: Readonly<Record<string, OperatorPrices>>
  /** Default prices. */
  table: PricePackage
  nowMs: number
}

/**
 * Everything a deployment offers: known or listed models first, then changed and joined by the operator's own. In short
 * steps, because a listing may name thousands of models.
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
    // A model that the operator describes is offered as described, under his id alone.
    if (byUpstream.has(listed.upstream)) continue
    // One id at one deployment is one model: of two names that make the same, the first has it.
    const id = publicIdOf(source, listed.upstream)
    if (ids.has(id)) continue
    ids.add(id)
    for (const offer of toOffer(source, context, { listed })) {
      offers.push(offer)
      // A set of parameters that no model before had may have taken milliseconds to find out.
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

/** The public id of a model that nobody describes. */
function publicIdOf({ author, publicName }: DeploymentSource, upstream: string): string {
  return toPublicId(author, publicName(upstream))
}

/**
 * What the provider calls a model that the operator describes: what he says, else the part of the id after the author, its
 * tag `latest`, the whole id, or the name that the id was made of, whichever is listed.
 */
function upstreamOf(
  { id, upstream }: OperatorModel,
  source: DeploymentSource,
  listedByName: ReadonlyMap<string, ListedModel>,
): string {
  const name = upstream ?? slugOf(id)
  const found = [name, `${name}:latest`, ...(upstream === undefined ? [id] : [])].find((one) =>
    listedByName.has(one),
  )
  if (found !== undefined) return found
  const isMadeId = upstream === undefined && id.startsWith(`${source.author}/`)
  const listed = isMadeId ? [...listedByName.keys()] : []
  return listed.find((one) => publicIdOf(source, one) === id) ?? name
}

/**
 * OpenRouter lists what a model costs in its own batches as a model `:batch`. Every call here is a live one, so that this
 * is no other model, and its price is not what the call would cost.
 */
function isBatchPrice(upstream: string): boolean {
  return splitVariant(upstream).variant === 'batch'
}

/** What the listing has and what it leaves out; without a listing what is known. */
function modelsOf(source: DeploymentSource, { listed, table }: OfferContext): readonly ListedModel[] {
  if (listed === null) return knownModels(source, table)
  const names = new Set(listed.map(({ upstream }) => upstream))
  const unlisted = source.onlyListed ? [] : (source.unlisted ?? [])
  return [...listed, ...unlisted.filter((name) => !names.has(name)).map(nameOnly)]
}

/** Without a listing: what the price sources know of the provider. */
function knownModels(
  { onlyListed, pricesProviderId: providerId, prices }: DeploymentSource,
  table: PricePackage,
): ListedModel[] {
  if (onlyListed) return []
  const names = new Set([...packageNames({ table, providerId }), ...prices.names])
  return [...names].map(nameOnly)
}

function nameOnly(upstream: string): ListedModel {
  return { upstream, created: null, contextLength: null, name: null, modality: undefined }
}

interface Described {
  listed: ListedModel
  operator?: OperatorModel
  /** Another public name of an upstream model that already has one: an endpoint of its own, prices may differ. */
  isSecondName?: boolean
}

/** None when no operation serves the model, or the provider has no adapter for its modality. */
function toOffer(source: DeploymentSource, context: OfferContext, described: Described): Offer[] {
  const { deployment, pricesProviderId } = source
  const { listed, operator } = described
  const { upstream } = listed
  const traits = audioTraitsOf(source, upstream, operator)
  const modality = modalityOf(described, traits, source)
  if (modality === null || !source.modalities.includes(modality)) return []
  const priced = { table: context.table, providerId: pricesProviderId }
  const facts = packageFacts(priced, upstream, context.nowMs)
  const model = operator?.id ?? publicIdOf(source, upstream)
  // What is known better than by the package is so for prompts of every length.
  const stated = [
    source.prices.priceOf(upstream, context.nowMs) ?? {},
    parseOperatorPrices(context.prices[model] ?? {}),
    parseOperatorPrices(operator?.prices ?? {}),
  ].reduce(withStated)
  const isFree = source.isFree || (source.freeEnding !== undefined && upstream.endsWith(source.freeEnding))
  const { hourWrites } = source
  const known = withHourWrites(hourWrites, withStated(isFree ? freePrice : (facts?.price ?? {}), stated))
  // What speakers and terms cost is a matter of transcripts alone.
  const { hasSurcharges, speaks } = modalityRow(modality)
  const price = hasSurcharges ? known : withoutSurcharges(speaks ? spoken(known) : known)
  const tierPrices = tierPricesOf(
    { price, known: tierPricesBy(source.tiers, upstream, price) },
    [context.prices[model] ?? {}, operator?.prices ?? {}],
    (tier) => withHourWrites(hourWrites, tier),
  )
  // The provider's own list is newer than what was shipped.
  const expirationDate = listed.expirationDate ?? source.expirationDates?.get(upstream)
  const modalities = withListed(modalitiesOf(modality, traits), modality, listed)
  const endpoint: Endpoint = {
    id: `${deployment.id}/${upstream}${described.isSecondName ? `@${model}` : ''}`,
    deployment,
    model,
    upstreamModel: upstream,
    modality,
    price,
    longPrices: isFree || !facts ? noLongPrices : longPricesOf(facts.longPrices, stated, hourWrites),
    ...(tierPrices === null ? {} : { tierPrices }),
    isPriced: hasPrice(modality, price),
    contextLength: operator?.context_length ?? listed.contextLength ?? facts?.contextLength ?? null,
    outputTokensMax: operator?.output_tokens_max ?? listed.outputTokensMax ?? null,
    parameters: null,
    inputModalities: modalities.input,
    outputModalities: modalities.output,
    dataPolicy: source.dataPolicy,
    reasons: traits.reasons,
    ...(traits.searches && modalityRow(modality).isConversation ? { searches: true } : {}),
    ...(listed.interfaces ? { interfaces: listed.interfaces } : {}),
    quantization: null,
    ...(expirationDate === undefined ? {} : { expirationDate }),
    batch: source.batch,
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

/** The second endpoint of a language model that transcribes: the same name and prices, another operation. */
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
 * The operator first, then the provider, then the name. What the operator describes is served in any case, and its name,
 * which the operator may have chosen, counts only at a provider whose models are known by name or that has no text.
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

/** What the listing says a model takes counts more than its name. */
function withListed(
  told: ReturnType<typeof modalitiesOf>,
  modality: Modality,
  { inputs }: ListedModel,
): ReturnType<typeof modalitiesOf> {
  return modalityRow(modality).isConversation && inputs ? { ...told, input: ['text', ...inputs] } : told
}

const noLongPrices: readonly LongPrice[] = []

function longPricesOf(
  known: readonly LongPrice[],
  stated: Price,
  hourWrites: HourRule | undefined,
): readonly LongPrice[] {
  if (known.length === 0) return noLongPrices
  return known.map(({ inputTokensAbove, price }) => ({
    inputTokensAbove,
    price: withHourWrites(hourWrites, withStated(price, stated)),
  }))
}

function audioOf(
  { audio }: DeploymentSource,
  modality: Modality,
  { traits, stated }: { traits: ModelTraits; stated: OperatorAudio },
): Endpoint['audio'] {
  if (!isSoundModality(modality)) return null
  return { ...leastAudio, ...traits.audio, ...audio?.[modality], ...statedAudio(stated) }
}

/** Price lists state the output of any model as text; what a model of speech puts out is sound. */
function spoken(price: Price): Price {
  const { outputToken, outputAudioToken = outputToken } = price
  return outputAudioToken === undefined ? price : { ...price, outputAudioToken }
}

/** What the provider's name tells; where the operator chose that name, as at Azure, what the public one tells. */
function audioTraitsOf(
  { modelRules }: DeploymentSource,
  upstream: string,
  operator?: OperatorModel,
): ModelTraits {
  const traits = traitsOf(upstream, modelRules)
  if (operator === undefined || Object.keys(traits.audio).length > 0) return traits
  return { ...traits, audio: traitsOf(slugOf(operator.id), modelRules).audio }
}

/** Whether one of the sets of units that a call of the modality is priced by is stated. */
function hasPrice(modality: Modality, price: Price): boolean {
  return modalityRow(modality).pricedBy.some((units) => units.every((unit) => price[unit] !== undefined))
}
