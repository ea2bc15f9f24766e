import * as check from '../checks.ts'
import { ApiError } from '../errors.ts'
import type { Faults } from '../faults.ts'
import { isObject, type JsonObject } from '../json.ts'
import { jsonReply, type Reply } from '../reply.ts'
import { countTokens } from '../tokens.ts'
import { distortUsage } from '../usage.ts'

/** The request and the answer of one provider's reranking. */
export interface RerankDialect {
  /** All known members of the body. */
  fields: Readonly<Record<string, check.Check>>
  required: readonly string[]
  documents: string
  /** The member that limits the results; null when there is none. */
  limit: string | null
  documentsMax: number
  /** Models by name; null for a server with one unnamed model. */
  models: readonly string[] | null
  modelMissing(model: string): ApiError
  /** The results, the best first. */
  write(ranking: Ranking): unknown
}

/** One document with its score. */
export interface RankedDocument {
  index: number
  score: number
  document: unknown
}

/** The outcome of a request. */
export interface Ranking {
  model: string
  ranked: readonly RankedDocument[]
  /** The query's tokens once for each document, and the documents' tokens. */
  tokens: number
  /** A query with up to a hundred pieces of 500 tokens, the query in each of them. */
  searchUnits: number
  body: JsonObject
}

/** A text, or an object with one. */
export const textOrObject = check.either(check.string(), check.object)

/**
 * Scores documents by the share of the query's words that they contain. Throws `ApiError` for requests that the
 * provider refuses.
 */
export function rank(body: JsonObject, faults: Faults, dialect: RerankDialect): Reply {
  check.checkMembers(body, {
    fields: dialect.fields,
    required: dialect.required,
    strict: faults.lenient !== true,
  })
  const model = typeof body['model'] === 'string' ? body['model'] : ''
  if (dialect.models !== null && !dialect.models.includes(model)) throw dialect.modelMissing(model)
  const query = String(body['query'])
  const documents = body[dialect.documents]
  if (!Array.isArray(documents) || documents.length === 0)
    throw new ApiError({ status: 400, message: `invalid request: ${dialect.documents} must not be empty` })
  if (documents.length > dialect.documentsMax) {
    const message = `invalid request: at most ${dialect.documentsMax} ${dialect.documents} are allowed`
    throw new ApiError({ status: 400, message })
  }
  const ranked = documents
    .map((document: unknown, index) => ({ index, document, score: scoreOf(query, textOf(document)) }))
    .toSorted((a, b) => b.score - a.score || a.index - b.index)
  const limit = dialect.limit === null ? undefined : body[dialect.limit]
  const shown = typeof limit === 'number' && limit > 0 ? ranked.slice(0, limit) : ranked
  const told = dialect.write({ ...measured(query, documents, body), model, ranked: shown, body })
  return jsonReply(JSON.stringify(withFaults(told, faults)))
}

function measured(query: string, documents: readonly unknown[], body: JsonObject) {
  const queryTokens = countTokens(query)
  const cut = typeof body['max_tokens_per_doc'] === 'number' ? body['max_tokens_per_doc'] : 4_096
  let tokens = 0
  let pieces = 0
  for (const document of documents) {
    const own = countTokens(textOf(document))
    tokens += own + queryTokens
    pieces += Math.max(1, Math.ceil(Math.min(own, cut) / Math.max(250, 500 - queryTokens)))
  }
  return { tokens, searchUnits: Math.ceil(pieces / 100) }
}

function textOf(document: unknown): string {
  return isObject(document) ? String(document['text'] ?? '') : String(document)
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/\p{L}+/gu) ?? []
}

/** A score in steps that survive JSON: thousandths, slightly lower for a longer document. */
function scoreOf(query: string, document: string): number {
  const asked = new Set(wordsOf(query))
  const said = new Set(wordsOf(document))
  let shared = 0
  for (const word of asked) if (said.has(word)) shared += 1
  return Math.round((shared / Math.max(1, asked.size)) * 900 + 90 / (1 + said.size)) / 1_000
}

/** Applies the faults of usage and order to an answer. */
function withFaults(told: unknown, faults: Faults): unknown {
  if (!isObject(told)) return told
  if (faults.usage !== undefined) {
    if (isObject(told['usage'])) return { ...told, usage: distortUsage(told['usage'], faults.usage) }
    const units = { search_units: 1 }
    return { ...told, meta: { billed_units: distortUsage(units, faults.usage) ?? undefined } }
  }
  if (faults.outOfOrder === true && Array.isArray(told['results']))
    return { ...told, results: told['results'].toReversed() }
  return told
}
