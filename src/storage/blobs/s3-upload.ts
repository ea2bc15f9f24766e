import { createHash } from 'node:crypto'
import { assert } from '../../core/assert.ts'
import type { BlobWritten } from './blob-store.ts'
import { textOf } from './s3-answers.ts'
import { isMissing, S3Refusal } from './s3-failures.ts'
import type { S3Reply, S3Requests } from './s3-requests.ts'

/** Bytes of one part of an upload: a put holds two parts. An object has at most ten thousand of them. */
export const s3PartBytes = 8 * 1024 * 1024
const s3PartsMax = 10_000

/** The header of an object that says which put wrote it, and the one with the SHA-256 of an object that was sent at once. */
export const putHeader = 'x-amz-meta-headrace-put'
export const sha256Header = 'x-amz-meta-headrace-sha256'

/** An object to be written. */
export interface S3Upload {
  requests: S3Requests
  /** With the store's prefix. */
  path: string
  /** Unlike any other put's. */
  nonce: string
  content: Uint8Array | AsyncIterable<Uint8Array>
  /** Whether the object that is stored there was written under this put's nonce. */
  isOwn(): Promise<boolean>
}

/** The object exists already, and another put wrote it. */
export class S3Taken extends Error {
  override name = 'S3Taken'
}

/** The content could not be read to its end; the reason is the caller's own. */
export class BrokenContent extends Error {
  readonly thrown: unknown

  constructor(thrown: unknown) {
    super('the content could not be read')
    this.name = 'BrokenContent'
    this.thrown = thrown
  }
}

/** Only a new object is written. A server without conditional writes ignores this; then the names, which are random, keep objects apart. */
const onlyNew = { 'if-none-match': '*' } as const
/** What a server answers to that condition: the object is there; it does not know such conditions. */
const preconditionFailed = 412
const notImplemented = 501
/** What it answers when there is no such upload. */
const gone = 404

/**
 * Writes an object: at once if it fits into one part, else as a multipart upload, which is visible only when it is
 * complete and is given up when anything fails. Rejects with S3Taken, BrokenContent, S3Refusal, or the error of the last
 * try.
 */
export async function upload(task: S3Upload): Promise<BlobWritten> {
  const hash = createHash('sha256')
  const parts = cutParts(task.content, hash)
  try {
    const first = await parts.next()
    const body = first.done === true ? new Uint8Array() : first.value
    // A short part is the last one.
    if (body.byteLength < s3PartBytes) {
      const sha256 = hash.digest('hex')
      await putWhole(task, body, sha256)
      return { bytes: body.byteLength, sha256 }
    }
    const bytes = await putParts(task, body, parts)
    return { bytes, sha256: hash.digest('hex') }
  } finally {
    await parts.return(undefined)
  }
}

async function putWhole(task: S3Upload, body: Uint8Array, sha256: string): Promise<void> {
  const { requests, path, nonce } = task
  const headers = { [putHeader]: nonce, [sha256Header]: sha256 }
  await conditionally(task, headers, (sent) =>
    requests.ask({
      method: 'PUT',
      path,
      headers: sent,
      body,
      bodySha256: sha256,
      expected: [preconditionFailed, notImplemented],
    }),
  )
}

/** Asks under the condition that the object is new, and without it where the server has no conditions. */
async function conditionally(
  { isOwn }: S3Upload,
  headers: Readonly<Record<string, string>>,
  ask: (headers: Readonly<Record<string, string>>) => Promise<S3Reply>,
): Promise<void> {
  const { status, code, mayBeRepeated } = await ask({ ...headers, ...onlyNew })
  // An earlier try may have written it, and its answer was lost.
  if (status === preconditionFailed && !(mayBeRepeated && (await isOwn()))) throw new S3Taken()
  if (status !== notImplemented) return
  const again = await ask(headers)
  if (again.status >= 300) throw new S3Refusal(again.status, again.code || code)
}

/** Sends one part while the next one fills. Returns the bytes of the whole. */
async function putParts(task: S3Upload, first: Uint8Array, rest: AsyncIterable<Uint8Array>): Promise<number> {
  const { requests, path, nonce } = task
  const uploadId = await begin(requests, path, nonce)
  const tags: string[] = []
  let bytes = 0
  let sending: Promise<void> = Promise.resolve()
  const send = (part: Uint8Array): void => {
    bytes += part.byteLength
    const number = tags.push('')
    assert(number <= s3PartsMax, 'an object has at most 10,000 parts')
    sending = putPart({ requests, path, uploadId, number, part }).then((tag) => void (tags[number - 1] = tag))
    // Awaited below; until then a failure must not count as unhandled.
    sending.catch(() => undefined)
  }
  try {
    send(first)
    for await (const part of rest) {
      await sending
      send(part)
    }
    await sending
    await complete(task, uploadId, tags)
    return bytes
  } catch (error) {
    // A part that arrives after the upload was given up would stay on the server.
    await sending.catch(() => undefined)
    await abort(requests, path, uploadId).catch(() => undefined)
    throw error
  }
}

async function begin(requests: S3Requests, path: string, nonce: string): Promise<string> {
  const { body } = await requests.ask({
    method: 'POST',
    path,
    query: { uploads: '' },
    headers: { [putHeader]: nonce },
  })
  const uploadId = textOf(new TextDecoder().decode(body), 'UploadId')
  if (uploadId === null) throw new Error('the server began an upload without an id')
  return uploadId
}

async function putPart(sent: {
  requests: S3Requests
  path: string
  uploadId: string
  number: number
  part: Uint8Array
}): Promise<string> {
  const { requests, path, uploadId, number, part } = sent
  const query = { partNumber: String(number), uploadId }
  const { headers } = await requests.ask({ method: 'PUT', path, query, body: part })
  const tag = headers.get('etag')
  if (tag === null) throw new Error('the server took a part without an ETag')
  return tag
}

async function complete(task: S3Upload, uploadId: string, tags: readonly string[]): Promise<void> {
  const { requests, path, isOwn } = task
  const listed = tags.map((tag, index) => {
    const escaped = tag.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
    return `<Part><PartNumber>${index + 1}</PartNumber><ETag>${escaped}</ETag></Part>`
  })
  const text = `<CompleteMultipartUpload xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${listed.join('')}</CompleteMultipartUpload>`
  await conditionally(task, { 'content-type': 'application/xml' }, async (headers) => {
    const reply = await requests.ask({
      method: 'POST',
      path,
      query: { uploadId },
      headers,
      body: new TextEncoder().encode(text),
      expected: [preconditionFailed, notImplemented, gone],
    })
    // After a lost answer the upload is gone because it is complete, or because somebody gave it up.
    const { status, code, mayBeRepeated } = reply
    if (status === gone && !(isMissing(code) && mayBeRepeated && (await isOwn())))
      throw new S3Refusal(gone, code)
    return reply
  })
}

/** Gives an upload up; the server removes its parts. */
export async function abort(requests: S3Requests, path: string, uploadId: string): Promise<void> {
  await requests.ask({ method: 'DELETE', path, query: { uploadId }, expected: [gone] })
}

/**
 * Cuts content into parts of `s3PartBytes`; the last one is shorter, and empty if nothing is left. The pieces are hashed as
 * they come. A part's memory is used again for the part after the next, so whoever asks for a part has done with the one
 * before the last.
 */
async function* cutParts(
  content: Uint8Array | AsyncIterable<Uint8Array>,
  hash: { update(bytes: Uint8Array): unknown },
): AsyncGenerator<Uint8Array> {
  let part: Uint8Array = new Uint8Array()
  let spare: Uint8Array | null = null
  let filled = 0
  for await (const chunk of watched(content instanceof Uint8Array ? inPieces(content) : content)) {
    hash.update(chunk)
    for (let at = 0; at < chunk.byteLength;) {
      const taken = Math.min(chunk.byteLength - at, s3PartBytes - filled)
      if (filled + taken > part.byteLength) part = enlarged(part, filled, filled + taken)
      part.set(chunk.subarray(at, at + taken), filled)
      at += taken
      filled += taken
      if (filled < s3PartBytes) continue
      yield part
      ;[part, spare] = [spare ?? new Uint8Array(s3PartBytes), part]
      filled = 0
    }
  }
  yield part.subarray(0, filled)
}

/** Tells an error of the content from one of the server. */
async function* watched(content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* content
  } catch (thrown) {
    throw new BrokenContent(thrown)
  }
}

/** Most objects are far smaller than a part, so the memory of one grows with its content. */
function enlarged(part: Uint8Array, filled: number, needed: number): Uint8Array {
  const larger = new Uint8Array(Math.min(Math.max(needed, part.byteLength * 2), s3PartBytes))
  larger.set(part.subarray(0, filled))
  return larger
}

const pieceBytes = 256 * 1024

/** Hashing many megabytes in one go would hold up the event loop. */
async function* inPieces(content: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < content.byteLength; at += pieceBytes) {
    yield content.subarray(at, at + pieceBytes)
    if (at > 0) await new Promise((resolve) => setImmediate(resolve))
  }
}
