import { existsSync, mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { FileLock } from './file-lock.ts'

/**
 * Who is alive, as files beside the database: an owner holds the lock on its file as long as its process lives. The file
 * exists before the owner's id is written anywhere, so an owner without a file is gone.
 */
export class OwnerFiles {
  readonly #folder: string
  readonly #ownerId: string
  readonly #lock: FileLock

  /** Takes the owner id. */
  constructor(databasePath: string, ownerId: string) {
    this.#folder = `${databasePath}.owners`
    this.#ownerId = ownerId
    mkdirSync(this.#folder, { recursive: true })
    this.#lock = new FileLock(this.#pathOf(ownerId))
    this.#lock.acquire()
  }

  /** Whether that owner's process is known to be gone. */
  isDead(ownerId: string): boolean {
    if (ownerId === this.#ownerId) return false
    if (!/^[\w-]+$/.test(ownerId) || !existsSync(this.#pathOf(ownerId))) return true
    const lock = new FileLock(this.#pathOf(ownerId))
    try {
      const isFree = lock.tryAcquire()
      // Somebody else may have found the same.
      if (isFree) rmSync(this.#pathOf(ownerId), { force: true })
      return isFree
    } finally {
      lock.close()
    }
  }

  /** Gives the owner id up. */
  close(): void {
    // The folder may have been removed together with the database.
    rmSync(this.#pathOf(this.#ownerId), { force: true })
    this.#lock.close()
  }

  #pathOf(ownerId: string): string {
    return join(this.#folder, `${ownerId}.lock`)
  }
}
