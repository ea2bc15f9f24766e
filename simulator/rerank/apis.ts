import type { ApiStyle } from '../api-style.ts'
import type { AudioApi, AudioAsked } from '../audio/audio-api.ts'
import { textMember } from '../audio/audio-api.ts'
import { keyBehind, refusalStyle } from '../audio/speech-api.ts'
import type { Call } from '../call.ts'
import { chat, chatModels, refuseLength, tooManyTokens } from '../cohere/chat.ts'
import { embed, embedModels } from '../cohere/embed.ts'
import * as check from '../checks.ts'
import { ApiError, modelNotFound } from '../errors.ts'
import type { JsonObject } from '../json.ts'
import { jsonReply, type Reply } from '../reply.ts'
import { rank, textOrObject, type RerankDialect } from './rank.ts'

const uploadBytesMax = 64_000_000

const cohereModels = ['rerank-v3.5', 'rerank-v4.0-pro', 'rerank-v4.0-fast']

/** Version 2 of Cohere's API: documents are texts only, and search units are in `meta`. */
const cohereDialect: RerankDialect = {
  fields: {
    model: check.string(),
    query: check.string(),
    documents: check.listOf(check.string()),
    top_n: check.integer(1),
    max_tokens_per_doc: check.integer(1),
    priority: check.integer(0),
  },
  required: ['model', 'query', 'documents'],
  documents: 'documents',
  limit: 'top_n',
  documentsMax: 10_000,
  models: cohereModels,
  modelMissing: (model) =>
    new ApiError({
      status: 404,
      message: `model '${model}' not found, make sure the correct model ID was used`,
    }),
  write: ({ ranked, searchUnits }) => ({
    id: 'f1a2c3d4-0000-4000-8000-000000000001',
    results: ranked.map(({ index, score }) => ({ index, relevance_score: score })),
    meta: { api_version: { version: '2' }, billed_units: { search_units: searchUnits } },
  }),
}

/** The same under the name by which the sandbox lists it. */
const sandboxDialect: RerankDialect = {
  ...cohereDialect,
  models: ['cohere/rerank-v3.5'],
  modelMissing: modelNotFound,
}

/** `POST /v1/rerank` of the default provider. Throws `ApiError` for requests that Cohere refuses. */
export function rerank({ body, faults }: Call): Reply {
  return rank(body, faults, sandboxDialect)
}

/**
 * Jina's API, which most compatible hosts follow: it counts tokens, and returns documents unless the request
 * declines them.
 */
const jinaDialect: RerankDialect = {
  fields: {
    model: check.string(),
    query: check.string(),
    documents: check.listOf(textOrObject),
    top_n: check.integer(1),
    return_documents: check.boolean,
  },
  required: ['model', 'query', 'documents'],
  documents: 'documents',
  limit: 'top_n',
  documentsMax: 2_048,
  models: ['jina-reranker-v3', 'jina-reranker-m0', 'jina-reranker-v2-base-multilingual'],
  modelMissing: (model) => new ApiError({ status: 422, message: `Model ${model} is not found` }),
  write: ({ model, ranked, tokens, body }) => ({
    model,
    object: 'list',
    usage: { total_tokens: tokens },
    results: ranked.map(({ index, score, document }) => ({
      index,
      relevance_score: score,
      ...(body['return_documents'] === false ? {} : { document: shownDocument(document) }),
    })),
  }),
}

/** Together's form: documents are texts or objects, and the answer has a type. */
const togetherDialect: RerankDialect = {
  ...jinaDialect,
  fields: { ...jinaDialect.fields, rank_fields: check.listOf(check.string()) },
  documentsMax: 1_024,
  models: ['Salesforce/Llama-Rank-V1', 'mixedbread-ai/Mxbai-Rerank-Large-V2'],
  modelMissing: modelNotFound,
  write: (ranking) => ({
    ...(jinaDialect.write(ranking) as JsonObject),
    object: 'rerank',
    id: 'oRerank1',
    usage: { prompt_tokens: ranking.tokens, completion_tokens: 0, total_tokens: ranking.tokens },
  }),
}

/** Voyage's: `top_k`, at most a thousand texts, and the results as `data`. */
const voyageDialect: RerankDialect = {
  fields: {
    model: check.string(),
    query: check.string(),
    documents: check.listOf(check.string()),
    top_k: check.integer(1),
    return_documents: check.boolean,
    truncation: check.boolean,
  },
  required: ['model', 'query', 'documents'],
  documents: 'documents',
  limit: 'top_k',
  documentsMax: 1_000,
  models: ['rerank-2.5', 'rerank-2.5-lite'],
  modelMissing: (model) => new ApiError({ status: 400, message: `Model ${model} is not supported.` }),
  write: ({ model, ranked, tokens }) => ({
    object: 'list',
    data: ranked.map(({ index, score }) => ({ relevance_score: score, index })),
    model,
    usage: { total_tokens: tokens },
  }),
}

/**
 * Text embeddings inference: requests name no model, there are no bounds and no counts, and the answer is a
 * bare list.
 */
const teiDialect: RerankDialect = {
  fields: {
    query: check.string(),
    texts: check.listOf(check.string()),
    raw_scores: check.boolean,
    return_text: check.boolean,
    truncate: check.boolean,
    truncation_direction: check.oneOf('left', 'right', 'Left', 'Right'),
  },
  required: ['query', 'texts'],
  documents: 'texts',
  limit: null,
  documentsMax: 1_000,
  models: null,
  modelMissing: modelNotFound,
  write: ({ ranked }) => ranked.map(({ index, score }) => ({ index, score })),
}

/** vLLM's and llama.cpp's servers: Jina's form, but documents are always returned. */
const ownServerDialect: RerankDialect = {
  ...jinaDialect,
  fields: { ...jinaDialect.fields, top_n: check.integer(0), truncate_prompt_tokens: check.integer(-1) },
  models: ['BAAI/bge-reranker-v2-m3'],
  modelMissing: modelNotFound,
}

function shownDocument(document: unknown): unknown {
  return typeof document === 'string' ? { text: document } : document
}

/** A provider that takes a bearer key and puts a refusal into one member. */
function styleOf(member: 'message' | 'detail' | 'error'): ApiStyle {
  return refusalStyle({
    keyOf: ({ authorization }) => keyBehind('Bearer', authorization),
    usual: {
      401: { code: 'unauthorized', message: 'invalid api token' },
      402: { code: 'payment_required', message: 'no credit is left' },
      404: { code: 'not_found', message: 'model not found' },
      429: { code: 'rate_limit', message: 'too many requests, please slow down' },
    },
    body: ({ message }, requestId) => ({
      ...(member === 'message' ? { id: requestId } : {}),
      [member]: message,
    }),
  })
}

interface Served {
  slug: string
  path: RegExp
  dialect: RerankDialect
  style: ApiStyle
}

function apiOf({ slug, path, dialect, style }: Served): AudioApi {
  return {
    slug,
    style,
    uploadBytesMax,
    modelOf: ({ json }) => textMember(json, 'model'),
    operations: [{ method: 'POST', path, answer: rerankIn(dialect) }],
  }
}

/** A reranking in a dialect, as an operation of an API. */
function rerankIn(dialect: RerankDialect): (asked: AudioAsked) => Reply {
  return ({ json, faults }) => {
    if (json === null) throw new ApiError({ status: 400, message: 'invalid request: the body is no object' })
    return rank(json, faults, dialect)
  }
}

function listed(names: Iterable<string>, endpoint: string, length: number): JsonObject[] {
  return [...names].map((name) => ({ name, endpoints: [endpoint], context_length: length }))
}

const listCohere = (): Reply => {
  const models = [
    ...listed(cohereModels, 'rerank', 4_096),
    ...listed(chatModels.keys(), 'chat', 288_000),
    ...listed(embedModels.keys(), 'embed', 128_000),
  ]
  return jsonReply(JSON.stringify({ models, next_page_token: '' }))
}

const messageStyle = styleOf('message')

/** Only a prompt that is too long has a name of its error. */
const cohereStyle: ApiStyle = {
  ...messageStyle,
  errorBody(error, key) {
    const body = messageStyle.errorBody(error, key)
    return error.type === tooManyTokens
      ? JSON.stringify({ error_type: tooManyTokens, ...(JSON.parse(body) as JsonObject) })
      : body
  },
  errorOf: (fault) => (fault.kind === 'context_length' ? refuseLength(1_000) : messageStyle.errorOf(fault)),
}

const cohereApi = apiOf({
  slug: 'cohere',
  path: /^\/v2\/rerank$/,
  dialect: cohereDialect,
  style: cohereStyle,
})

/** Cohere, with its listing, chat and vectors. */
export const cohere: AudioApi = {
  ...cohereApi,
  operations: [
    ...cohereApi.operations,
    { method: 'POST', path: /^\/v2\/chat$/, answer: chat },
    { method: 'POST', path: /^\/v2\/embed$/, answer: embed },
    { method: 'GET', path: /^\/v1\/models$/, answer: listCohere },
  ],
}

export const jina = apiOf({
  slug: 'jina',
  path: /^\/v1\/rerank$/,
  dialect: jinaDialect,
  style: styleOf('detail'),
})

export const voyage = apiOf({
  slug: 'voyage',
  path: /^\/v1\/rerank$/,
  dialect: voyageDialect,
  style: styleOf('detail'),
})

/** A real server without a configured key answers every caller; the simulator requires a key anyway. */
export const tei = apiOf({
  slug: 'tei',
  path: /^\/rerank$/,
  dialect: teiDialect,
  style: styleOf('error'),
})

/** A self-hosted server that follows Jina, as vLLM and llama.cpp do. */
export const ownReranker = apiOf({
  slug: 'own-reranker',
  path: /^\/v1\/rerank$/,
  dialect: ownServerDialect,
  style: styleOf('error'),
})

/** Together's, beside its audio. */
export const togetherRerank: AudioApi['operations'][number] = {
  method: 'POST',
  path: /^\/v1\/rerank$/,
  answer: rerankIn(togetherDialect),
}
