import type { Endpoint, Model } from '../canonical/endpoint.ts'
import type { Constraints } from '../canonical/principal.ts'
import type { CatalogView } from './catalog.ts'
import { comparedPrice } from './prices/compared-price.ts'
import type { FiguresOf } from './endpoint-json.ts'
import { renderModel, shownParameters } from './model-json.ts'
import type { ModelJson } from './model-json.ts'
import { parseModelQuery } from './model-query.ts'
import type { ModelQuery, Range } from './model-query.ts'
import { isProvider, prohibitionOf } from './permissions.ts'
import { batchableOf, variantsOf } from './variants.ts'

/** A page of the catalog; the official client requires all three members. */
export interface ModelListJson {
  data: ModelJson[]
  total_count: number
  links: { next: string | null }
}

/** The reader of a list, and the address of the list. */
export interface ListOptions {
  query: URLSearchParams
  /** What the reader may use; null for the public catalog. */
  constraints: Constraints | null
  nowMs: number
  /** Performance figures of endpoints, for sorting by them. */
  figuresOf: FiguresOf
  /** Prefix of every path of this gateway. */
  basePath: string
  /** The path of the request, below the base path, for the link to the next page. */
  path: string
}

/** A model with the endpoints that the reader may use, at least one. */
interface Shown {
  model: Model
  endpoints: readonly Endpoint[]
}

/** One page of models: filtered, sorted, each followed by its entry for batches. Throws `invalid_request` on a bad query. */
export function listModels(catalog: CatalogView, options: ListOptions): ModelListJson {
  const query = parseModelQuery(options.query)
  const { basePath } = options
  const entries = selectModels(catalog, query, options).flatMap((one) => toEntries(one, catalog))
  const end = query.limit === null ? entries.length : query.offset + query.limit
  return {
    data: entries.slice(query.offset, end).map((entry) => renderEntry(entry, basePath)),
    total_count: entries.length,
    links: {
      next: end < entries.length && query.limit !== null ? nextPage(options, query.limit, end) : null,
    },
  }
}

/**
 * The list's entry with this id; null when there is none, or when the model does not have the id's variant. For a variant
 * that only changes the routing it is the base entry.
 */
export function findListedModel(catalog: CatalogView, modelId: string, basePath: string): ModelJson | null {
  const { base, variant } = catalog.resolve(modelId)
  const model = catalog.model(base)
  if (!model || (variant !== null && !variantsOf(model).includes(variant))) return null
  const wanted = variant === 'batch' ? variant : null
  const entry = toEntries({ model, endpoints: model.endpoints }, catalog).find(
    (one) => one.variant === wanted,
  )
  return entry ? renderEntry(entry, basePath) : null
}

/** The total number of entries of `listModels`. */
export function countModels(catalog: CatalogView, options: ListOptions): { data: { count: number } } {
  const query = parseModelQuery(options.query)
  const shown = selectModels(catalog, query, options)
  return { data: { count: shown.flatMap((one) => toEntries(one, catalog)).length } }
}

/** As `listModels`, embedding models only. */
export function listEmbeddingModels(catalog: CatalogView, options: ListOptions): ModelListJson {
  const query = new URLSearchParams(options.query)
  query.set('output_modalities', 'embeddings')
  return listModels(catalog, { ...options, query })
}

function selectModels(
  catalog: CatalogView,
  query: ModelQuery,
  { constraints, nowMs, figuresOf }: Pick<ListOptions, 'constraints' | 'nowMs' | 'figuresOf'>,
): Shown[] {
  if (query.isImpossible) return []
  const shown: Shown[] = []
  for (const model of catalog.models()) {
    if (!fitsModel(model, query, nowMs)) continue
    const endpoints = model.endpoints.filter(
      (endpoint) =>
        (constraints === null || prohibitionOf(endpoint, constraints, model.id) === null) &&
        fitsEndpoint(endpoint, query),
    )
    if (endpoints.length > 0) shown.push({ model, endpoints })
  }
  return sortModels(shown, query.sort, figuresOf)
}

function fitsModel(model: Model, query: ModelQuery, nowMs: number): boolean {
  if (query.text !== null && !`${model.id} ${model.name}`.toLowerCase().includes(query.text)) return false
  if (query.authors && !query.authors.includes(model.id.slice(0, Math.max(0, model.id.indexOf('/')))))
    return false
  const ageDays = model.created > 0 ? (nowMs / 1000 - model.created) / 86_400 : null
  return isWithin(ageDays, query.ageDays)
}

function fitsEndpoint(endpoint: Endpoint, query: ModelQuery): boolean {
  const { outputModalities, inputModalities, supportedParameters, providers } = query
  if (outputModalities && !endpoint.outputModalities.some((modality) => outputModalities.includes(modality)))
    return false
  if (inputModalities && !inputModalities.every((modality) => endpoint.inputModalities.includes(modality)))
    return false
  if (supportedParameters && !supportedParameters.every((name) => shownParameters(endpoint).has(name)))
    return false
  if (providers && !providers.some((name) => isProvider(endpoint, name))) return false
  if (query.contextMin !== null && (endpoint.contextLength ?? 0) < query.contextMin) return false
  if (query.zdr && !endpoint.dataPolicy.zdr) return false
  if (query.region !== null && !endpoint.deployment.region?.toLowerCase().startsWith(query.region))
    return false
  const { inputToken, character, outputToken } = endpoint.price
  return (
    isWithin(inUsd(inputToken ?? character), query.price) && isWithin(inUsd(outputToken), query.outputPrice)
  )
}

function inUsd(amount: bigint | undefined): number | null {
  return amount === undefined ? null : Number(amount) / 1e9
}

/** An unknown value is within a range only if the range is open at both ends. */
function isWithin(value: number | null, { min, max }: Range): boolean {
  if (min === null && max === null) return true
  return value !== null && value >= (min ?? 0) && value <= (max ?? Number.POSITIVE_INFINITY)
}

/** Sorts by figures that the gateway has. It has no popularity and no scores, so for those the order by id stays. */
function sortModels(shown: Shown[], sort: string | null, figuresOf: FiguresOf): Shown[] {
  switch (sort) {
    case 'newest':
      return shown.toSorted((left, right) => right.model.created - left.model.created)
    case 'pricing-low-to-high':
      return shown.toSorted((left, right) => priceOf(left, Infinity) - priceOf(right, Infinity) || 0)
    case 'pricing-high-to-low':
      return shown.toSorted((left, right) => priceOf(right, -1) - priceOf(left, -1))
    case 'context-high-to-low':
      return shown.toSorted((left, right) => contextOf(right) - contextOf(left))
    case 'throughput-high-to-low':
      return byFigure(shown, (endpoint) => -(figuresOf(endpoint).throughput?.p50 ?? 0))
    case 'latency-low-to-high':
      return byFigure(shown, (endpoint) => figuresOf(endpoint).latencyMs?.p50 ?? Number.MAX_VALUE)
    default:
      return shown
  }
}

/** Sorts by the least figure among each model's endpoints, computed once per model. */
function byFigure(shown: Shown[], figureOf: (endpoint: Endpoint) => number): Shown[] {
  return shown
    .map((one) => ({ one, figure: Math.min(...one.endpoints.map(figureOf)) }))
    .toSorted((left, right) => left.figure - right.figure)
    .map(({ one }) => one)
}

function priceOf({ endpoints }: Shown, unknown: number): number {
  return Math.min(...endpoints.map((endpoint) => comparedPrice(endpoint) ?? unknown))
}

function contextOf({ endpoints }: Shown): number {
  return Math.max(...endpoints.map(({ contextLength }) => contextLength ?? 0))
}

interface Entry extends Shown {
  variant: 'batch' | null
}

/**
 * Adds the entries for batches, which run language and embedding models. The contract's own service lists `author/slug:batch`
 * with the prices of batches. Here that entry follows its base entry, and a batch may name either. If the operator gave
 * that id to a model of its own, the list has that model instead.
 */
function toEntries({ model, endpoints }: Shown, catalog: CatalogView): Entry[] {
  const base: Entry = { model, endpoints, variant: null }
  const isTaken = catalog.model(`${model.id}:batch`) !== null
  const isBatchable = !isTaken && variantsOf({ ...model, endpoints }).includes('batch')
  return isBatchable ? [base, { model, endpoints: batchableOf(endpoints), variant: 'batch' }] : [base]
}

function renderEntry({ model, endpoints, variant }: Entry, basePath: string): ModelJson {
  return renderModel(model, { basePath, endpoints, ...(variant && { variant }) })
}

function nextPage({ query, basePath, path }: ListOptions, limit: number, offset: number): string {
  const next = new URLSearchParams(query)
  next.set('offset', String(offset))
  next.set('limit', String(limit))
  return `${basePath}${path}?${next}`
}
