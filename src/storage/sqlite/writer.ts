import type { Database as Sqlite } from 'bun:sqlite'
import { assert } from '../../core/assert.ts'
import type { Row, SqlValue } from '../database.ts'
import { createTranslator } from '../dialect.ts'
import { normaliseRows } from '../rows.ts'
import { FileLock } from './file-lock.ts'
import { migrateSqlite } from './migrate-sqlite.ts'
import { listOccupants, markRunning } from './owner-files.ts'
import { openWriting } from './open-connection.ts'
import type { WireFailure, WireOutcome, WireStatement, WireUnit, WriterOptions } from './protocol.ts'
import { readBulkInsert, rowsAtOnce, RowsAtOnce } from './rows-at-once.ts'
import { isUnavailable, toWireFailure } from './sqlite-failures.ts'
import { sqliteDialect } from './sqlite-dialect.ts'

/** How long a writer transaction may gather rows, so that other writers get their turn. */
const writerGatherMs = 5

/** A driver's statement. It accepts one array of values, which its types do not say; spreading the array would copy it twice. */
interface Prepared {
  readonly columnNames: readonly string[]
  run(values: readonly SqlValue[]): { changes: number }
  all(values: readonly SqlValue[]): Row[]
  finalize(): void
}

interface PreparedStatement {
  readonly prepared: Prepared
  readonly returnsRows: boolean
  /** The same insert for several rows; null where there is none, undefined until it is needed. */
  many: RowsAtOnce | null | undefined
}

/** A guarded statement touched a wrong number of rows. */
class GuardBroken extends Error {
  readonly statement: number

  constructor(statement: number) {
    super('guard failed')
    this.statement = statement
  }
}

/**
 * The only writer of a process. It blocks, so it runs on a thread of its own, where a slow disk or a wait for another
 * process stalls nothing else. Processes take turns by a file lock, which is fair and wakes the next at once; SQLite's
 * own waiting polls, and a process could starve.
 */
export class Writer {
  readonly #options: WriterOptions
  readonly #lock: FileLock
  readonly #sql = new Map<number, string>()
  readonly #prepared = new Map<number, PreparedStatement>()
  #connection: Sqlite | null = null

  /** Opens the database and brings its schema up to date. Throws what SQLite throws. */
  constructor(options: WriterOptions) {
    this.#options = options
    this.#lock = new FileLock(`${options.path}.lock`)
    this.#lock.acquire()
    try {
      const translate = createTranslator(sqliteDialect, options.nowExpression ?? undefined)
      migrateSqlite(this.#open(), {
        mayMigrate: options.migrate,
        translate,
        listOccupants: () => listOccupants(options.path, options.ownerId),
      })
      // Done under the lock that a migration also takes, so that the migration sees every process that has read the schema.
      markRunning(options.path, options.ownerId)
    } catch (error) {
      this.#discard()
      this.#lock.close()
      throw error
    }
    this.#lock.release()
  }

  /** Adds statements by number. With `reset` it forgets all earlier ones first, so that memory stays bounded. */
  learn(statements: readonly [number, string][], reset: boolean): void {
    if (reset) {
      this.#finalize()
      this.#sql.clear()
    }
    for (const [number, sql] of statements) this.#sql.set(number, sql)
  }

  /** Commits units, in as few transactions as the time bound of one allows; returns each unit's outcome. Never throws. */
  run(units: readonly WireUnit[]): WireOutcome[] {
    const outcomes: WireOutcome[] = []
    while (outcomes.length < units.length) {
      const rest = outcomes.length === 0 ? units : units.slice(outcomes.length)
      this.#lock.acquire()
      try {
        outcomes.push(...this.#runGroup(rest))
      } catch (error) {
        // Storage failed for all units. SQLite recovers from some failures only on a new connection.
        const failure = toWireFailure(error, error instanceof CommitFailed)
        this.#discard()
        outcomes.push(...rest.map(() => failure))
      } finally {
        this.#lock.release()
      }
    }
    return outcomes
  }

  /** Closes the database; the last process that does merges the log into the file. */
  close(): void {
    this.#lock.acquire()
    this.#discard()
    this.#lock.close()
  }

  /** Commits all units together; when a statement fails, again with a savepoint around each unit, so that only that one fails. */
  #runGroup(units: readonly WireUnit[]): WireOutcome[] {
    try {
      return this.#transaction(units, () => false)
    } catch (error) {
      if (error instanceof CommitFailed || isUnavailable(error)) throw error
      return this.#transaction(units, () => true)
    }
  }

  #transaction(units: readonly WireUnit[], isIsolated: (unit: WireUnit) => boolean): WireOutcome[] {
    const connection = this.#open()
    const untilMs = performance.now() + writerGatherMs
    const outcomes: WireOutcome[] = []
    connection.run('begin immediate')
    try {
      for (const unit of units) {
        outcomes.push(isIsolated(unit) ? this.#runIsolated(connection, unit) : this.#runUnit(unit))
        if (performance.now() > untilMs) break
      }
      this.#commit(connection)
    } finally {
      if (connection.inTransaction) connection.run('rollback')
    }
    return outcomes
  }

  #commit(connection: Sqlite): void {
    if (this.#options.faults.fsyncDelayMs) Bun.sleepSync(this.#options.faults.fsyncDelayMs)
    try {
      connection.run('commit')
    } catch (error) {
      throw new CommitFailed(error)
    }
  }

  #runIsolated(connection: Sqlite, unit: WireUnit): WireOutcome {
    connection.run('savepoint unit')
    let outcome: WireOutcome
    try {
      outcome = this.#runUnit(unit)
    } catch (error) {
      if (isUnavailable(error)) throw error
      connection.run('rollback to unit')
      outcome = toFailure(error)
    }
    connection.run('release unit')
    return outcome
  }

  #runUnit(unit: WireUnit): WireOutcome {
    let returned: Row[][] | null = null
    for (let index = 0; index < unit.length; index++) {
      const statement = unit[index]
      assert(statement, 'a statement has a place')
      const { rows, count } = this.#runStatement(statement)
      if (rows) (returned ??= unit.map(() => []))[index] = rows
      if (statement[3] >= 0 && statement[3] !== count) throw new GuardBroken(index)
    }
    return returned
  }

  #runStatement([number, params, bulk]: WireStatement): { rows: Row[] | null; count: number } {
    const statement = this.#prepare(number)
    const { prepared, returnsRows } = statement
    const runs = bulk ?? [params ?? []]
    if (returnsRows) {
      const rows = runs.flatMap((values) => prepared.all(values))
      return { rows: normaliseRows(rows), count: rows.length }
    }
    let { count, done } = this.#runMany(number, statement, runs)
    for (; done < runs.length; done += 1) count += prepared.run(runs[done] ?? []).changes
    return { rows: null, count }
  }

  /** Runs as many of the rows as can be run several at once; the rest is the caller's. */
  #runMany(
    number: number,
    statement: PreparedStatement,
    runs: readonly (readonly SqlValue[])[],
  ): { count: number; done: number } {
    const ran = { count: 0, done: 0 }
    const many = runs.length >= rowsAtOnce ? this.#prepareMany(number, statement) : null
    if (many === null) return ran
    while (ran.done + rowsAtOnce <= runs.length) {
      const changes = many.run(runs, ran.done)
      if (changes === null) break
      ran.count += changes
      ran.done += rowsAtOnce
    }
    return ran
  }

  #prepareMany(number: number, statement: PreparedStatement): RowsAtOnce | null {
    if (statement.many === undefined) {
      const insert = readBulkInsert(this.#sql.get(number) ?? '')
      const prepare = (sql: string): Prepared => this.#open().prepare(sql) as unknown as Prepared
      statement.many = insert && new RowsAtOnce(insert, prepare)
    }
    return statement.many
  }

  #prepare(number: number): PreparedStatement {
    const known = this.#prepared.get(number)
    if (known) return known
    const sql = this.#sql.get(number)
    assert(sql !== undefined, 'a statement is learned before it is used')
    const prepared = this.#open().prepare(sql) as unknown as Prepared
    const returnsRows = prepared.columnNames.length > 0
    const statement: PreparedStatement = { prepared, returnsRows, many: undefined }
    this.#prepared.set(number, statement)
    return statement
  }

  #open(): Sqlite {
    this.#connection ??= openWriting(this.#options.path)
    return this.#connection
  }

  #finalize(): void {
    for (const { prepared, many } of this.#prepared.values()) {
      prepared.finalize()
      many?.finalize()
    }
    this.#prepared.clear()
  }

  #discard(): void {
    this.#finalize()
    this.#connection?.close()
    this.#connection = null
  }
}

/** `commit` itself failed: the log may or may not hold the transaction. */
class CommitFailed extends Error {
  readonly code: unknown

  constructor(cause: unknown) {
    super(cause instanceof Error ? cause.message : String(cause), { cause })
    this.code = typeof cause === 'object' && cause !== null && 'code' in cause ? cause.code : 'SQLITE_IOERR'
  }
}

function toFailure(error: unknown): WireFailure {
  if (error instanceof GuardBroken) return { kind: 'guard', statement: error.statement }
  return toWireFailure(error, false)
}
