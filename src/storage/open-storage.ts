import { mkdirSync } from 'node:fs'
import { hostname } from 'node:os'
import { join, resolve } from 'node:path'
import { describeBlobStore, joinBlobStore } from './blob-identity.ts'
import { createBlobStoresRepository } from './blob-stores-repository.ts'
import type { BlobStore } from './blobs/blob-store.ts'
import { FolderBlobStore } from './blobs/folder-blob-store.ts'
import type { FileLayer } from './blobs/file-layer.ts'
import { checkWritable } from './blobs/probe.ts'
import { S3BlobStore } from './blobs/s3-blob-store.ts'
import type { S3Send } from './blobs/s3-requests.ts'
import { describeS3, type S3Settings } from './blobs/s3-settings.ts'
import type { Database, StorageFaults, Unit } from './database.ts'
import { openDatabase } from './open-database.ts'
import { RefusalNotes, removeOldRefusalNotes } from './refusal-notes.ts'
import { openSpools } from './spools.ts'

/** An S3-compatible server that has the payloads, and how requests get there. */
export interface BlobServer {
  settings: S3Settings
  send: S3Send
}

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
  /** The server with the payloads; null when they are in the data folder. */
  blobServer?: BlobServer | null | undefined
  /** Called once when a migration waits for other processes to end, with a line that names them. */
  onMigrationWait?: ((message: string) => void) | undefined
}

/** The database, the payloads, and this process's own folder for uploads that are being read. */
export interface OpenedStorage {
  database: Database
  blobs: BlobStore
  spoolFolder: string
  refusalNotes: RefusalNotes
}

/**
 * Opens the database and the folders. Rejects with the system's error, SchemaMismatch, SchemaOccupied,
 * BlobStoreMismatch, or `storage_unavailable`, and leaves nothing open then.
 */
export async function openStorage(options: StorageOptions): Promise<OpenedStorage> {
  const { dataFolder, crash, faults, nowExpression, onMigrationWait } = options
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
    const blobs = openBlobs(options)
    // A folder tells at the first write; a server may let a key read and not write.
    if (options.blobServer) await checkWritable(blobs)
    await joinBlobStore({
      ...identityOf(database, blobs, options),
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

/** What names the home of the payloads. */
export type BlobHome = Pick<StorageOptions, 'dataFolder' | 'files' | 'blobServer'>

/** The payloads, in the data folder or on a server. */
export function openBlobs({ dataFolder, files, blobServer }: BlobHome): BlobStore {
  if (blobServer) return new S3BlobStore(blobServer.settings, { send: blobServer.send })
  return new FolderBlobStore(join(dataFolder, 'blobs'), files ? { files } : {})
}

/** Checks whether the payloads belong to the database: a line for an operator that says what is wrong, or null. */
export function checkBlobStore(database: Database, blobs: BlobStore, home: BlobHome): Promise<string | null> {
  return describeBlobStore(identityOf(database, blobs, home))
}

/** The place of the payloads for an operator. */
export function describeBlobHome({ dataFolder, blobServer }: BlobHome): string {
  return blobServer ? describeS3(blobServer.settings) : `${hostname()}:${resolve(dataFolder, 'blobs')}`
}

function identityOf(database: Database, blobs: BlobStore, home: BlobHome) {
  return {
    stores: createBlobStoresRepository(database),
    blobs,
    location: describeBlobHome(home),
    variable: home.blobServer ? ('BLOB_URL' as const) : ('HEADRACE_DATA' as const),
  }
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
