import type { Database as Sqlite, SQLQueryBindings, Statement as Prepared } from 'bun:sqlite'
import { statementCacheMax } from '../../core/limits/storage.ts'
import { StorageFailure, storageUnavailable } from '../database.ts'
import type { Row, SqlValue } from '../database.ts'
import { normaliseRows } from '../rows.ts'
import { openReading } from './open-connection.ts'
import { isBusy, isUnavailable } from './sqlite-failures.ts'
import { codeOf } from '../../core/error-code.ts'
import { toBinding } from './wire-text.ts'

/** Times a read is tried again when another process has the database for a moment, and the pause between. */
const readTriesMax = 20
const readPauseMs = 5

/** Point reads and pages on the main thread: each takes microseconds and sees every commit that has resolved. */
export class SqliteReader {
  readonly #path: string
  readonly #prepared = new Map<string, Prepared<Row, SQLQueryBindings[]>>()
  #connection: Sqlite | null = null

  constructor(path: string) {
    this.#path = path
  }

  /** Runs one query in SQLite's own SQL. */
  async query(sql: string, params: readonly SqlValue[]): Promise<Row[]> {
    const values = params.map(toBinding)
    for (let tries = 1; ; tries++) {
      try {
        return normaliseRows(this.#prepare(sql).all(...values))
      } catch (error) {
        if (!isUnavailable(error)) throw error
        // Another process recovers or closes the log. That takes a moment, and waiting for it must not block the event loop.
        if (!isBusy(error) || tries >= readTriesMax) throw this.#fail(error)
        await Bun.sleep(readPauseMs)
      }
    }
  }

  close(): void {
    for (const prepared of this.#prepared.values()) prepared.finalize()
    this.#prepared.clear()
    this.#connection?.close()
    this.#connection = null
  }

  #prepare(sql: string): Prepared<Row, SQLQueryBindings[]> {
    const known = this.#prepared.get(sql)
    if (known) return known
    if (this.#prepared.size >= statementCacheMax) this.close()
    this.#connection ??= openReading(this.#path)
    const prepared = this.#connection.prepare<Row, SQLQueryBindings[]>(sql)
    this.#prepared.set(sql, prepared)
    return prepared
  }

  #fail(error: unknown): Error {
    this.close()
    const message = error instanceof Error ? error.message : String(error)
    return storageUnavailable(new StorageFailure(message, { code: codeOf(error), cause: error }))
  }
}
