import { GatewayError } from '../core/errors.ts'
import type { DialectName } from './dialect.ts'

/**
 * The types of a parameter. Booleans are stored as 0 and 1; JSON is text; times are whole milliseconds. In a text, the
 * character NUL becomes U+FFFD.
 */
export type SqlValue = string | number | bigint | boolean | null | Uint8Array

/** One result row as the drivers and `normaliseRows` return it; repositories give it a type. */
export type Row = Record<string, unknown>

/**
 * One statement in the SQL that both databases understand, with numbered parameters `$1…` and these tokens. `now_ms()`:
 * the database's own clock, whole epoch milliseconds. `{{for_update_skip_locked}}`: empty on SQLite, where a unit has
 * the only write transaction anyway. In migrations also `{{bytes}}` and `{{row_number}}` (column types) and
 * `{{filed_by_day}}` (the end of a table that has a day in its key).
 */
export interface Statement {
  sql: string
  params?: readonly SqlValue[]
  /**
   * Bulk form: `sql` is `insert into t (a, b) values ($1, $2) …`, and each value is a bare parameter or an expression
   * without parameters. It runs once for every row. The text after the values (`on conflict`, `returning`) is kept.
   */
  rows?: readonly (readonly SqlValue[])[]
  /** The number of rows that must be returned (or affected, when none are returned); otherwise the whole unit rolls back. */
  expect?: number
  /** The name of this condition in the `GuardFailed` that the caller catches. */
  guard?: string
}

/**
 * Statements that are committed together or not at all. There are no interactive transactions. Because every statement
 * carries its condition as a guard, a unit can cross a thread, share a transaction with others and be retried.
 */
export interface Unit {
  /** The unit's name for logs and tests: `capture`, `take slice`. */
  name: string
  statements: readonly Statement[]
  /** The number of rows the unit touches, when that is more than its statements show. */
  rowsEstimate?: number
  /** No caller waits for it, so the units of callers go before it, for a moment. */
  isPatient?: boolean
}

/** The database's present state; reading it never waits. */
export interface DatabaseHealth {
  ok: boolean
  /** Units accepted and not yet settled. */
  queueLength: number
  /** The last storage failure, null again after a success; for logs, not for callers. */
  lastError: string | null
}

/** The only way to the database, the same for SQLite and PostgreSQL. */
export interface Database {
  readonly dialect: DialectName
  /**
   * Reads rows; on PostgreSQL from the primary. Read a page, not a whole table. Integers are numbers, except columns
   * ending in `_nanocredits`, which are bigints; an integer beyond 2^53 in another column is an assertion failure.
   * PostgreSQL returns `sum()` of a bigint as numeric, therefore write `cast(sum(x) as bigint)` unless the column is
   * named `…_nanocredits`. Rejects with `storage_unavailable`.
   */
  query<T = Row>(sql: string, params?: readonly SqlValue[]): Promise<T[]>
  /**
   * Like `query`, for reads that may take long, such as a search or a sum for a chart: never on the event loop, and never
   * in the way of other reads. On SQLite they run one after the other on a thread of their own, on PostgreSQL by
   * connections of their own and for `asideWaitMs` at most. Rejects with `storage_unavailable`, also when too many wait.
   */
  queryAside<T = Row>(sql: string, params?: readonly SqlValue[]): Promise<T[]>
  /**
   * Commits one unit durably. Resolves after the commit with the rows that each statement returned, in order. Units that
   * arrive together share a transaction, but each succeeds or fails alone. Rejects with `GuardFailed`, `UniqueViolation` or
   * `storage_unavailable`. After the last one the unit may have been committed nevertheless: `commitOnce` finds out.
   */
  commit(unit: Unit): Promise<Row[][]>
  /**
   * Wakes listeners: on PostgreSQL in every process, on SQLite only in this one (other processes have timers). A signal
   * carries no data and may be lost. Never rejects.
   */
  notify(channel: string): void
  /** Calls `wake` after a `notify` on the channel, and when signals may have been missed. Returns a function that stops it. */
  listen(channel: string, wake: () => void): () => void
  /** This process's owner id, new at every open; other processes can tell whether its process is alive. */
  readonly ownerId: string
  /** Other processes that run on this database now, in words for an operator, such as `process 4711 (owner_…)`. */
  otherOccupants(): Promise<string[]>
  /** True only when that owner is known to be gone, or never existed; false when it is unknown. */
  isOwnerDead(ownerId: string): Promise<boolean>
  /** Whether that owner shows no sign of life now: it is gone, or has lost its connection for a moment. False when it is unknown. */
  isOwnerSilent(ownerId: string): Promise<boolean>
  health(): DatabaseHealth
  /** Finishes the accepted units, gives up the owner id and closes. Do not use the database afterwards. */
  close(): Promise<void>
}

/** A guarded statement touched a wrong number of rows; the unit left no trace. */
export class GuardFailed extends Error {
  readonly guard: string
  readonly unit: string

  constructor(guard: string, unit: string) {
    super(`guard "${guard}" of unit "${unit}" failed`)
    this.name = 'GuardFailed'
    this.guard = guard
    this.unit = unit
  }
}

/** A row with that key exists; the unit left no trace. */
export class UniqueViolation extends Error {
  readonly table: string | null
  /** `<table>_pkey` or `<table>_<columns>_key`, the same on both databases. */
  readonly constraint: string | null

  constructor(table: string | null, constraint: string | null) {
    super(`a row violates ${constraint ?? 'a unique constraint'}`)
    this.name = 'UniqueViolation'
    this.table = table
    this.constraint = constraint
  }
}

/** Why storage was unavailable: the `cause` of the caller's error. For the log only. */
export class StorageFailure extends Error {
  /** The commit may have succeeded: committing again with the same ids tells. */
  readonly uncertain: boolean
  /** The database's own code, such as `SQLITE_FULL`. */
  readonly code: string | null
  /** What an operator checks, where that is not the database. */
  readonly remedy: string | null

  constructor(
    message: string,
    options: { uncertain?: boolean; code?: string | null; remedy?: string | null; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'StorageFailure'
    this.uncertain = options.uncertain ?? false
    this.code = options.code ?? null
    this.remedy = options.remedy ?? null
  }
}

/** The caller's error when the database cannot answer; `cause` has the reason, and whether the outcome is uncertain. */
export function storageUnavailable(cause: StorageFailure): GatewayError {
  return new GatewayError('storage_unavailable', 'Storage is temporarily unavailable. Try again shortly.', {
    cause,
    retryAfterSeconds: 1,
  })
}

/**
 * The schema does not fit this program. Either a newer program wrote it, and starting here could lose data that the
 * newer one relies on; or it is older, and `migrate` was false. The message is one line that tells the operator what to do.
 */
export class SchemaMismatch extends Error {
  /** The database's schema version, 0 when there is none. */
  readonly found: number
  /** The version this program needs. */
  readonly needed: number

  constructor(found: number, needed: number) {
    const remedy =
      found > needed ? 'start a newer version' : 'start a gateway on it, which brings it up to date'
    super(`The database has schema version ${found}, this program needs ${needed}: ${remedy}.`)
    this.name = 'SchemaMismatch'
    this.found = found
    this.needed = needed
  }
}

/**
 * A migration must have the database for itself, and other processes run on it. The message is one line that names them
 * and tells the operator what to do.
 */
export class SchemaOccupied extends Error {
  /** The other processes, in words; empty when the only one has just ended. */
  readonly occupants: readonly string[]

  constructor(occupants: readonly string[]) {
    const who = occupants.length === 0 ? 'a process that ended just now' : occupants.join(', ')
    super(
      `The database has to be brought up to date, and ${who} still runs on it with the schema of before. ` +
        'Stop every gateway and command on this database, then start again.',
    )
    this.name = 'SchemaOccupied'
    this.occupants = occupants
  }
}

/** Faults for tests. */
export interface StorageFaults {
  /** An additional delay of every durable commit. */
  fsyncDelayMs?: number
}

/** How to open a database. */
export interface DatabaseOptions {
  /** `sqlite:/path/file.db` or `postgres://…`. */
  url: string
  /** Bring the schema up to date; default true. When false, opening an older schema fails. */
  migrate?: boolean
  /** SQL in place of `now_ms()`, for tests that move the database's clock. */
  nowExpression?: string
  /** For tests: called when a unit is durable, before its promise resolves; if it throws, the promise rejects with that. */
  onCommit?: (unit: Unit) => void
  faults?: StorageFaults
  /** How long a migration that must have the database for itself waits for other processes to end. */
  migrationWaitMs?: number
  /** Called once when that wait begins, with a line that names those processes. */
  onMigrationWait?: (message: string) => void
  /** PostgreSQL: connections for reads and writes, without the one for signals and the one for the owner id. */
  connectionsMax?: number
  /** PostgreSQL: how long an owner's lock must be free before the owner counts as gone. */
  ownerGraceMs?: number
  /**
   * PostgreSQL: a folder on this machine, shared by the processes with the same data folder. In it the next process finds
   * out that an owner's process has died, without waiting for `ownerGraceMs`.
   */
  ownersFolder?: string
}
