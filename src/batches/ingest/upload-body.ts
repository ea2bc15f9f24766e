import type { Transform } from 'node:stream'
import {
  constants,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createZstdDecompress,
} from 'node:zlib'
import { GatewayError } from '../../core/errors.ts'
import { batchBodyBytesMax, ingestSliceBytes, uploadWindowLog } from '../../core/limits/batches.ts'
import { uploadBytesMin, uploadIdleMs } from '../../core/limits/http.ts'
import { giveBack } from '../../core/memory.ts'

/** A body as it arrives. */
export interface Upload {
  /** Its chunks are used up: their memory is given back as soon as they are read. */
  body: ReadableStream<Uint8Array>
  /** The header's value; null when there was none. */
  contentEncoding: string | null
  /**
   * Silence after which the upload is given up, because it takes the place of others, and time of waiting for it in which
   * `uploadBytesMin` have to come; `uploadIdleMs` by default.
   */
  idleMs?: number
}

const decoders: Record<string, () => Transform> = {
  gzip: () => createGunzip({ chunkSize: ingestSliceBytes }),
  deflate: () => createInflate({ chunkSize: ingestSliceBytes }),
  br: () => createBrotliDecompress({ chunkSize: ingestSliceBytes }),
  // A sender may not ask for a larger window, which would be memory of ours.
  zstd: () =>
    createZstdDecompress({
      chunkSize: ingestSliceBytes,
      params: { [constants.ZSTD_d_windowLogMax]: uploadWindowLog },
    }),
}

/** Throws when a body with this encoding could not be read. */
export function checkContentEncoding(contentEncoding: string | null): void {
  const name = encodingOf(contentEncoding)
  if (name === null || Object.hasOwn(decoders, name)) return
  const known = Object.keys(decoders).join(', ')
  throw new GatewayError(
    'invalid_request',
    `Content-Encoding ${JSON.stringify(name)} is not supported; send ${known} or none.`,
    { param: 'content-encoding' },
  )
}

/**
 * The body, decompressed, in slices small enough to scan without stalling others. A slice is lent until the next one is
 * asked for. Throws `payload_too_large` with the
 * first byte too many and `upload_broken` when the upload or its compression is broken. Leaving the loop early cancels the body; the
 * server goes on reading and discarding what the client still sends, so that it can read the answer.
 */
export async function* readUpload(upload: Upload): AsyncGenerator<Uint8Array> {
  const isRaw = encodingOf(upload.contentEncoding) === null
  let total = 0
  for await (const chunk of decoded(upload)) {
    total += chunk.byteLength
    if (total > batchBodyBytesMax) throw tooLarge()
    for (let offset = 0; offset < chunk.byteLength; offset += ingestSliceBytes) {
      yield chunk.subarray(offset, offset + ingestSliceBytes)
    }
    if (isRaw) giveBack(chunk)
  }
}

/** Hashes a body that was sent before, to compare it; refuses it as `readUpload` does. */
export async function hashUpload(upload: Upload): Promise<string> {
  checkContentEncoding(upload.contentEncoding)
  const hasher = new Bun.CryptoHasher('sha256')
  for await (const slice of readUpload(upload)) hasher.update(slice)
  return hasher.digest('hex')
}

/** The refusal of a body that is too large. */
export function tooLarge(): GatewayError {
  const limit = batchBodyBytesMax.toLocaleString('en-US')
  return new GatewayError(
    'payload_too_large',
    `The batch is larger than ${limit} bytes. Split it into several batches.`,
  )
}

function encodingOf(contentEncoding: string | null): string | null {
  const name = contentEncoding?.trim().toLowerCase() ?? 'identity'
  return name === 'identity' || name === '' ? null : name
}

function decoded(upload: Upload): AsyncIterable<Uint8Array> {
  const name = encodingOf(upload.contentEncoding)
  const decoder = name === null ? undefined : decoders[name]
  const reader = upload.body.getReader()
  const chunks = chunksOf(reader, upload.idleMs ?? uploadIdleMs)
  return decoder ? decompressed({ reader, chunks }, decoder()) : chunks
}

/** As every kind of stream's reader is. */
interface Reader {
  read(): Promise<{ done: false; value: Uint8Array } | { done: true; value?: Uint8Array | undefined }>
  cancel(): Promise<void>
}

async function* chunksOf(reader: Reader, idleMs: number): AsyncGenerator<Uint8Array> {
  let isStalled = false
  const pace = new Pace(idleMs)
  const timer = setTimeout(() => {
    isStalled = true
    void reader.cancel().catch(() => undefined)
  }, idleMs)
  try {
    for (;;) {
      timer.refresh()
      const sinceMs = performance.now()
      const { done, value } = await reader.read().catch(brokenOff)
      if (isStalled) throw stalled(idleMs)
      if (done) return
      pace.note(value.length, performance.now() - sinceMs)
      yield value
    }
  } finally {
    clearTimeout(timer)
    await reader.cancel().catch(() => undefined)
  }
}

/** How fast an upload comes. Only the time in which it kept us waiting counts, and not what its bytes take us. */
class Pace {
  readonly #spanMs: number
  #bytes = 0
  #waitedMs = 0

  constructor(spanMs: number) {
    this.#spanMs = spanMs
  }

  /** Throws `upload_broken` when a whole span brought too little. */
  note(bytes: number, waitedMs: number): void {
    this.#bytes += bytes
    this.#waitedMs += waitedMs
    if (this.#waitedMs < this.#spanMs) return
    if (this.#bytes < uploadBytesMin) throw tooSlow(this.#bytes, this.#waitedMs)
    this.#bytes = 0
    this.#waitedMs = 0
  }
}

/** A caller who hangs up while sending is no fault of ours. */
function brokenOff(cause: unknown): never {
  if (cause instanceof GatewayError) throw cause
  const message = 'The upload broke off before its end. Send the batch again.'
  throw new GatewayError('upload_broken', message, { cause })
}

function stalled(idleMs: number): GatewayError {
  return new GatewayError(
    'upload_broken',
    `No data arrived for ${idleMs / 1000} seconds. Send the batch again.`,
  )
}

function tooSlow(bytes: number, waitedMs: number): GatewayError {
  return new GatewayError(
    'upload_broken',
    `Only ${bytes} bytes arrived in ${Math.round(waitedMs) / 1000} seconds. Send the batch again over a faster line, or compressed.`,
  )
}

async function* decompressed(
  { reader, chunks }: { reader: Reader; chunks: AsyncGenerator<Uint8Array> },
  decoder: Transform,
): AsyncGenerator<Uint8Array> {
  const feeding = feed(chunks, decoder)
  try {
    for await (const chunk of decoder) yield chunk as Uint8Array
    await feeding
  } catch (thrown) {
    if (thrown instanceof GatewayError) throw thrown
    throw new GatewayError('upload_broken', 'The compressed body is broken or cut off.', { cause: thrown })
  } finally {
    decoder.destroy()
    // A refusal does not wait for what a client, who may be waiting for it, sends next.
    await reader.cancel().catch(() => undefined)
    await feeding.catch(() => undefined)
  }
}

async function feed(chunks: AsyncGenerator<Uint8Array>, decoder: Transform): Promise<void> {
  try {
    for await (const chunk of chunks) {
      if (decoder.destroyed) return
      if (!decoder.write(chunk)) await drained(decoder)
    }
    if (!decoder.destroyed) decoder.end()
  } catch (thrown) {
    decoder.destroy(thrown instanceof Error ? thrown : new Error(String(thrown)))
  }
}

function drained(decoder: Transform): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const done = (): void => {
    decoder.off('drain', done)
    decoder.off('close', done)
    resolve()
  }
  decoder.on('drain', done)
  decoder.on('close', done)
  return promise
}
