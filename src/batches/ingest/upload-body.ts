import type { Transform } from 'node:stream'
import {
  constants,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  createZstdDecompress,
} from 'node:zlib'
import { GatewayError } from '../../core/errors.ts'
import { batchBodyBytesMax } from '../../core/limits/batches.ts'

/** Bytes of a batch body that are scanned in one go before others get their turn on the event loop. */
export const ingestSliceBytes = 262_144
/** Decompression window of an upload, as a power of two: what RFC 9659 lets a sender of zstd expect. */
const uploadWindowLog = 23
/** Silence after which the upload of a batch is given up; it occupies one of `ingestsMax` places. */
const uploadIdleMs = 60_000
/** Bytes that come at least in so long a time of waiting for them: the pace of a modem. */
const uploadBytesMin = 500_000
import { giveBack } from '../../core/memory.ts'

/** A body as it arrives. */
export interface Upload {
  /** Its chunks' memory is freed as soon as they are read. */
  body: ReadableStream<Uint8Array>
  /** The header's value; null when there was none. */
  contentEncoding: string | null
  /**
   * An upload occupies one of few places. It is given up after this long without a byte, and also when it brings fewer than
   * `uploadBytesMin` in this much time of waiting for it; `uploadIdleMs` by default.
   */
  idleMs?: number
}

const decoders: Record<string, () => Transform> = {
  gzip: () => createGunzip({ chunkSize: ingestSliceBytes }),
  deflate: () => createInflate({ chunkSize: ingestSliceBytes }),
  br: () => createBrotliDecompress({ chunkSize: ingestSliceBytes }),
  // The window is bounded, because a sender that asks for a larger one uses this process's memory.
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
 * The body, decompressed, in slices small enough to scan without stalling other work. A slice is valid until the next
 * one is requested. Throws `payload_too_large` at the first byte too many, and `upload_broken` when the upload or its
 * compression is broken. Leaving the loop early cancels the body; the server goes on to read and discard what the client
 * still sends, so that the client can read the answer.
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

/** Hashes a repeated body, to compare it with the first one; refuses what `readUpload` refuses. */
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

/** The part that readers of all kinds of streams have in common. */
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

/** An upload's speed. Counts only the time spent waiting for its bytes, not the time spent on them here. */
class Pace {
  readonly #spanMs: number
  #bytes = 0
  #waitedMs = 0

  constructor(spanMs: number) {
    this.#spanMs = spanMs
  }

  /** Throws `upload_broken` when too few bytes came in a whole span. */
  note(bytes: number, waitedMs: number): void {
    this.#bytes += bytes
    this.#waitedMs += waitedMs
    if (this.#waitedMs < this.#spanMs) return
    if (this.#bytes < uploadBytesMin) throw tooSlow(this.#bytes, this.#waitedMs)
    this.#bytes = 0
    this.#waitedMs = 0
  }
}

/** A caller that hangs up while sending is no error of the gateway. */
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
    // The refusal is sent at once: a client may wait for the answer before it sends more.
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
