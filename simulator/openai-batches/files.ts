import { readFile } from 'node:fs/promises'
import { ApiError, invalidRequest } from '../errors.ts'
import type { JsonObject } from '../json.ts'
import type { MultipartForm } from '../multipart.ts'
import { lettersOf } from '../random.ts'
import { jsonReply, type Reply } from '../reply.ts'
import { type KeptBatches, readContent, type StoredFile } from './kept-batches.ts'

/** A request about files. */
export interface StoredFilesAsked {
  method: string
  path: string
  query: URLSearchParams
  form: MultipartForm | null
  kept: KeptBatches
  key: string
}

export const storedFilesPath = '/v1/files'
const filePath = /^\/v1\/files\/(file-[A-Za-z0-9]+)(\/content)?$/
/** How long a file of a batch is kept unless the upload says otherwise. */
const batchFileSeconds = 30 * 86_400
const expirySeconds = { least: 3_600, most: 2_592_000 }
const pageMax = 10_000

/** True for a path of files. */
export function isStoredFilesPath(path: string): boolean {
  return path === storedFilesPath || path.startsWith(`${storedFilesPath}/`)
}

/** Answers a request about files. Throws `ApiError`. */
export async function operateStoredFiles(asked: StoredFilesAsked): Promise<Reply> {
  const { method, path, query, kept } = asked
  if (path === storedFilesPath && method === 'POST') return jsonReply(pretty(shown(await upload(asked))))
  if (path === storedFilesPath && method === 'GET') return jsonReply(pretty(listOf(kept, query)))
  const [, id = '', content] = filePath.exec(path) ?? []
  const file = kept.files.get(id)
  if (file === undefined)
    throw new ApiError({ status: 404, message: `No such File object: ${id}`, param: 'id' })
  if (content !== undefined && method === 'GET') return contentOf(file)
  if (content === undefined && method === 'GET') return jsonReply(pretty(shown(file)))
  if (content === undefined && method === 'DELETE') {
    kept.files.delete(id)
    return jsonReply(pretty({ object: 'file', deleted: true, id }))
  }
  throw new ApiError({ status: 405, message: `Not allowed to ${method} on ${path}.` })
}

/** A file that the provider itself writes. */
export function writtenFile(key: string, filename: string, content: string): StoredFile {
  return {
    id: `file-${lettersOf(`written ${key}`, 22)}`,
    filename,
    purpose: 'batch_output',
    content: Buffer.from(content),
    createdSeconds: nowSeconds(),
    expiresSeconds: nowSeconds() + batchFileSeconds,
  }
}

export function nowSeconds(): number {
  return Math.floor(Date.now() / 1000)
}

async function upload({ form, kept, key }: StoredFilesAsked): Promise<StoredFile> {
  if (form === null) throw invalidRequest('Send the file as multipart/form-data.', 'file')
  const known = new Set(['file', 'purpose', 'expires_after[anchor]', 'expires_after[seconds]'])
  const unknown = form.partNames.find((name) => !known.has(name))
  if (unknown !== undefined)
    throw invalidRequest(`Unknown parameter: '${unknown}'.`, unknown, 'unknown_parameter')
  const fieldOf = (name: string) => form.fields.find((field) => field.name === name)?.value
  const purpose = fieldOf('purpose')
  if (purpose !== 'batch') throw invalidRequest(`'${purpose}' is not one of ['batch'] - 'purpose'`, 'purpose')
  const posted = form.files.find(({ name }) => name === 'file')
  if (posted === undefined) throw invalidRequest("'file' is a required property", 'file')
  if (!posted.fileName.endsWith('.jsonl'))
    throw invalidRequest(`Invalid file format for Batch API. Must be .jsonl`, 'file')
  const file: StoredFile = {
    id: `file-${lettersOf(`file ${key}`, 22)}`,
    filename: posted.fileName,
    purpose,
    content: await readFile(await posted.path()),
    createdSeconds: nowSeconds(),
    expiresSeconds:
      nowSeconds() + secondsOf(fieldOf('expires_after[anchor]'), fieldOf('expires_after[seconds]')),
  }
  kept.keepFile(file)
  return file
}

function secondsOf(anchor: string | undefined, seconds: string | undefined): number {
  if (anchor === undefined && seconds === undefined) return batchFileSeconds
  const value = Number(seconds)
  const isGood = anchor === 'created_at' && value >= expirySeconds.least && value <= expirySeconds.most
  if (!isGood) throw invalidRequest('Invalid value for expires_after.', 'expires_after')
  return value
}

function contentOf(file: StoredFile): Reply {
  return {
    status: 200,
    contentType: 'application/octet-stream',
    headers: { 'content-disposition': `attachment; filename="${file.filename}"` },
    body: readContent(file),
  }
}

function shown(file: StoredFile): JsonObject {
  return {
    object: 'file',
    id: file.id,
    purpose: file.purpose,
    filename: file.filename,
    bytes: file.content.length,
    created_at: file.createdSeconds,
    expires_at: file.expiresSeconds,
    status: 'processed',
    status_details: null,
  }
}

/** The newest first. */
function listOf({ files }: KeptBatches, query: URLSearchParams): JsonObject {
  const purpose = query.get('purpose')
  const all = [...files.values()].toReversed().filter((file) => purpose === null || file.purpose === purpose)
  return pageOf(all, query, { shown, limitUsual: pageMax, limitMax: pageMax })
}

/** A page of OpenAI's lists: after an id, so many. */
export function pageOf<T extends { id: string }>(
  all: readonly T[],
  query: URLSearchParams,
  rules: { shown: (each: T) => JsonObject; limitUsual: number; limitMax: number },
): JsonObject {
  const limit = Number(query.get('limit') ?? rules.limitUsual)
  if (!Number.isInteger(limit) || limit < 1 || limit > rules.limitMax)
    throw invalidRequest(`Invalid 'limit': expected an integer from 1 to ${rules.limitMax}.`, 'limit')
  const after = query.get('after')
  const at = after === null ? 0 : all.findIndex(({ id }) => id === after) + 1
  if (after !== null && at === 0) throw new ApiError({ status: 404, message: `No such object: ${after}` })
  const page = all.slice(at, at + limit)
  return {
    object: 'list',
    data: page.map(rules.shown),
    first_id: page[0]?.id ?? null,
    last_id: page.at(-1)?.id ?? null,
    has_more: at + page.length < all.length,
  }
}

/** As OpenAI prints its objects. */
export function pretty(value: JsonObject): string {
  return JSON.stringify(value, null, 2)
}
