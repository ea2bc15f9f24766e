import { type BatchId, newId } from '../../core/ids.ts'
import { giveBack } from '../../core/memory.ts'
import type { fileBlobPrefix } from '../../files/file-store.ts'
import type { BlobStore } from '../../storage/blobs/blob-store.ts'
import type { BatchCommitPoint, CrashHook } from '../batch-commit-points.ts'

/** Effort of zstd: higher levels cost several times the CPU for a few percent of JSON. */
const zstdCompressionLevel = 3

/**
 * The immutable bytes of batches. A key has the batch's id and ends with a time-ordered id, so the key tells when the
 * blob was written and thus an orphan's age. Nothing is ever overwritten.
 */
export interface Payloads {
  /** Writes a segment's items, block by block; each block is compressed already. Durable when resolved. */
  putSegment(batchId: BatchId, blocks: AsyncIterable<Uint8Array>): Promise<{ blob: string; bytes: number }>
  compress(content: Uint8Array): Promise<Uint8Array>
  /** Writes a compressed part. */
  putPart(batchId: BatchId, compressed: Uint8Array): Promise<string>
  /** Writes a merged segment, block by block; each block is compressed already. */
  putMerged(batchId: BatchId, blocks: AsyncIterable<Uint8Array>): Promise<string>
  /** The whole content of a segment or part, decompressed. */
  read(blob: string): Promise<Buffer>
  decompress(compressed: Uint8Array): Promise<Buffer>
  /** One block of a merged segment, decompressed. */
  readBlock(blob: string, offset: number, bytes: number): Promise<Buffer>
  /** Deletes a blob; does nothing when it does not exist. */
  delete(blob: string): Promise<void>
  /** Keys of all blobs of a kind, in order, a page at a time. */
  list(kind: PayloadKind | typeof fileBlobPrefix, after: string | null, limit: number): Promise<string[]>
  /** Removes what writers that died left unfinished, if they began before `beforeMs`. */
  removeUnfinished(beforeMs: number): Promise<unknown>
}

/** Kinds of blobs, by the first part of their keys. */
export const payloadKinds = ['segments', 'parts', 'merged'] as const
/** One of `payloadKinds`. */
export type PayloadKind = (typeof payloadKinds)[number]

/** What `createPayloads` needs; `nowMs` only names blobs. */
export interface PayloadDependencies {
  blobs: BlobStore
  nowMs(): number
  crash: CrashHook | null
}

export function createPayloads({ blobs, nowMs, crash }: PayloadDependencies): Payloads {
  const newKey = (kind: PayloadKind, batchId: BatchId): string => `${kind}/${batchId}/${newId('b', nowMs())}`
  const put = async (
    point: BatchCommitPoint,
    key: string,
    content: Uint8Array | AsyncIterable<Uint8Array>,
  ): Promise<{ blob: string; bytes: number }> => {
    crash?.(point, 'before')
    const { bytes } = await blobs.put(key, content)
    crash?.(point, 'after')
    return { blob: key, bytes }
  }
  return {
    putSegment: (batchId, blocks) => put('blob.segment', newKey('segments', batchId), blocks),
    compress,
    async putPart(batchId, compressed) {
      return (await put('blob.part', newKey('parts', batchId), compressed)).blob
    },
    async putMerged(batchId, blocks) {
      return (await put('blob.merged', newKey('merged', batchId), blocks)).blob
    },
    async read(blob) {
      const compressed = await blobs.get(blob)
      const content = await decompress(compressed)
      giveBack(compressed)
      return toBuffer(content)
    },
    decompress: async (compressed) => toBuffer(await decompress(compressed)),
    async readBlock(blob, offset, bytes) {
      const compressed = await new Response(blobs.stream(blob, { offset, length: bytes })).bytes()
      const content = await decompress(compressed)
      giveBack(compressed)
      return toBuffer(content)
    },
    async delete(blob) {
      crash?.('blob.delete', 'before')
      await blobs.delete(blob)
      crash?.('blob.delete', 'after')
    },
    removeUnfinished: (beforeMs) => blobs.removeUnfinished(beforeMs),
    list: (kind, after, limit) => blobs.list(`${kind}/`, { ...(after === null ? {} : { after }), limit }),
  }
}

/** The batch that a blob belongs to. */
export function batchOfBlob(blob: string): BatchId {
  return blob.split('/')[1] ?? ''
}

/** When a blob was written, Unix milliseconds; from its key. */
export function writtenAtMs(blob: string): number {
  const name = blob.slice(blob.lastIndexOf('/') + 1)
  return Number.parseInt(name.slice('b_'.length, 'b_'.length + 9), 36)
}

function toBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

/** Compresses one part with zstd, off the main thread: 4 MB at once would stall it for 24 ms. */
export function compress(content: Uint8Array | string): Promise<Uint8Array> {
  return Bun.zstdCompress(content, { level: zstdCompressionLevel })
}

/** The content that `compress` was given. Rejects when the bytes are not zstd. */
export function decompress(content: Uint8Array): Promise<Uint8Array> {
  return Bun.zstdDecompress(content)
}
