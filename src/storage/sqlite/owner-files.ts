import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { FileLock, hasFileLocks, isLockFree } from './file-lock.ts'

const running = '.lock'
const starting = '.starting'

/**
 * Shows that a process is alive: it locks a file beside the database as long as it lives. The file exists before the
 * owner's id is written anywhere, so an owner without a file is gone. Until the process has read the schema, the file has
 * a different ending: a migration need not wait for a process that will read the schema after it.
 */
export class OwnerFiles {
  readonly #folder: string
  readonly #ownerId: string
  readonly #lock: FileLock

  /** Takes the owner id. */
  constructor(databasePath: string, ownerId: string) {
    this.#folder = folderOf(databasePath)
    this.#ownerId = ownerId
    mkdirSync(this.#folder, { recursive: true })
    this.#lock = new FileLock(join(this.#folder, `${ownerId}${starting}`))
    this.#lock.acquire()
  }

  /** Whether that owner's process is known to be gone. */
  isDead(ownerId: string): boolean {
    if (ownerId === this.#ownerId) return false
    if (!/^[\w-]+$/.test(ownerId)) return true
    const path = join(this.#folder, `${ownerId}${running}`)
    const isDead = !existsSync(path) || isLockFree(path)
    // Another process may remove it at the same time.
    if (isDead) rmSync(path, { force: true })
    return isDead
  }

  /** Gives the owner id up. */
  close(): void {
    // The folder may have been removed together with the database.
    for (const ending of [running, starting])
      rmSync(join(this.#folder, `${this.#ownerId}${ending}`), { force: true })
    this.#lock.close()
  }
}

/** Marks the owner as running once it has seen that the schema fits. Call it under the database's file lock. */
export function markRunning(databasePath: string, ownerId: string): void {
  const path = join(folderOf(databasePath), ownerId)
  // When a writer thread starts again, the file has its final name already.
  if (existsSync(`${path}${starting}`)) renameSync(`${path}${starting}`, `${path}${running}`)
}

/** Other processes that run on the database, in words; empty where the system has no such locks. */
export function listOccupants(databasePath: string, ownOwnerId: string): string[] {
  const folder = folderOf(databasePath)
  if (!hasFileLocks() || !existsSync(folder)) return []
  return readdirSync(folder)
    .filter((name) => name.endsWith(running) && name !== `${ownOwnerId}${running}`)
    .filter((name) => !isLockFree(join(folder, name)))
    .map((name) => {
      const processId = holderOf(join(folder, name))
      const ownerId = name.slice(0, -running.length)
      return processId === null ? `the process of ${ownerId}` : `process ${processId} (${ownerId})`
    })
}

function folderOf(databasePath: string): string {
  return `${databasePath}.owners`
}

/** The process that holds the lock on a file, if the system tells (on Linux, and not across containers). */
function holderOf(path: string): number | null {
  try {
    const inode = String(statSync(path).ino)
    for (const line of readFileSync('/proc/locks', 'utf8').split('\n')) {
      const [, type, , , processId, file] = line.trim().split(/\s+/)
      if (type === 'FLOCK' && file?.split(':').at(-1) === inode) return Number(processId) || null
    }
  } catch {
    // This system has no list of locks.
  }
  return null
}
