import type { StoredFile, UploadPurpose } from '../canonical/file.ts'
import { fileIdPrefix } from '../canonical/file.ts'
import type { Principal } from '../canonical/principal.ts'
import { assert } from '../core/assert.ts'
import type { Clock } from '../core/clock.ts'
import { GatewayError } from '../core/errors.ts'
import { newId } from '../core/ids.ts'
import { filesPageMax } from '../core/limits/files.ts'
import type { BlobStore } from '../storage/blobs/blob-store.ts'
import { type Database, GuardFailed } from '../storage/database.ts'
import { fileCommitPoints } from './file-commit-points.ts'
import {
  createFileRepository,
  deleteFile,
  type FileQuery,
  type FileRepository,
  filesQuotaGuard,
  insertFile,
  toFile,
} from './file-repository.ts'

/** Bytes of one uploaded file. */
const fileBytesMax = 536_870_912
/** Bytes of all files of one organization. */
export const organizationFilesBytesMax = 53_687_091_200

/** Blobs of files that have no row yet, or none any more, are looked for below this. */
export const fileBlobPrefix = 'files'

/** What the caller says of an upload. */
export interface FileFacts {
  purpose: UploadPurpose
  name: string
  mediaType: string
  lifeMs: number | null
}

/** Bytes that were stored for a file that does not exist yet. */
export interface StoredBytes {
  blob: string
  bytes: number
}

/** The files of organizations. Another organization's file is `not_found`, like an unknown one. */
export interface Files {
  /** Stores bytes as they arrive; they are no file before `create`. Throws `payload_too_large`; then nothing is left. */
  store(content: AsyncIterable<Uint8Array>): Promise<StoredBytes>
  /** Frees bytes that became no file. Never rejects: what is left is an orphan, which is removed later. */
  discard(stored: StoredBytes): Promise<void>
  /** Makes a file of durable bytes. Throws `payload_too_large` when the organization has too much. */
  create(principal: Principal, stored: StoredBytes, facts: FileFacts): Promise<StoredFile>
  load(principal: Principal, id: string): Promise<StoredFile>
  list(principal: Principal, query: ListFiles): Promise<{ files: StoredFile[]; hasMore: boolean }>
  /** The bytes of an upload. */
  open(file: StoredFile): ReadableStream<Uint8Array>
  /** Forgets the file and frees its bytes. */
  delete(principal: Principal, id: string): Promise<StoredFile>
  /** Removes some files that have expired; resolves with how many. */
  removeExpired(limit: number): Promise<number>
  isReferenced: FileRepository['isReferenced']
}

/** A page of files. */
export type ListFiles = Pick<FileQuery, 'purpose' | 'order' | 'limit'> & { after: string | null }

/** What files need. */
export interface FilesDependencies {
  database: Database
  blobs: BlobStore
  clock: Clock
}

export function createFiles({ database, blobs, clock }: FilesDependencies): Files {
  const repository = createFileRepository(database)
  const load = async ({ organizationId }: Principal, id: string): Promise<StoredFile> => {
    const file = await repository.load(id, organizationId)
    if (file === null) throw new GatewayError('not_found', `No such File object: ${id.slice(0, 64)}`)
    return file
  }
  /** The row goes first: bytes without a file are removed later, a file without bytes would never be. */
  const remove = async ({ id, blob }: StoredFile): Promise<void> => {
    await database.commit({ name: fileCommitPoints.delete, statements: [deleteFile(id)] })
    if (blob !== null) await blobs.delete(blob).catch(() => undefined)
  }
  return {
    async store(content) {
      const blob = `${fileBlobPrefix}/${newId('f', clock.nowMs())}/${newId('b', clock.nowMs())}`
      const { bytes } = await blobs.put(blob, bounded(content))
      return { blob, bytes }
    },
    discard: ({ blob }) => blobs.delete(blob).catch(() => undefined),
    async create({ organizationId }, { blob, bytes }, facts) {
      const file = { id: newId(fileIdPrefix, clock.nowMs()), organizationId, blob, bytes, ...facts }
      try {
        const statements = [insertFile(file, organizationFilesBytesMax)]
        const [[row] = []] = await database.commit({ name: fileCommitPoints.create, statements })
        assert(row, 'a stored file has its row')
        return toFile(row)
      } catch (thrown) {
        if (!(thrown instanceof GuardFailed) || thrown.guard !== filesQuotaGuard) throw thrown
        await blobs.delete(blob).catch(() => undefined)
        throw tooMany()
      }
    },
    load,
    async list(principal, { after, ...query }) {
      const limit = Math.min(query.limit, filesPageMax)
      const place = after === null ? null : await load(principal, after)
      const { organizationId } = principal
      const found = await repository.list({ ...query, organizationId, after: place, limit: limit + 1 })
      return { files: found.slice(0, limit), hasMore: found.length > limit }
    },
    open({ blob }) {
      assert(blob !== null, 'results of a batch are read from the batch')
      return blobs.stream(blob)
    },
    async delete(principal, id) {
      const file = await load(principal, id)
      await remove(file)
      return file
    },
    async removeExpired(limit) {
      const expired = await repository.listExpired(limit)
      for (const file of expired) await remove(file)
      return expired.length
    },
    isReferenced: (blob) => repository.isReferenced(blob),
  }
}

async function* bounded(content: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let bytes = 0
  for await (const piece of content) {
    bytes += piece.byteLength
    if (bytes > fileBytesMax)
      throw new GatewayError('payload_too_large', `The file is larger than ${fileBytesMax} bytes; send less.`)
    yield piece
  }
}

function tooMany(): GatewayError {
  return new GatewayError(
    'payload_too_large',
    `The files of this organization would be larger than ${organizationFilesBytesMax} bytes together. Delete files that are not needed any more.`,
  )
}
