import { readFile } from 'node:fs/promises'
import { ApiError, invalidRequest } from '../errors.ts'
import type { JsonObject } from '../json.ts'
import { lettersOf } from '../random.ts'
import type { ReadBody } from '../read-body.ts'
import { jsonReply, type Reply } from '../reply.ts'
import { type BatchesAsked, batchesPath, beginBatch, cancelBatch, look } from './batches.ts'
import { nowSeconds, storedFilesPath } from './files.ts'
import { endedStatuses, readOutput, type StoredBatch } from './kept-batches.ts'
import type { LineWriter } from './lines.ts'
import { parseLine, services } from './services.ts'

// xAI's batches of a file of lines: no state but counts, and results page by page.

const batchPath = /^\/v1\/batches\/(batch_[a-z0-9]+)(:cancel|\/results)?$/
const endpoint = '/v1/chat/completions'
const pageMax = 100

/** Answers a request that differs from OpenAI's; null for one that does not. Throws `ApiError`. */
export async function operateXAi(asked: BatchesAsked & { body: ReadBody }): Promise<Reply | null> {
  const { method, path, query, kept } = asked
  if (path === storedFilesPath && method === 'POST') return upload(asked)
  if (path === storedFilesPath && method === 'GET') {
    const files = [...kept.files.values()].toReversed()
    const page = pageOf(files, query)
    const data = page.entries.map(({ id, filename, content, createdSeconds }) => ({
      id,
      object: 'file',
      filename,
      bytes: content.length,
      created_at: createdSeconds,
    }))
    return jsonReply(JSON.stringify({ data, pagination_token: page.token }))
  }
  if (path === batchesPath && method === 'POST') return jsonReply(JSON.stringify(shown(create(asked))))
  if (path === batchesPath && method === 'GET') {
    const { entries, token } = pageOf([...kept.batches.values()].toReversed(), query)
    return jsonReply(JSON.stringify({ batches: entries.map(shown), pagination_token: token }))
  }
  const [, id = '', action] = batchPath.exec(path) ?? []
  if (id === '') return null
  const batch = kept.batches.get(id)
  if (batch === undefined) throw new ApiError({ status: 404, message: 'Batch not found.' })
  if (action === '/results' && method === 'GET') return resultsOf(batch, query)
  if (action === undefined && method === 'GET') await look(batch, kept)
  else if (action === ':cancel' && method === 'POST') cancelBatch(batch)
  else throw new ApiError({ status: 405, message: `Not allowed to ${method} on ${path}.` })
  return jsonReply(JSON.stringify(shown(batch)))
}

async function upload({ body: { form }, kept, key }: BatchesAsked & { body: ReadBody }): Promise<Reply> {
  const posted = form?.files.find(({ name }) => name === 'file')
  if (posted === undefined) throw invalidRequest("'file' is a required property", 'file')
  const file = {
    id: `file-${lettersOf(`file ${key}`, 22)}`,
    filename: posted.fileName,
    purpose: 'batch',
    content: await readFile(await posted.path()),
    createdSeconds: nowSeconds(),
    expiresSeconds: null,
  }
  kept.keepFile(file)
  return jsonReply(JSON.stringify({ id: file.id, object: 'file', filename: file.filename }))
}

function create(asked: BatchesAsked): StoredBatch {
  const { json, kept, key } = asked
  const unknown = Object.keys(json ?? {}).find((name) => name !== 'name' && name !== 'input_file_id')
  if (json === null || unknown !== undefined)
    throw invalidRequest(`Unknown member ${unknown ?? ''}.`, unknown)
  if (typeof json['name'] !== 'string') throw invalidRequest('A batch has a name.', 'name')
  const file = kept.files.get(String(json['input_file_id']))
  if (file === undefined) throw invalidRequest('No such file.', 'input_file_id')
  return beginBatch({
    ...asked,
    id: `batch_${Buffer.from(lettersOf(`batch ${key}`, 16)).toString('hex')}`,
    file,
    endpoint,
    metadata: { name: json['name'] },
    writer,
    parse: (text) => parseLine(text, endpoint, services.openai),
    hasOneOutput: true,
    writesNoFiles: true,
  })
}

/** Answers are chat completions; errors are those of google.rpc. */
const writer: LineWriter = {
  answered({ customId: id }, status, body) {
    const parsed = JSON.parse(body) as JsonObject
    if (status >= 400) return failed(id, status === 429 ? 8 : 3, JSON.stringify(parsed['error']))
    const batch_result = { response: { chat_get_completion: parsed } }
    return JSON.stringify({ batch_request_id: id, batch_result })
  },
  refused: ({ customId: id }) => failed(id, 3, 'The request of this line is invalid.'),
  notRun: ({ customId: id }) => failed(id, 1, 'The request was cancelled.'),
}

function failed(batch_request_id: string, code: number, message: string): string {
  return JSON.stringify({ batch_request_id, batch_result: { error: { code, message } } })
}

function resultsOf({ ran }: StoredBatch, query: URLSearchParams): Reply {
  const lines = (ran === null ? '' : readOutput(ran)).split('\n').filter((line) => line !== '')
  const { entries, token } = pageOf(lines, query)
  const last = token === null ? 'null' : JSON.stringify(token)
  return jsonReply(`{"results":[${entries.join(',')}],"pagination_token":${last}}`)
}

/** A page, and the token of the next one; null on the last. */
function pageOf<T>(
  all: readonly T[],
  query: URLSearchParams,
): { entries: readonly T[]; token: string | null } {
  const size = Math.min(Number(query.get('limit') ?? pageMax) || pageMax, pageMax)
  const start = Number(query.get('pagination_token') ?? 0) || 0
  const end = start + size
  return { entries: all.slice(start, end), token: end < all.length ? String(end) : null }
}

function shown(batch: StoredBatch): JsonObject {
  const { id, metadata, createdSeconds, total, ran, status, cancelledAtLook, faults, inputFileId } = batch
  // The file is parsed after the creation: until the first look there are no counts.
  const isKnown = batch.looks > 0
  const isEnded = endedStatuses.has(status)
  const notRun = status === 'failed' ? total : (ran?.notRun ?? 0)
  const completed = ran?.completed ?? 0
  const stopped = status === 'failed' ? (faults[0]?.message ?? '') : 'The batch took too long.'
  const isStopped = status === 'failed' || status === 'expired'
  return {
    batch_id: id,
    name: metadata?.['name'],
    create_time: new Date(createdSeconds * 1000).toISOString(),
    expire_time: new Date((createdSeconds + 30 * 86_400) * 1000).toISOString().slice(0, 10),
    create_api_key_id: 'simulated',
    cancel_time: cancelledAtLook === null ? null : new Date(createdSeconds * 1000).toISOString(),
    cancel_by_xai_message: isStopped ? stopped : null,
    input_file_id: inputFileId,
    state: {
      num_requests: isKnown ? total : 0,
      num_pending: isKnown && !isEnded ? total : 0,
      num_success: completed,
      num_error: isEnded && status !== 'failed' ? total - completed - notRun : 0,
      num_cancelled: isEnded ? notRun : 0,
    },
  }
}
