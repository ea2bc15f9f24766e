import { ApiError, invalidRequest } from '../errors.ts'
import { isObject, type JsonObject } from '../json.ts'
import { lettersOf } from '../random.ts'
import { jsonReply, type Reply } from '../reply.ts'
import { type BatchesAsked, batchesPath, beginBatch, look } from './batches.ts'
import { nowSeconds } from './files.ts'
import { endedStatuses, readOutput, type StoredBatch } from './kept-batches.ts'
import type { LineWriter } from './lines.ts'

// OpenRouter's batches: lines come with the creating request, results are in the batch, and nothing cancels one.

const batchPath = /^\/v1\/batches\/(batch-[0-9]+-[A-Za-z0-9]+)$/
const endpoints = new Set(['/v1/chat/completions', '/v1/responses', '/v1/messages', '/v1/embeddings'])
const createMembers = new Set([
  'endpoint',
  'model',
  'completion_window',
  'provider',
  'callback_url',
  'requests',
])
const itemsMax = 5_000
/** The members that must stand before the items, because the body is read as it comes. */
const firstMembers = ['endpoint', 'model']

/** Answers a request about OpenRouter's batches. Throws `ApiError`. */
export async function operateOpenRouter(asked: BatchesAsked): Promise<Reply> {
  const { method, path, query, kept } = asked
  if (path === batchesPath && method === 'POST') return jsonReply(JSON.stringify(shown(create(asked))), 202)
  if (path === batchesPath && method === 'GET') return jsonReply(JSON.stringify(listOf(asked, query)))
  const [, id = ''] = batchPath.exec(path) ?? []
  const batch = kept.batches.get(id)
  if (batch === undefined) throw new ApiError({ status: 404, message: 'Batch not found' })
  if (method === 'GET') {
    await look(batch, kept)
    return withResults(batch)
  }
  if (method !== 'DELETE') throw new ApiError({ status: 404, message: 'Not Found' })
  if (!endedStatuses.has(batch.status))
    throw new ApiError({
      status: 409,
      message: 'Only completed, failed, expired, or cancelled batches can be deleted.',
    })
  kept.batches.delete(id)
  return jsonReply(JSON.stringify({ id, object: 'batch', deletion: { openrouter: 'deleted' } }))
}

function create(asked: BatchesAsked): StoredBatch {
  const { json, key } = asked
  if (json === null) throw invalidRequest('The body of the request is no JSON object.')
  const names = Object.keys(json)
  const unknown = names.find((name) => !createMembers.has(name))
  if (unknown !== undefined) throw invalidRequest(`Unrecognized key: "${unknown}"`, unknown)
  const { endpoint, model, requests } = json
  if (firstMembers.some((name) => !names.slice(0, names.indexOf('requests')).includes(name)))
    throw invalidRequest('endpoint and model must come before requests.', 'requests')
  if (typeof endpoint !== 'string' || !endpoints.has(endpoint))
    throw invalidRequest('Invalid endpoint.', 'endpoint')
  if (!Array.isArray(requests) || requests.length === 0)
    throw invalidRequest('requests must not be empty.', 'requests')
  if (requests.length > itemsMax) throw invalidRequest(`At most ${itemsMax} requests.`, 'requests')
  const content = Buffer.from(requests.map((request) => JSON.stringify(request)).join('\n'))
  return beginBatch({
    ...asked,
    id: `batch-${nowSeconds()}-${lettersOf(`batch ${key}`, 20)}`,
    file: {
      id: 'inline',
      filename: '',
      purpose: 'batch',
      content,
      createdSeconds: nowSeconds(),
      expiresSeconds: null,
    },
    endpoint,
    metadata: null,
    writer,
    parse(text) {
      const value = JSON.parse(text) as JsonObject
      if (typeof value['custom_id'] !== 'string' || !isObject(value['body'])) return null
      const fault = hasMedia(value['body']) ? { fault: `${value['custom_id']}: only text is supported.` } : {}
      return { customId: value['custom_id'], url: endpoint, body: { model, ...value['body'] }, ...fault }
    },
    hasOneOutput: true,
    writesNoFiles: true,
  })
}

function hasMedia(body: JsonObject): boolean {
  return /"type":"(?:image_url|input_image|image|input_audio|file|input_file|document)"/.test(
    JSON.stringify(body),
  )
}

const writer: LineWriter = {
  answered(line, status, body, key) {
    const parsed = JSON.parse(body) as JsonObject
    if (status < 400) {
      const response = { status_code: status, request_id: null, body: parsed }
      return resultOf(line.customId, key, { response, error: null })
    }
    const error = isObject(parsed['error']) ? parsed['error'] : {}
    const error_type = status === 429 ? 'rate_limit_exceeded' : 'invalid_request'
    return errorOf(line.customId, key, { type: 'error', error_type, message: String(error['message'] ?? '') })
  },
  refused: (line, key) =>
    errorOf(line.customId, key, {
      type: 'invalid_request_error',
      error_type: 'invalid_request',
      message: 'The request of this line is invalid.',
    }),
  notRun: (line, reason, key) =>
    errorOf(line.customId, key, { type: reason, message: 'The request was not run.' }),
}

function errorOf(customId: string, key: string, error: JsonObject): string {
  return resultOf(customId, key, { response: null, error: { param: null, ...error } })
}

function resultOf(custom_id: string, key: string, result: JsonObject): string {
  return JSON.stringify({ id: `batch_req_${lettersOf(`${custom_id} ${key}`, 16)}`, custom_id, ...result })
}

/** Every look at a batch that has ended reads its results: the look that finds it ended, and the reading of them. */
const lateAfter = 2

/** A batch that has ended has its results between its other members. */
function withResults(batch: StoredBatch): Reply {
  const lines = (batch.ran === null ? '' : readOutput(batch.ran, lateAfter))
    .split('\n')
    .filter((line) => line !== '')
  const whole = JSON.stringify(shown(batch))
  const hasResults = batch.ran !== null
  return jsonReply(
    hasResults ? whole.replace('"results":null', () => `"results":[${lines.join(',')}]`) : whole,
  )
}

function listOf({ kept }: BatchesAsked, query: URLSearchParams): JsonObject {
  const all = [...kept.batches.values()].toReversed()
  const limit = Math.min(Number(query.get('limit') ?? 20) || 20, 100)
  const start = all.findIndex(({ id }) => id === query.get('after')) + 1
  const data = all.slice(start, start + limit)
  return {
    object: 'list',
    data: data.map(shown),
    first_id: data.at(0)?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: start + limit < all.length,
  }
}

function shown(batch: StoredBatch): JsonObject {
  const { id, endpoint, model, status, createdSeconds, total, ran, faults } = batch
  const isEnded = endedStatuses.has(status)
  const completed = ran?.completed ?? 0
  return {
    id,
    object: 'batch',
    endpoint,
    model,
    completion_window: '24h',
    status,
    created_at: createdSeconds,
    finalized_at: isEnded ? nowSeconds() : null,
    request_counts: { total, completed, failed: isEnded ? total - completed : 0 },
    results: null,
    usage: null,
    error: status === 'failed' ? { message: faults[0]?.message ?? '' } : null,
    expires_at: createdSeconds + 86_400,
    provider: null,
  }
}
