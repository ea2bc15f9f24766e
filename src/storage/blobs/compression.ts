import { zstdCompressionLevel } from '../../core/limits/storage.ts'

/** Compresses one part with zstd, off the main thread: 4 MB at once would stall it for 24 ms. */
export function compress(content: Uint8Array | string): Promise<Uint8Array> {
  return Bun.zstdCompress(content, { level: zstdCompressionLevel })
}

/** What `compress` was given. Rejects when the content is not zstd. */
export function decompress(content: Uint8Array): Promise<Uint8Array> {
  return Bun.zstdDecompress(content)
}
