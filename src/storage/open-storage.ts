import { mkdirSync } from 'node:fs'
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { FolderBlobStore } from './blobs/folder-blob-store.ts'
import type { FileLayer } from './blobs/file-layer.ts'
import type { Database, StorageFaults, Unit } from './database.ts'
import { openDatabase } from './open-database.ts'

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

/** This process's folder for uploads; those of processes that died are removed. */
async function openSpools(dataFolder: string, database: Database): Promise<string> {
  const spools = join(dataFolder, 'spool')
  const spoolFolder = join(spools, database.ownerId)
  mkdirSync(spoolFolder, { recursive: true, mode: 0o700 })
  await removeDeadSpools(spools, database)
  return spoolFolder
}

/** The payloads of a data folder. */
export function openBlobs(dataFolder: string, files?: FileLayer): FolderBlobStore {
  return new FolderBlobStore(join(dataFolder, 'blobs'), files ? { files } : {})
}

/** Audio that processes left behind when they died; each has a folder named after its owner id. */
async function removeDeadSpools(folder: string, database: Database): Promise<void> {
  for (const name of await readdir(folder)) {
    if (name === database.ownerId || !(await database.isOwnerDead(name))) continue
    await rm(join(folder, name), { recursive: true, force: true })
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
