import { postgresConnectMs } from '../../core/limits/storage.ts'
import { Pool } from './pool.ts'

/** Pause before a lost owner's lock is taken again; far below the grace that others give it. */
export const postgresOwnerPauseMs = 250

const lockOwner = 'select pg_advisory_lock(hashtextextended($1, 0))'
const unlockOwner = 'select pg_advisory_unlock(hashtextextended($1, 0))'
const isOwnerFree = `select pg_try_advisory_xact_lock_shared(hashtextextended($1, 0)) as is_free,
  exists (select 1 from dead_owners where owner_id = $1) as is_marked,
  pg_try_advisory_xact_lock_shared(hashtextextended($2, 0)) as is_own_free`

/** What the server says of an owner, and whether the lock of the process that asks is free, too. */
interface Answer {
  is_free: boolean
  is_marked: boolean
  is_own_free: boolean
}

/**
 * Shows that a process is alive: its session holds a lock as long as it lives. A lost connection is not a death, because
 * the owner takes the lock again. Other processes count an owner as dead only when its lock has been free for a while, or
 * when a process on the owner's machine saw that its process is gone and marked it as dead.
 */
export class OwnerLock {
  readonly #ownerId: string
  readonly #graceMs: number
  readonly #session: Pool
  /**
   * Since when others' locks have been seen free. Forgotten when this process has lost its own lock, even before it sees its
   * connection end: the same outage may have ended the sessions of all processes.
   */
  readonly #freeSinceMs = new Map<string, number>()
  #isClosed = false
  #isRetaking = false

  constructor(options: { url: string; ownerId: string; graceMs: number }) {
    this.#ownerId = options.ownerId
    this.#graceMs = options.graceMs
    this.#session = new Pool({
      url: options.url,
      connectionsMax: 1,
      patienceMs: postgresConnectMs,
      onClose: () => this.#retake(),
    })
  }

  /** Takes the lock of the owner id, before the id is written anywhere. */
  async take(): Promise<void> {
    await this.#session.use(async (sql) => {
      await sql.unsafe(lockOwner, [this.#ownerId])
    })
  }

  /** Whether that owner's lock is free now; asks on the given pool. */
  async isSilent(ownerId: string, pool: Pool): Promise<boolean> {
    if (ownerId === this.#ownerId) return false
    return (await this.#ask(ownerId, pool)).is_free
  }

  /** Whether that owner is known to be gone; asks on the given pool. */
  async isDead(ownerId: string, pool: Pool): Promise<boolean> {
    if (ownerId === this.#ownerId) return false
    const { is_free: isSilent, is_marked: isMarked, is_own_free: isCutOff } = await this.#ask(ownerId, pool)
    if (isMarked) return true
    if (isCutOff) this.#freeSinceMs.clear()
    const nowMs = performance.now()
    if (!isSilent) {
      this.#freeSinceMs.delete(ownerId)
      return false
    }
    const sinceMs = this.#freeSinceMs.get(ownerId) ?? nowMs
    this.#remember(ownerId, sinceMs)
    return nowMs - sinceMs >= this.#graceMs
  }

  /** Whether the owner's lock is free, whether another process has marked the owner as dead, and whether our own lock is free. */
  async #ask(ownerId: string, pool: Pool): Promise<Answer> {
    const rows = await pool.use<Answer[]>((sql) => sql.unsafe(isOwnerFree, [ownerId, this.#ownerId]))
    return rows[0] ?? { is_free: false, is_marked: false, is_own_free: false }
  }

  async close(): Promise<void> {
    this.#isClosed = true
    // Closing the connection alone would free the lock only when the server notices.
    await this.giveBack()
    await this.#session.close()
  }

  /** Gives the owner id's lock back; it can be taken again. */
  async giveBack(): Promise<void> {
    await this.#session.use<unknown>((sql) => sql.unsafe(unlockOwner, [this.#ownerId])).catch(() => undefined)
  }

  /** One try at a time: a failed try closes its connection too, which would start another. */
  #retake(): void {
    this.#freeSinceMs.clear()
    if (this.#isClosed || this.#isRetaking) return
    this.#isRetaking = true
    setTimeout(() => void this.#takeAgain(), postgresOwnerPauseMs)
  }

  async #takeAgain(): Promise<void> {
    const isTaken = this.#isClosed || (await succeeds(this.take()))
    this.#isRetaking = false
    if (!isTaken) this.#retake()
  }

  #remember(ownerId: string, sinceMs: number): void {
    // The map would grow with every owner that ever was. Clearing it only delays the next answers.
    if (this.#freeSinceMs.size >= ownersRememberedMax) this.#freeSinceMs.clear()
    this.#freeSinceMs.set(ownerId, sinceMs)
  }
}

function succeeds(work: Promise<void>): Promise<boolean> {
  return work.then(
    () => true,
    () => false,
  )
}

const ownersRememberedMax = 1_000
