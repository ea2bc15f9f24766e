import { mkdirSync } from 'node:fs'
import { hostname } from 'node:os'
import { join, resolve } from 'node:path'
import { describeBlobStore, joinBlobStore } from './blob-identity.ts'
import { createBlobStoresRepository } from './blob-stores-repository.ts'
import { FolderBlobStore } from './blobs/folder-blob-store.ts'
import type { FileLayer } from './blobs/file-layer.ts'
import type { Database, StorageFaults, Unit } from './database.ts'
import { openDatabase } from './open-database.ts'
import { RefusalNotes, removeOldRefusalNotes } from './refusal-notes.ts'
import { openSpools } from './spools.ts'

/** The places where a gateway stores its data, and hooks for tests. */
export interface StorageOptions {
  /** Created when it is missing. */
  dataFolder: string
  databaseUrl: string
  /** Called by name before and after every unit. If it throws or ends the process, that happens at that point. */
  crash?: ((point: string, when: 'before' | 'after') => void) | undefined
  faults?: StorageFaults | undefined
  nowExpression?: string | undefined
  files?: FileLayer | undefined
  /** Called once when a migration waits for other processes to end, with a line that names them. */
  onMigrationWait?: ((message: string) => void) | undefined
}

/** The database, the payloads, and this process's own folder for uploads that are being read. */
export interface OpenedStorage {
  database: Database
  blobs: FolderBlobStore
  spoolFolder: string
  refusalNotes: RefusalNotes
}

/**
 * Opens the database and the folders. Rejects with the system's error, SchemaMismatch, SchemaOccupied,
 * BlobStoreMismatch, or `storage_unavailable`, and leaves nothing open then.
 */
export async function openStorage(options: StorageOptions): Promise<OpenedStorage> {
  const { dataFolder, crash, faults, nowExpression, files, onMigrationWait } = options
  mkdirSync(dataFolder, { recursive: true, mode: 0o700 })
  const opened = await openDatabase({
    url: options.databaseUrl,
    ownersFolder: join(dataFolder, 'owners'),
    ...(faults ? { faults } : {}),
    ...(onMigrationWait ? { onMigrationWait } : {}),
    ...(nowExpression === undefined ? {} : { nowExpression }),
    ...(crash ? { onCommit: (unit) => crash(unit.name, 'after') } : {}),
  })
  const database = crash ? crashingBefore(opened, crash) : opened
  try {
    const blobs = openBlobs(dataFolder, files)
    await joinBlobStore({
      ...identityOf(database, blobs, dataFolder),
      otherOccupants: () => database.otherOccupants(),
    })
    const spoolFolder = await openSpools(dataFolder, database)
    await removeOldRefusalNotes(dataFolder)
    const refusalNotes = new RefusalNotes(dataFolder, database.ownerId)
    return { database, blobs, spoolFolder, refusalNotes }
  } catch (error) {
    await database.close()
    throw error
  }
}

/** The payloads of a data folder. */
export function openBlobs(dataFolder: string, files?: FileLayer): FolderBlobStore {
  return new FolderBlobStore(join(dataFolder, 'blobs'), files ? { files } : {})
}

/** Checks whether a data folder's payloads belong to the database: a line for an operator that says what is wrong, or null. */
export function checkBlobStore(
  database: Database,
  blobs: FolderBlobStore,
  dataFolder: string,
): Promise<string | null> {
  return describeBlobStore(identityOf(database, blobs, dataFolder))
}

function identityOf(database: Database, blobs: FolderBlobStore, dataFolder: string) {
  const location = `${hostname()}:${resolve(dataFolder, 'blobs')}`
  return { stores: createBlobStoresRepository(database), blobs, location }
}

function crashingBefore(database: Database, crash: NonNullable<StorageOptions['crash']>): Database {
  return new Proxy(database, {
    get(target, name) {
      if (name === 'commit') {
        return (unit: Unit) => {
          crash(unit.name, 'before')
          return target.commit(unit)
        }
      }
      const member: unknown = Reflect.get(target, name, target)
      return typeof member === 'function' ? (member.bind(target) as unknown) : member
    },
  })
}
