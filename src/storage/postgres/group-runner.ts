import { GatewayError } from '../../core/errors.ts'
import type { Row, StorageFaults, Unit } from '../database.ts'
import type { PendingUnit } from '../unit-queue.ts'
import type { Pool } from './pool.ts'
import { classify, toCallerError } from './postgres-failures.ts'
import { commitUnits } from './transaction.ts'

/** What `GroupRunner` needs. */
export interface GroupRunnerOptions {
  pool: Pool
  translate: (sql: string) => string
  onCommit: ((unit: Unit) => void) | undefined
  faults: StorageFaults
}

/** Commits groups of units in one transaction; when a unit fails, it commits each in a transaction of its own. */
export class GroupRunner {
  readonly #options: GroupRunnerOptions
  #lastError: string | null = null

  constructor(options: GroupRunnerOptions) {
    this.#options = options
  }

  /** The last storage failure, null after a success. */
  get lastError(): string | null {
    return this.#lastError
  }

  /** Settles every unit of the group; never rejects. */
  async run(group: readonly PendingUnit[]): Promise<void> {
    try {
      const returned = await this.#commit(group)
      for (let index = 0; index < group.length; index++) this.#succeed(group[index], returned[index] ?? [])
    } catch (error) {
      if (group.length === 1 || isForAll(error)) return this.#failAll(group, error)
      // One unit is wrong, or conflicts with another. Alone, only that unit fails.
      for (const pending of group) await this.run([pending])
    }
  }

  async #commit(group: readonly PendingUnit[]): Promise<Row[][][]> {
    const { pool, translate, faults } = this.#options
    if (faults.fsyncDelayMs) await Bun.sleep(faults.fsyncDelayMs)
    return commitUnits(
      pool,
      group.map((pending) => pending.unit),
      translate,
    )
  }

  #succeed(pending: PendingUnit | undefined, rows: Row[][]): void {
    this.#lastError = null
    try {
      if (pending) this.#options.onCommit?.(pending.unit)
      pending?.resolve(rows)
    } catch (error) {
      pending?.reject(error)
    }
  }

  #failAll(group: readonly PendingUnit[], error: unknown): void {
    for (const pending of group) {
      const reason = toCallerError(error, pending.unit.name)
      if (reason instanceof GatewayError) this.#lastError = String(reason.cause)
      pending.reject(reason)
    }
  }
}

/** Whether a failure concerns every unit of the group, or the group may have been committed already. */
function isForAll(error: unknown): boolean {
  return error instanceof GatewayError || classify(error) === 'unavailable'
}
