import { fieldError } from '../core/errors.ts'
import type { CatalogView } from './catalog.ts'
import type { ModelJson } from './model-json.ts'
import { type ListOptions, listModels } from './model-list.ts'

const limitUsual = 20
const limitMax = 1_000

/** A model as clients made for Anthropic read it. */
export interface PagedModelJson {
  type: 'model'
  id: string
  display_name: string
  /** RFC 3339. */
  created_at: string
  /** Unknown here. */
  capabilities: null
  line: null
  deprecated_at: null
  lifecycle: 'active'
  max_input_tokens: number | null
  max_tokens: number | null
}

/** A page of them. */
export interface ModelPageJson {
  data: PagedModelJson[]
  has_more: boolean
  first_id: string | null
  last_id: string | null
}

/**
 * The models that write text, in the form and pages of Anthropic's API: `limit` (1 to 1,000, by default 20), `after_id`,
 * `before_id`. Throws `invalid_request` on a bad query.
 */
export function listModelPage(catalog: CatalogView, options: ListOptions): ModelPageJson {
  const { query } = options
  const all = listModels(catalog, { ...options, query: new URLSearchParams('output_modalities=text') })
  const models = all.data.filter(({ id }) => !id.endsWith(':batch'))
  const [from, to] = pageOf(models, query)
  const page = models.slice(from, to)
  return {
    data: page.map(toPaged),
    has_more: query.has('before_id') ? from > 0 : to < models.length,
    first_id: page[0]?.id ?? null,
    last_id: page.at(-1)?.id ?? null,
  }
}

function pageOf(models: readonly ModelJson[], query: URLSearchParams): [from: number, to: number] {
  const text = query.get('limit')
  const limit = text === null ? limitUsual : Number(text)
  if (!Number.isInteger(limit) || limit < 1 || limit > limitMax)
    throw fieldError('limit', `must be a whole number from 1 to ${limitMax}.`)
  const placeOf = (name: 'after_id' | 'before_id'): number | null => {
    const id = query.get(name)
    if (id === null) return null
    const place = models.findIndex((model) => model.id === id)
    if (place < 0) throw fieldError(name, 'is no model of this list.')
    return place
  }
  const before = placeOf('before_id')
  if (before !== null) return [Math.max(0, before - limit), before]
  const from = (placeOf('after_id') ?? -1) + 1
  return [from, from + limit]
}

function toPaged({ id, name, created, context_length, top_provider }: ModelJson): PagedModelJson {
  return {
    type: 'model',
    id,
    display_name: name,
    created_at: new Date(created * 1_000).toISOString(),
    capabilities: null,
    line: null,
    deprecated_at: null,
    lifecycle: 'active',
    max_input_tokens: context_length,
    max_tokens: top_provider.max_completion_tokens,
  }
}
