import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { FolderBlobStore } from './blobs/folder-blob-store.ts'
import type { FileLayer } from './blobs/file-layer.ts'
import type { Database, StorageFaults, Unit } from './database.ts'
import { openDatabase } from './open-database.ts'
import { openSpools } from './spools.ts'

/** Where a gateway keeps everything, and what tests may put in its way. */
export interface StorageOptions {
  /** Created when it is missing. */
  dataFolder: string
  databaseUrl: string
  /** Called before and after every unit, by name; what it throws, or does to the process, happens at that point. */
  crash?: ((point: string, when: 'before' | 'after') => void) | undefined
  faults?: StorageFaults | undefined
  nowExpression?: string | undefined
  files?: FileLayer | undefined
}

/** Rows, payloads, and a folder of this process's own for uploads that are being read. */
export interface OpenedStorage {
  database: Database
  blobs: FolderBlobStore
  spoolFolder: string
}

/**
 * Opens the database and the folders. Rejects with the system's error, SchemaMismatch, or `storage_unavailable`, and
 * leaves nothing open then.
 */
export async function openStorage(options: StorageOptions): Promise<OpenedStorage> {
  const { dataFolder, crash, faults, nowExpression, files } = options
  mkdirSync(dataFolder, { recursive: true, mode: 0o700 })
  const opened = await openDatabase({
    url: options.databaseUrl,
    ownersFolder: join(dataFolder, 'owners'),
    ...(faults ? { faults } : {}),
    ...(nowExpression === undefined ? {} : { nowExpression }),
    ...(crash ? { onCommit: (unit) => crash(unit.name, 'after') } : {}),
  })
  const database = crash ? crashingBefore(opened, crash) : opened
  try {
    const spoolFolder = await openSpools(dataFolder, database)
    return { database, blobs: openBlobs(dataFolder, files), spoolFolder }
  } catch (error) {
    await database.close()
    throw error
  }
}

/** The payloads of a data folder. */
export function openBlobs(dataFolder: string, files?: FileLayer): FolderBlobStore {
  return new FolderBlobStore(join(dataFolder, 'blobs'), files ? { files } : {})
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
