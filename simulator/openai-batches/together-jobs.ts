import { readFile } from 'node:fs/promises'
import type { ApiStyle } from '../api-style.ts'
import { openAiStyle } from '../api-style.ts'
import { ApiError, invalidRequest } from '../errors.ts'
import type { JsonObject } from '../json.ts'
import { lettersOf } from '../random.ts'
import type { ReadBody } from '../read-body.ts'
import { jsonReply, type Reply } from '../reply.ts'
import { type BatchesAsked, batchesPath, beginBatch, cancelBatch, look } from './batches.ts'
import { nowSeconds, storedFilesPath } from './files.ts'
import type { StoredBatch, StoredFile } from './kept-batches.ts'
import { openAiLines } from './lines.ts'
import { parseLine, services } from './services.ts'

// Together's files, which are announced, sent to a storage and taken in, and its batches of chat.

const storageStart = '/v1/storage/'
const storagePath = /^\/v1\/storage\/(file-[A-Za-z0-9]+)$/
const takenInPath = /^\/v1\/files\/(file-[A-Za-z0-9]+)\/preprocess$/
const batchPath = /^\/v1\/batches\/([a-z0-9-]+)(\/cancel)?$/
const endpoint = '/v1/chat/completions'
const createMembers: ReadonlySet<string> = new Set([
  'input_file_id',
  'endpoint',
  'completion_window',
  'model_id',
  'priority',
])
/** A file that was announced and has not been taken in. */
const announced = 'announced'
const sent = 'sent'

const wordOf: Readonly<Record<string, string>> = {
  validating: 'VALIDATING',
  in_progress: 'IN_PROGRESS',
  finalizing: 'IN_PROGRESS',
  cancelling: 'IN_PROGRESS',
  completed: 'COMPLETED',
  failed: 'FAILED',
  expired: 'EXPIRED',
  cancelled: 'CANCELLED',
}

/** True for an address of the storage. */
export function isStoragePath(path: string): boolean {
  return path.startsWith(storageStart)
}

/** The storage knows no keys, and one that comes with a key has leaked it. */
export const storageStyle: ApiStyle = {
  ...openAiStyle,
  authenticate({ authorization, 'x-api-key': key }) {
    if (authorization === undefined && key === undefined) return
    throw new ApiError({ status: 400, message: 'Only one auth mechanism allowed.' })
  },
}

/** A request about Together's files and batches. */
export interface TogetherAsked extends BatchesAsked {
  body: ReadBody
  /** The address of the mount. */
  origin: string
}

/** Answers a request that differs from OpenAI's; null for one that does not. Throws `ApiError`. */
export async function operateTogether(asked: TogetherAsked): Promise<Reply | null> {
  const { method, path, kept } = asked
  if (path === storedFilesPath && method === 'POST') return announce(asked)
  const [, stored] = storagePath.exec(path) ?? []
  if (stored !== undefined && method === 'PUT') return store(asked, stored)
  const [, taken] = takenInPath.exec(path) ?? []
  if (taken !== undefined && method === 'POST') return takeIn(asked, taken)
  if (path === batchesPath && method === 'POST')
    return jsonReply(JSON.stringify({ job: shown(create(asked)), warning: '' }))
  if (path === batchesPath && method === 'GET')
    return jsonReply(JSON.stringify([...kept.batches.values()].toReversed().map(shown)))
  const [, id = '', cancel] = batchPath.exec(path) ?? []
  if (id === '') return null
  const batch = kept.batches.get(id)
  if (batch === undefined) throw new ApiError({ status: 404, message: 'Batch not found.' })
  if (cancel === undefined && method === 'GET') await look(batch, kept)
  else if (cancel !== undefined && method === 'POST') cancelBatch(batch)
  else throw new ApiError({ status: 405, message: `Not allowed to ${method} on ${path}.` })
  return jsonReply(JSON.stringify(shown(batch)))
}

/** The place of a file is in the headers of a redirect, which must not be followed. */
function announce({ query, kept, key, origin }: TogetherAsked): Reply {
  const [name, type, purpose] = ['file_name', 'file_type', 'purpose'].map((member) => query.get(member))
  if (!name || type !== 'jsonl' || purpose !== 'batch-api')
    throw invalidRequest('file_name, file_type and purpose are required.', 'purpose')
  const id = `file-${lettersOf(`file ${key}`, 22)}`
  const file = { id, filename: name, purpose: announced, content: Buffer.alloc(0) }
  kept.keepFile({ ...file, createdSeconds: nowSeconds(), expiresSeconds: null })
  const location = `${origin}${storageStart}${id}?X-Amz-Signature=${signatureOf(id)}`
  const headers = { location, 'x-together-file-id': id }
  return { status: 302, contentType: 'text/plain', headers, body: '' }
}

const signatureOf = (id: string) => lettersOf(`signature ${id}`, 32)

async function store({ query, kept, body }: TogetherAsked, id: string): Promise<Reply> {
  const file = fileOf(kept.files.get(id))
  if (query.get('X-Amz-Signature') !== signatureOf(id))
    throw new ApiError({ status: 403, message: 'The request signature we calculated does not match.' })
  if (body.file === null) throw invalidRequest('Send the bytes of the file.')
  kept.files.set(id, { ...file, purpose: sent, content: await readFile(await body.file.path()) })
  return { status: 200, contentType: 'application/xml', body: '' }
}

function takeIn({ kept }: TogetherAsked, id: string): Reply {
  const file = fileOf(kept.files.get(id))
  if (file.purpose !== sent) throw invalidRequest('The file has not been uploaded.')
  kept.files.set(id, { ...file, purpose: 'batch' })
  return jsonReply(JSON.stringify({ id, object: 'file', filename: file.filename, processed: true }))
}

function fileOf(file: StoredFile | undefined): StoredFile {
  if (file === undefined) throw new ApiError({ status: 404, message: 'File not found.' })
  return file
}

function create(asked: TogetherAsked): StoredBatch {
  const { json, kept, key, runLine } = asked
  if (json === null) throw invalidRequest('The body of the request is no JSON object.')
  const unknown = Object.keys(json).find((name) => !createMembers.has(name))
  if (unknown !== undefined) throw invalidRequest(`Unknown member ${unknown}.`, unknown)
  if (json['endpoint'] !== endpoint) throw invalidRequest('Invalid endpoint.', 'endpoint')
  const file = kept.files.get(String(json['input_file_id']))
  if (file?.purpose !== 'batch') throw invalidRequest('The file is not ready for a batch.', 'input_file_id')
  const letters = Buffer.from(lettersOf(`job ${key}`, 16)).toString('hex')
  const parts = [8, 12, 16, 20, 32].map((end, index, ends) => letters.slice(ends[index - 1] ?? 0, end))
  return beginBatch({
    ...asked,
    id: parts.join('-'),
    file,
    endpoint,
    metadata: null,
    writer: openAiLines,
    parse: (text) => parseLine(text, endpoint, { ...services.openai, hasBareLines: true }),
    runLine,
  })
}

function shown(batch: StoredBatch): JsonObject {
  const { id, status, ran, createdSeconds, total, faults } = batch
  const created = new Date(createdSeconds * 1000).toISOString()
  const wasRun = (ran?.completed ?? 0) + (ran?.failed ?? 0)
  return {
    id,
    user_id: 'user_simulated',
    input_file_id: batch.inputFileId,
    file_size_bytes: 0,
    status: wordOf[status],
    job_deadline: new Date((createdSeconds + 86_400) * 1000).toISOString(),
    created_at: created,
    endpoint: batch.endpoint,
    progress: total === 0 ? 0 : (100 * wasRun) / total,
    model_id: batch.model,
    ...(batch.outputFileId === null ? {} : { output_file_id: batch.outputFileId }),
    ...(batch.errorFileId === null ? {} : { error_file_id: batch.errorFileId }),
    ...(status === 'failed' ? { error: faults[0]?.message ?? '' } : {}),
    ...(ran === null ? {} : { completed_at: created }),
  }
}
