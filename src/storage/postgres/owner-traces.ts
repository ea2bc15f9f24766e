import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { ownerTraceKeptMs, ownerTracesMax } from '../../core/limits/storage.ts'
import { FileLock } from '../sqlite/file-lock.ts'

const tracePattern = /^([\w-]+)\.lock$/

/**
 * Who lives on this machine, as files in the data folder that their owners keep locked. The kernel gives a lock back when
 * its process dies, however it dies, so the next process knows at once. Where the folder cannot be written nobody leaves
 * a trace, and deaths are found more slowly.
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

  /** Leaves this owner's trace. */
  leave(): void {
    const path = this.#pathOf(this.#ownerId)
    try {
      mkdirSync(this.#folder, { recursive: true, mode: 0o700 })
      const lock = new FileLock(path)
      this.#lock = lock
      lock.acquire()
      // Only now: a trace without a kernel may be of an owner that has not got its lock yet.
      writeFileSync(path, this.#kernel)
    } catch {
      // A trace that could not be written says nothing to anybody.
    }
  }

  /** Owners whose processes have died on this machine. */
  listDead(): string[] {
    const owners = this.#names().slice(0, ownerTracesMax)
    return owners.filter((ownerId) => this.isDead(ownerId))
  }

  /** Whether that owner is known to have died on this machine; without a trace that can be judged, false. */
  isDead(ownerId: string): boolean {
    if (ownerId === this.#ownerId || !tracePattern.test(`${ownerId}.lock`)) return false
    const path = this.#pathOf(ownerId)
    try {
      // On a folder that machines share, a lock may look free although its owner lives on another one.
      if (readFileSync(path, 'utf8') === this.#kernel) return isFree(path)
      if (statSync(path).mtimeMs < Date.now() - ownerTraceKeptMs && isFree(path)) rmSync(path)
    } catch {
      // Somebody else was faster.
    }
    return false
  }

  /** Removes the traces of the dead, once others can learn of them elsewhere. */
  forget(ownerIds: readonly string[]): void {
    for (const ownerId of ownerIds) rmSync(this.#pathOf(ownerId), { force: true })
  }

  /** Takes this owner's trace away. */
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

function isFree(path: string): boolean {
  const lock = new FileLock(path)
  try {
    return lock.tryAcquire()
  } finally {
    lock.close()
  }
}

/** One start of one machine; where the system does not number its starts, the machine. */
function kernelId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
  } catch {
    return hostname()
  }
}
