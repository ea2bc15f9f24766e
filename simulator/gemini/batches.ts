import { ApiError, invalidRequest } from '../errors.ts'
import { isObject, type JsonObject } from '../json.ts'
import { type BatchesAsked, beginBatch, cancelBatch, look } from '../openai-batches/batches.ts'
import { endedStatuses, readContent, type StoredBatch } from '../openai-batches/kept-batches.ts'
import type { InputLine, LineWriter } from '../openai-batches/lines.ts'
import { lettersOf } from '../random.ts'
import { jsonReply, type Reply } from '../reply.ts'

// Google's batches of a file of lines. Files of lines are kept beside OpenAI's, and their names are `files/ID`.

const createPath = /^(\/v1beta\/models\/[^/:]+):batchGenerateContent$/
const batchPath = /^\/v1beta\/(batches\/[\w-]+)(:cancel)?$/
const downloadPath = /^\/v1beta\/files\/([\w-]+):download$/
const root = '/v1beta/batches'
const type = 'type.googleapis.com/google.ai.generativelanguage.v1main.GenerateContentBatch'

const wordOf: Readonly<Record<string, string>> = {
  validating: 'PENDING',
  in_progress: 'RUNNING',
  finalizing: 'RUNNING',
  cancelling: 'RUNNING',
  completed: 'SUCCEEDED',
  failed: 'FAILED',
  expired: 'EXPIRED',
  cancelled: 'CANCELLED',
}
const codeOf: Readonly<Record<number, number>> = { 400: 3, 401: 16, 403: 7, 404: 5, 429: 8, 500: 13, 503: 14 }

/** True for a path of batches, and of their results. */
export function isGoogleBatchesPath(path: string): boolean {
  return path === root || batchPath.test(path) || createPath.test(path) || downloadPath.test(path)
}

/** Answers a request about batches. Throws `ApiError`. */
export async function operateGoogleBatches(asked: BatchesAsked): Promise<Reply> {
  const { method, path, query, kept } = asked
  const model = createPath.exec(path)?.[1]
  if (model !== undefined && method === 'POST') return show(create(asked, `${model}:generateContent`))
  if (path === root && method === 'GET') return jsonReply(JSON.stringify(listOf(asked, query)))
  const fileId = downloadPath.exec(path)?.[1]
  if (fileId !== undefined && query.get('alt') === 'media') return contentOf(asked, fileId)
  const [, id = '', cancel] = batchPath.exec(path) ?? []
  const batch = kept.batches.get(id)
  if (batch === undefined) throw new ApiError({ status: 404, message: 'Requested entity was not found.' })
  if (cancel !== undefined && method === 'POST') {
    if (endedStatuses.has(batch.status)) throw invalidRequest('The batch has ended.')
    cancelBatch(batch)
    return jsonReply('{}')
  }
  if (cancel === undefined && method === 'GET') {
    await look(batch, kept)
    return show(batch)
  }
  if (cancel !== undefined || method !== 'DELETE')
    throw new ApiError({ status: 405, message: `Not allowed to ${method} on ${path}.` })
  kept.batches.delete(id)
  return jsonReply('{}')
}

function create(asked: BatchesAsked, endpoint: string): StoredBatch {
  const { json, kept, key } = asked
  const batch = isObject(json?.['batch']) ? json['batch'] : null
  const displayName = batch?.['displayName'] ?? batch?.['display_name']
  if (batch === null || typeof displayName !== 'string')
    throw invalidRequest('batch.display_name is required.', 'batch.display_name')
  const input = isObject(batch['inputConfig']) ? batch['inputConfig'] : {}
  const name = String(input['fileName'] ?? input['file_name'])
  const file = kept.files.get(name.replace(/^files\//, ''))
  if (file === undefined) throw new ApiError({ status: 404, message: `File ${name} was not found.` })
  return beginBatch({
    ...asked,
    id: `batches/${lettersOf(`batch ${key}`, 36)}`,
    file,
    endpoint,
    metadata: { displayName },
    writer,
    parse: (text) => parsedLine(text, endpoint),
    hasOneOutput: true,
    losesExpired: true,
  })
}

function parsedLine(text: string, endpoint: string): InputLine | null {
  try {
    const value: unknown = JSON.parse(text)
    if (!isObject(value) || typeof value['key'] !== 'string' || !isObject(value['request'])) return null
    return { customId: value['key'], url: endpoint, body: value['request'] }
  } catch {
    return null
  }
}

const writer: LineWriter = {
  answered({ customId: key }, status, body) {
    const parsed = JSON.parse(body) as JsonObject
    if (status < 400) return JSON.stringify({ key, response: parsed })
    const error = isObject(parsed['error']) ? parsed['error'] : {}
    return errorLine(key, codeOf[status] ?? 13, String(error['message'] ?? ''))
  },
  refused: ({ customId: key }) => errorLine(key, 3, 'The request of this line is invalid.'),
  notRun: ({ customId: key }, reason) =>
    errorLine(key, reason === 'batch_expired' ? 4 : 1, 'The request was not run.'),
}

function errorLine(key: string, code: number, message: string): string {
  return JSON.stringify({ key, error: { code, message } })
}

function contentOf({ kept }: BatchesAsked, fileId: string): Reply {
  const file = kept.files.get(fileId)
  if (file === undefined) throw new ApiError({ status: 404, message: 'Requested entity was not found.' })
  return { status: 200, contentType: 'application/octet-stream', headers: {}, body: readContent(file) }
}

function show(batch: StoredBatch): Reply {
  return jsonReply(JSON.stringify(shown(batch)))
}

function shown(batch: StoredBatch): JsonObject {
  const { id, status, total, ran, faults } = batch
  const time = new Date(batch.createdSeconds * 1000).toISOString()
  const output = batch.outputFileId !== null ? { responsesFile: `files/${batch.outputFileId}` } : null
  const stats = {
    requestCount: total,
    pendingRequestCount: ran === null ? total : 0,
    successfulRequestCount: ran?.completed ?? 0,
    failedRequestCount: ran?.failed ?? 0,
  }
  const isEnded = endedStatuses.has(status)
  return {
    name: id,
    metadata: {
      '@type': type,
      model: batch.endpoint.replace('/v1beta/', '').replace(/:.*/, ''),
      displayName: batch.metadata?.['displayName'],
      createTime: time,
      updateTime: time,
      ...(isEnded ? { endTime: time } : {}),
      batchStats: Object.fromEntries(
        Object.entries(stats).flatMap(([name, count]) => (count === 0 ? [] : [[name, String(count)]])),
      ),
      state: `BATCH_STATE_${wordOf[status] ?? 'UNSPECIFIED'}`,
      name: id,
      ...(output === null ? {} : { output }),
    },
    ...(isEnded ? { done: true } : {}),
    ...(output === null ? {} : { response: { '@type': `${type}Output`, ...output } }),
    ...(status === 'failed' ? { error: { code: 3, message: faults[0]?.message ?? '' } } : {}),
  }
}

/** The newest first; without results. */
function listOf({ kept }: BatchesAsked, query: URLSearchParams): JsonObject {
  const all = [...kept.batches.values()].toReversed()
  const size = Math.min(Math.max(1, Number(query.get('pageSize') ?? 50) || 50), 100)
  const start = Number(query.get('pageToken') ?? 0) || 0
  const end = start + size
  return {
    operations: all.slice(start, end).map(shown),
    ...(end < all.length ? { nextPageToken: String(end) } : {}),
  }
}
