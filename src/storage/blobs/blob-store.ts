import { GatewayError } from '../../core/errors.ts'

/** What `put` wrote. */
export interface BlobWritten {
  bytes: number
  /** Lower-case hex. */
  sha256: string
}

/** The part of a blob to read; the whole blob by default. */
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
   * Writes a new object; when it resolves, the object survives a power cut. Nobody sees a part of it. A failed put leaves
   * nothing, also when `content` throws, except where a server's answer was lost: then the object may be there, whole. An
   * existing key is refused with `conflict`.
   */
  put(key: string, content: Uint8Array | AsyncIterable<Uint8Array>): Promise<BlobWritten>
  /** The whole object; for small ones. `not_found` when there is none. */
  get(key: string): Promise<Uint8Array>
  /** The bytes, read as the reader takes them; cancelling closes the object. The stream errors with `not_found` when there is none. */
  stream(key: string, range?: BlobRange): ReadableStream<Uint8Array>
  /** The size in bytes; `not_found` when there is none. */
  size(key: string): Promise<number>
  exists(key: string): Promise<boolean>
  /** Deletes an object; does nothing when it does not exist. */
  delete(key: string): Promise<void>
  /** Keys that start with the prefix, in order, after `after`, at most `limit` (`blobListMax` is the ceiling). */
  list(prefix: string, page?: { after?: string; limit?: number }): Promise<string[]>
  /**
   * Removes what puts of dead processes left unfinished that were begun before `beforeMs` (epoch). A put that is still
   * running would fail, so pass a time at least a day ago. Returns how many were removed.
   */
  removeUnfinished(beforeMs: number): Promise<number>
}

/** The error of a read of an object that is not there. */
export function absent(): GatewayError {
  return new GatewayError('not_found', 'The stored object does not exist.')
}

/** The error of a put whose key is in use. */
export function taken(): GatewayError {
  return new GatewayError('conflict', 'An object with this name is already stored.')
}
