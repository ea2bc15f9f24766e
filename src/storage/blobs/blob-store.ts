/** What `put` wrote. */
export interface BlobWritten {
  bytes: number
  /** Lower-case hex. */
  sha256: string
}

/** Which part of a blob to read; the whole of it by default. */
export interface BlobRange {
  /** First byte, from 0. */
  offset?: number
  /** Bytes at most; the blob may end earlier. */
  length?: number
}

/**
 * Immutable objects by key, such as `segments/…` or `parts/…`: written once, never changed, deleted as a whole. Keys are
 * made of `a-z 0-9 _ . / -`, without empty or dotted-only segments. Failures of the medium are `storage_unavailable`.
 */
export interface BlobStore {
  /**
   * Writes a new object; when it resolves the object survives a power cut. A failed put, also one whose source throws,
   * leaves nothing. A key that exists is refused with `conflict`.
   */
  put(key: string, content: Uint8Array | AsyncIterable<Uint8Array>): Promise<BlobWritten>
  /** The whole object; for small ones. `not_found` when there is none. */
  get(key: string): Promise<Uint8Array>
  /** The bytes as they are asked for; cancelling closes the object. The stream errors with `not_found` when there is none. */
  stream(key: string, range?: BlobRange): ReadableStream<Uint8Array>
  /** Bytes; `not_found` when there is none. */
  size(key: string): Promise<number>
  exists(key: string): Promise<boolean>
  /** Deletes; an object that is not there is fine. */
  delete(key: string): Promise<void>
  /** Keys that start with the prefix, in order, after `after`, at most `limit` (`blobListMax` is the ceiling). */
  list(prefix: string, page?: { after?: string; limit?: number }): Promise<string[]>
}
