import { readFile } from 'node:fs/promises'
import { hear, type Listening } from '../audio/hearing.ts'
import { ApiError, invalidRequest } from '../errors.ts'
import { isObject, type JsonObject } from '../json.ts'
import { keptFilesMax } from '../limits.ts'
import { lettersOf } from '../random.ts'
import { jsonReply, type Reply } from '../reply.ts'
import type { ReadBody } from '../read-body.ts'
import { nowSeconds } from '../openai-batches/files.ts'
import type { KeptBatches, StoredFile } from '../openai-batches/kept-batches.ts'
import type { KeptFile, KeptFiles } from './kept-files.ts'

/** A request about files. */
export interface FilesAsked {
  method: string
  path: string
  query: URLSearchParams
  /** The origin of the mount, for the URL of an upload. */
  origin: string
  headers: Readonly<Record<string, string | string[] | undefined>>
  body: ReadBody
  json: JsonObject | null
  kept: KeptFiles
  /** Files of lines for batches. */
  lines: KeptBatches
  listening: Listening
  key: string
}

/** The type of files of lines. */
const linesType = 'application/jsonl'
/** The path of uploads. */
export const uploadPath = '/upload/v1beta/files'
const filePath = /^\/v1beta\/(files\/[\w-]+)$/

/** True for a path of files. */
export function isFilesPath(path: string): boolean {
  return path === uploadPath || path === '/v1beta/files' || filePath.test(path)
}

/** Answers a request about files. Throws `ApiError`. */
export async function operateFiles(asked: FilesAsked): Promise<Reply> {
  const { method, path, query, kept, lines } = asked
  if (path === uploadPath && method === 'POST')
    return query.has('upload_id') ? finishUpload(asked) : beginUpload(asked)
  if (path === '/v1beta/files' && method === 'GET')
    return jsonReply(listOf([...kept.files.values(), ...filesOfLines(lines)], query))
  const id = filePath.exec(path)?.[1]
  const file =
    id === undefined ? undefined : (kept.files.get(id) ?? filesOfLines(lines).find((each) => each.id === id))
  if (file === undefined)
    throw new ApiError({
      status: 403,
      message: 'You do not have permission to access the File or it may not exist.',
    })
  if (method === 'DELETE') {
    kept.files.delete(file.id)
    lines.files.delete(file.id.replace('files/', ''))
    return jsonReply('{}')
  }
  file.looks += 1
  return jsonReply(JSON.stringify(shown(file)))
}

function headerOf({ headers }: FilesAsked, name: string): string {
  const value = headers[`x-goog-upload-${name}`]
  return typeof value === 'string' ? value : ''
}

function beginUpload(asked: FilesAsked): Reply {
  const { kept, key, origin, json } = asked
  if (headerOf(asked, 'protocol') !== 'resumable' || headerOf(asked, 'command') !== 'start')
    throw invalidRequest('Upload protocol and command are not supported.')
  const bytes = Number(headerOf(asked, 'header-content-length') || Number.NaN)
  if (!Number.isInteger(bytes)) throw invalidRequest('The length of the upload is missing.')
  const file = isObject(json?.['file']) ? json['file'] : {}
  const { displayName } = file
  const id = lettersOf(`upload ${key}`, 32)
  const mimeType = headerOf(asked, 'header-content-type')
  kept.announced.set(id, {
    displayName: typeof displayName === 'string' ? displayName : null,
    mimeType,
    bytes,
  })
  const address = `${origin}${uploadPath}?upload_id=${id}&upload_protocol=resumable`
  return { ...jsonReply('{}'), headers: { 'x-goog-upload-url': address, 'x-goog-upload-status': 'active' } }
}

async function finishUpload(asked: FilesAsked): Promise<Reply> {
  const { kept, query, body, listening, key } = asked
  const announced = kept.announced.get(String(query.get('upload_id')))
  if (announced === undefined) throw new ApiError({ status: 404, message: 'The upload was not found.' })
  if (headerOf(asked, 'command') !== 'upload, finalize' || headerOf(asked, 'offset') !== '0')
    throw invalidRequest('Only whole uploads are known here.')
  if (body.file === null || body.file.bytes !== announced.bytes)
    throw invalidRequest('The upload is not as long as it was announced to be.')
  kept.announced.delete(String(query.get('upload_id')))
  if (announced.mimeType === linesType) return finishLines(asked, announced.displayName)
  const posted = { ...body.file, contentType: announced.mimeType }
  const heard = await hear(posted, listening, { unrecognised, undecodable: unrecognised }).catch(
    nullForNoSound,
  )
  const file: KeptFile = {
    id: `files/${lettersOf(`file ${key}`, 12)}`,
    displayName: announced.displayName,
    mimeType: announced.mimeType,
    bytes: announced.bytes,
    heard,
    createdAtMs: Date.now(),
    looks: 0,
  }
  kept.files.set(file.id, file)
  const [oldest] = kept.files.keys()
  if (kept.files.size > keptFilesMax && oldest !== undefined) kept.files.delete(oldest)
  return { ...jsonReply(JSON.stringify({ file: shown(file) })), headers: { 'x-goog-upload-status': 'final' } }
}

/** Keeps a file of lines with the files of batches. */
async function finishLines({ lines, body, key }: FilesAsked, displayName: string | null): Promise<Reply> {
  const file: StoredFile = {
    id: lettersOf(`file ${key}`, 12),
    filename: displayName ?? '',
    purpose: 'batch',
    content: await readFile((await body.file?.path()) ?? ''),
    createdSeconds: nowSeconds(),
    expiresSeconds: null,
  }
  lines.keepFile(file)
  const [kept] = filesOfLines({ files: new Map([[file.id, file]]) })
  return {
    ...jsonReply(JSON.stringify({ file: kept === undefined ? {} : shown(kept) })),
    headers: { 'x-goog-upload-status': 'final' },
  }
}

/** Files of lines as this API shows files: they are ready at once. */
function filesOfLines({ files }: Pick<KeptBatches, 'files'>): KeptFile[] {
  return [...files.values()].map(({ id, filename, content, createdSeconds }) => ({
    id: `files/${id}`,
    displayName: filename,
    mimeType: linesType,
    bytes: content.length,
    heard: null,
    createdAtMs: createdSeconds * 1000,
    looks: 1,
  }))
}

function unrecognised(): ApiError {
  return invalidRequest('The file is no sound.')
}

function nullForNoSound(error: unknown): null {
  if (error instanceof ApiError) return null
  throw error
}

function shown({ id, displayName, mimeType, bytes, heard, createdAtMs, looks }: KeptFile): JsonObject {
  const looked = heard === null && mimeType !== linesType ? 'FAILED' : 'ACTIVE'
  const state = looks === 0 ? 'PROCESSING' : looked
  return {
    name: id,
    ...(displayName === null ? {} : { displayName }),
    mimeType,
    sizeBytes: String(bytes),
    createTime: new Date(createdAtMs).toISOString(),
    uri: `https://generativelanguage.googleapis.com/v1beta/${id}`,
    state,
    ...(state === 'FAILED' ? { error: { code: 13, message: 'The file could not be processed.' } } : {}),
  }
}

/** Newest first, page by page. */
function listOf(files: readonly KeptFile[], query: URLSearchParams): string {
  const all = files.toReversed()
  const size = Math.min(Math.max(1, Number(query.get('pageSize') ?? 10) || 10), 100)
  const start = Number(query.get('pageToken') ?? 0) || 0
  const end = start + size
  return JSON.stringify({
    files: all.slice(start, end).map(shown),
    ...(end < all.length ? { nextPageToken: String(end) } : {}),
  })
}

/** The file that a part of a request names. Throws for an unknown file and for one that is not ready. */
export function fileOf(uri: unknown, { files }: KeptFiles): KeptFile {
  const id = /files\/[\w-]+$/.exec(String(uri))?.[0] ?? ''
  const file = files.get(id)
  if (file === undefined)
    throw new ApiError({
      status: 403,
      message: 'You do not have permission to access the File or it may not exist.',
    })
  if (file.looks === 0 || file.heard === null)
    throw invalidRequest(`The File ${id} is not in an ACTIVE state and usage is not allowed.`)
  return file
}
