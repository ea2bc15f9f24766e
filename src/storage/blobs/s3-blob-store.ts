import { createHash } from 'node:crypto'
import { GatewayError } from '../../core/errors.ts'
import { newId } from '../../core/ids.ts'
import { blobListMax } from '../../core/limits/storage.ts'
import { StorageFailure, storageUnavailable } from '../database.ts'
import { checkKey } from './blob-key.ts'
import { absent, type BlobRange, type BlobStore, type BlobWritten, taken } from './blob-store.ts'
import { elementsOf, parseContentRange, textOf, textsOf } from './s3-answers.ts'
import { isMissing, S3Refusal, toStorageFailure } from './s3-failures.ts'
import { type S3RequestDependencies, type S3Reply, S3Requests } from './s3-requests.ts'
import { describeS3, type S3Settings } from './s3-settings.ts'
import { abort, BrokenContent, putHeader, S3Taken, sha256Header, upload } from './s3-upload.ts'

/** Bytes of an object that one request reads: a slow reader holds no more. */
const s3ChunkBytes = 4 * 1024 * 1024
/** Pages of a listing of unfinished uploads that one sweep reads. */
const s3SweepPagesMax = 100

/** A read of an object's part. */
interface ReadPart {
  bytes: Uint8Array
  /** The size of the whole object. */
  size: number
  headers: S3Reply['headers']
}

const outOfRange = 416

/**
 * A blob store in a bucket of an S3-compatible server. An object becomes visible as a whole, when its last byte is on
 * the server. Reads are requests for parts of an object, so that a slow reader holds no connection.
 */
export class S3BlobStore implements BlobStore {
  readonly #settings: S3Settings
  readonly #requests: S3Requests
  /** Keys that this process is writing, so that two puts of one key cannot both find it free. */
  readonly #writing = new Set<string>()

  constructor(settings: S3Settings, dependencies: S3RequestDependencies) {
    this.#settings = settings
    this.#requests = new S3Requests(settings, dependencies)
  }

  async put(key: string, content: Uint8Array | AsyncIterable<Uint8Array>): Promise<BlobWritten> {
    checkKey(key)
    if (this.#writing.has(key)) throw taken()
    this.#writing.add(key)
    const nonce = newId('put', Date.now())
    try {
      return await upload({
        requests: this.#requests,
        path: this.#pathOf(key),
        nonce,
        content,
        isOwn: () => this.#isWrittenBy(key, nonce),
      })
    } catch (error) {
      if (error instanceof BrokenContent) throw error.thrown
      throw error instanceof S3Taken ? taken() : this.#failed(error, `writing ${key}`)
    } finally {
      this.#writing.delete(key)
    }
  }

  async get(key: string): Promise<Uint8Array> {
    const first = await this.#read(key, 0, s3ChunkBytes)
    if (first.bytes.byteLength >= first.size) {
      await this.#checkContent(key, first)
      return first.bytes
    }
    const whole = new Uint8Array(first.size)
    whole.set(first.bytes)
    for (let at = first.bytes.byteLength; at < first.size;) {
      const { bytes } = await this.#read(key, at, s3ChunkBytes)
      // Somebody put a smaller object there meanwhile.
      if (bytes.byteLength === 0) throw this.#failed(new Error('the object ended early'), `reading ${key}`)
      whole.set(bytes, at)
      at += bytes.byteLength
    }
    return whole
  }

  stream(key: string, range: BlobRange = {}): ReadableStream<Uint8Array> {
    let position = range.offset ?? 0
    let end = position + (range.length ?? Number.POSITIVE_INFINITY)
    let isOpened = false
    return new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          if (!isOpened || position < end) {
            // A read of nothing still finds out whether the object exists.
            const { bytes, size } = await this.#read(
              key,
              position,
              Math.max(1, Math.min(s3ChunkBytes, end - position)),
            )
            isOpened = true
            end = Math.min(end, size)
            const wanted = bytes.subarray(0, Math.max(0, end - position))
            position += wanted.byteLength
            if (wanted.byteLength > 0) controller.enqueue(wanted)
          }
          if (position >= end) controller.close()
        },
      },
      // No read-ahead: a thousand stalled readers use no memory.
      { highWaterMark: 0 },
    )
  }

  async size(key: string): Promise<number> {
    return (await this.#read(key, 0, 1)).size
  }

  async exists(key: string): Promise<boolean> {
    try {
      await this.size(key)
      return true
    } catch (error) {
      if (error instanceof GatewayError && error.type === 'not_found') return false
      throw error
    }
  }

  async delete(key: string): Promise<void> {
    checkKey(key)
    const { status, code } = await this.#ask(`deleting ${key}`, () =>
      this.#requests.ask({ method: 'DELETE', path: this.#pathOf(key), expected: [404] }),
    )
    if (status === 404 && !isMissing(code)) throw this.#failed(new S3Refusal(status, code), `deleting ${key}`)
  }

  async list(prefix: string, page: { after?: string; limit?: number } = {}): Promise<string[]> {
    const limit = Math.min(page.limit ?? blobListMax, blobListMax)
    const root = this.#pathOf('')
    const keys: string[] = []
    let after = page.after ?? ''
    while (keys.length < limit) {
      const query: Record<string, string> = {
        'list-type': '2',
        prefix: root + prefix,
        'max-keys': String(limit - keys.length),
        ...(after === '' ? {} : { 'start-after': root + after }),
      }
      const xml = await this.#askXml('listing', query)
      const paths = textsOf(xml, 'Key')
      keys.push(...paths.filter((path) => path.startsWith(root)).map((path) => path.slice(root.length)))
      const last = paths.at(-1)
      if (textOf(xml, 'IsTruncated') !== 'true' || last === undefined) break
      after = last.slice(root.length)
    }
    return keys.slice(0, limit)
  }

  async removeUnfinished(beforeMs: number): Promise<number> {
    const root = this.#pathOf('')
    let removed = 0
    let marker: Record<string, string> = {}
    for (let page = 0; page < s3SweepPagesMax; page += 1) {
      const xml = await this.#askXml('listing uploads', { uploads: '', prefix: root, ...marker })
      for (const one of elementsOf(xml, 'Upload')) {
        const path = textOf(one, 'Key')
        const uploadId = textOf(one, 'UploadId')
        const begunMs = Date.parse(textOf(one, 'Initiated') ?? '')
        if (path === null || uploadId === null || !path.startsWith(root) || !(begunMs < beforeMs)) continue
        await this.#ask('giving an upload up', () => abort(this.#requests, path, uploadId))
        removed += 1
      }
      const next = textOf(xml, 'NextKeyMarker')
      if (textOf(xml, 'IsTruncated') !== 'true' || next === null) break
      marker = { 'key-marker': next, 'upload-id-marker': textOf(xml, 'NextUploadIdMarker') ?? '' }
    }
    return removed
  }

  async #read(key: string, offset: number, length: number): Promise<ReadPart> {
    checkKey(key)
    const doing = `reading ${key}`
    const { status, code, headers, body } = await this.#ask(doing, () =>
      this.#requests.ask({
        method: 'GET',
        path: this.#pathOf(key),
        headers: { range: `bytes=${offset}-${offset + length - 1}` },
        expected: [404, outOfRange],
        bytesMax: s3ChunkBytes,
      }),
    )
    if (status === 404) throw isMissing(code) ? absent() : this.#failed(new S3Refusal(status, code), doing)
    const range = parseContentRange(headers.get('content-range'))
    // Nothing is left there; an empty object has no first byte either.
    if (status === outOfRange) return { bytes: new Uint8Array(), size: range?.size ?? offset, headers }
    // An empty object is sent whole by some servers.
    if (status === 200 && offset === 0 && body.byteLength <= length)
      return { bytes: body, size: body.byteLength, headers }
    const expected = Math.min(length, (range?.size ?? 0) - offset)
    if (range === null || range.start !== offset || body.byteLength !== expected)
      throw this.#failed(new Error('the server sent a different part of the object'), doing)
    return { bytes: body, size: range.size, headers }
  }

  /** The content of an object that was sent at once is compared with what its writer noted of it. */
  async #checkContent(key: string, { bytes, headers }: ReadPart): Promise<void> {
    const noted = headers.get(sha256Header)
    if (noted === null) return
    const hash = createHash('sha256')
    for (let at = 0; at < bytes.byteLength; at += hashedAtOnceBytes) {
      hash.update(bytes.subarray(at, at + hashedAtOnceBytes))
      if (at > 0) await new Promise((resolve) => setImmediate(resolve))
    }
    if (hash.digest('hex') !== noted)
      throw this.#failed(new Error('its content is not what was written'), `reading ${key}`)
  }

  async #isWrittenBy(key: string, nonce: string): Promise<boolean> {
    try {
      return (await this.#read(key, 0, 1)).headers.get(putHeader) === nonce
    } catch (error) {
      if (error instanceof GatewayError && error.type === 'not_found') return false
      throw error
    }
  }

  async #askXml(doing: string, query: Readonly<Record<string, string>>): Promise<string> {
    const { body } = await this.#ask(doing, () => this.#requests.ask({ method: 'GET', path: '', query }))
    return new TextDecoder().decode(body)
  }

  async #ask<T>(doing: string, ask: () => Promise<T>): Promise<T> {
    try {
      return await ask()
    } catch (error) {
      throw this.#failed(error, doing)
    }
  }

  /** The caller's error; its cause, for the log, names the store, what was done and what to check. */
  #failed(error: unknown, doing: string): Error {
    if (error instanceof GatewayError && error.cause instanceof StorageFailure) return error
    return storageUnavailable(toStorageFailure(error, `${describeS3(this.#settings)}: ${doing}`))
  }

  /** A key with the store's prefix; the prefix alone, with its slash, for an empty key. */
  #pathOf(key: string): string {
    const { prefix } = this.#settings
    return prefix === '' ? key : `${prefix}/${key}`
  }
}

const hashedAtOnceBytes = 1024 * 1024
