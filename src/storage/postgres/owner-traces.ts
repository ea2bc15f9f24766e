import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'

/** Owner files that one look reads, and how long a file that proves nothing here is kept. */
const ownerTracesMax = 1_000
export const ownerTraceKeptMs = 86_400_000
import { FileLock, isLockFree } from '../sqlite/file-lock.ts'

const tracePattern = /^([\w-]+)\.lock$/

/**
 * Shows which processes on this machine are alive: each keeps a file in the data folder locked. The kernel frees a lock
 * when its process dies, in whatever way, so the next process knows at once. In a folder that cannot be written there are
 * no such files, and deaths are noticed later.
 */
export class OwnerTraces {
  readonly #folder: string
  readonly #ownerId: string
  readonly #kernel: string
  #lock: FileLock | null = null

  /** `kernel` is for tests. */
  constructor(options: { folder: string; ownerId: string; kernel?: string }) {
    this.#folder = options.folder
    this.#ownerId = options.ownerId
    this.#kernel = options.kernel ?? kernelId()
  }

  /** Creates this owner's file. */
  leave(): void {
    const path = this.#pathOf(this.#ownerId)
    try {
      mkdirSync(this.#folder, { recursive: true, mode: 0o700 })
      const lock = new FileLock(path)
      this.#lock = lock
      lock.acquire()
      // Written after the lock was taken: a file without a kernel id may be of an owner that does not have its lock yet.
      writeFileSync(path, this.#kernel)
    } catch {
      // Without the file other processes notice this owner's death later.
    }
  }

  /** Owners whose processes have died on this machine. */
  listDead(): string[] {
    const owners = this.#names().slice(0, ownerTracesMax)
    return owners.filter((ownerId) => this.isDead(ownerId))
  }

  /** Whether that owner is known to have died on this machine; false without a usable file. */
  isDead(ownerId: string): boolean {
    if (ownerId === this.#ownerId || !tracePattern.test(`${ownerId}.lock`)) return false
    const path = this.#pathOf(ownerId)
    try {
      // In a folder shared between machines a lock may look free although its owner lives on a different machine.
      if (readFileSync(path, 'utf8') === this.#kernel) return isLockFree(path)
      if (statSync(path).mtimeMs < Date.now() - ownerTraceKeptMs && isLockFree(path)) rmSync(path)
    } catch {
      // Another process has removed the file meanwhile.
    }
    return false
  }

  /** Removes the files of dead owners, once the database has them as dead. */
  forget(ownerIds: readonly string[]): void {
    for (const ownerId of ownerIds) rmSync(this.#pathOf(ownerId), { force: true })
  }

  /** Removes this owner's file. */
  close(): void {
    if (this.#lock === null) return
    rmSync(this.#pathOf(this.#ownerId), { force: true })
    this.#lock.close()
    this.#lock = null
  }

  #names(): string[] {
    try {
      return readdirSync(this.#folder).flatMap((name) => tracePattern.exec(name)?.[1] ?? [])
    } catch {
      return []
    }
  }

  #pathOf(ownerId: string): string {
    return join(this.#folder, `${ownerId}.lock`)
  }
}

/** Identifies one boot of one machine; only the machine where the system has no id for its boots. */
function kernelId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
  } catch {
    return hostname()
  }
}
