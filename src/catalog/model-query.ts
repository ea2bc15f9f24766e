import { modalityNames, modalityRow } from '../canonical/operation.ts'
import { GatewayError } from '../core/errors.ts'

/** Models one page of the catalog may hold, by the contract. */
const modelPageMax = 1_000

/** The contract's words, and those of every kind of model that is served here. */
const outputModalities = [
  ...new Set([
    'text',
    'image',
    'embeddings',
    'audio',
    'video',
    'rerank',
    'decisions',
    'speech',
    'transcription',
    ...modalityNames.flatMap((name) => modalityRow(name).outputs),
  ]),
  'all',
]
const inputModalities = ['text', 'image', 'audio', 'video', 'file']
const sorts = [
  'most-popular',
  'newest',
  'top-weekly',
  'pricing-low-to-high',
  'pricing-high-to-low',
  'context-high-to-low',
  'throughput-high-to-low',
  'latency-low-to-high',
  'intelligence-high-to-low',
  'coding-high-to-low',
  'agentic-high-to-low',
  'design-arena-elo-high-to-low',
]
/** Facts that the gateway does not have about any model: a filter by one of them matches nothing. */
const unknownFacts = [
  'arch',
  'category',
  'distillable',
  ...['intelligence_index', 'coding_index', 'agentic_index', 'tool_success_rate'].flatMap((fact) => [
    `min_${fact}`,
    `max_${fact}`,
  ]),
]

/** A parsed query of the model list; null means the filter was not used. */
export interface ModelQuery {
  offset: number
  /** Null when neither offset nor limit was sent: the whole list. */
  limit: number | null
  /** Null means all. */
  outputModalities: readonly string[] | null
  inputModalities: readonly string[] | null
  supportedParameters: readonly string[] | null
  sort: string | null
  text: string | null
  authors: readonly string[] | null
  providers: readonly string[] | null
  contextMin: number | null
  /** USD per million units. */
  price: Range
  outputPrice: Range
  ageDays: Range
  zdr: boolean
  region: string | null
  /** Whether it filters by a fact that the gateway has about no model. */
  isImpossible: boolean
}

/** Bounds of a number, both included; null means open. */
export interface Range {
  min: number | null
  max: number | null
}

const limitDefault = 500

/**
 * Parses the query of the model list. Unknown members are ignored, as the contract does; a bad value is refused with
 * `invalid_request` that names the member.
 */
export function parseModelQuery(query: URLSearchParams): ModelQuery {
  const paged = query.has('offset') || query.has('limit')
  const outputs = list(query, 'output_modalities', outputModalities) ?? ['text']
  return {
    offset: whole(query, 'offset', { min: 0, max: Number.MAX_SAFE_INTEGER }) ?? 0,
    limit: paged ? (whole(query, 'limit', { min: 1, max: modelPageMax }) ?? limitDefault) : null,
    outputModalities: outputs.includes('all') ? null : outputs,
    inputModalities: list(query, 'input_modalities', inputModalities),
    supportedParameters: list(query, 'supported_parameters'),
    sort: choice(query, 'sort', sorts),
    text: value(query, 'q')?.toLowerCase() ?? null,
    authors: list(query, 'model_authors'),
    providers: list(query, 'providers'),
    contextMin: whole(query, 'context', { min: 0, max: Number.MAX_SAFE_INTEGER }),
    price: range(query, 'price'),
    outputPrice: range(query, 'output_price'),
    ageDays: range(query, 'age_days'),
    zdr: choice(query, 'zdr', ['true', 'false']) === 'true',
    region: choice(query, 'region', ['eu', 'us']),
    isImpossible: unknownFacts.some((name) => query.has(name) && query.get(name) !== 'false'),
  }
}

function value(query: URLSearchParams, name: string): string | null {
  return query.get(name) || null
}

function choice(query: URLSearchParams, name: string, allowed: readonly string[]): string | null {
  const found = value(query, name)
  if (found !== null && !allowed.includes(found)) throw refuse(name, `must be one of ${allowed.join(', ')}`)
  return found
}

function list(query: URLSearchParams, name: string, allowed?: readonly string[]): string[] | null {
  const found = value(query, name)
  if (found === null) return null
  const parts = found.split(',').map((part) => part.trim())
  if (allowed && !parts.every((part) => allowed.includes(part))) {
    throw refuse(name, `takes a comma-separated list of ${allowed.join(', ')}`)
  }
  return parts
}

function whole(
  query: URLSearchParams,
  name: string,
  { min, max }: { min: number; max: number },
): number | null {
  const found = value(query, name)
  if (found === null) return null
  const number = Number(found)
  if (/^\d+$/.test(found) && number >= min && number <= max) return number
  throw refuse(
    name,
    `must be a whole number ${max === Number.MAX_SAFE_INTEGER ? `from ${min}` : `from ${min} to ${max}`}`,
  )
}

function range(query: URLSearchParams, name: string): Range {
  return { min: bound(query, `min_${name}`), max: bound(query, `max_${name}`) }
}

function bound(query: URLSearchParams, name: string): number | null {
  const found = value(query, name)
  if (found === null) return null
  const number = Number(found)
  if (/^\d+(\.\d+)?$/.test(found) && Number.isFinite(number)) return number
  throw refuse(name, 'must be a number, 0 or more')
}

function refuse(name: string, problem: string): GatewayError {
  return new GatewayError('invalid_request', `${name} ${problem}.`, { param: name })
}
