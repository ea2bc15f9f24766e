import { GatewayError } from '../core/errors.ts'

/**
 * What a parameter may be. Booleans are stored as 0 and 1; JSON is text; times are whole milliseconds. In a text the
 * character NUL becomes U+FFFD.
 */
export type SqlValue = string | number | bigint | boolean | null | Uint8Array

/** One result row as the drivers and `normaliseRow` leave it; repositories give it a type. */
export type Row = Record<string, unknown>

/**
 * One statement in the SQL that both databases understand, with numbered parameters `$1…` and these tokens:
 * `now_ms()` (the database's own clock, whole epoch milliseconds), `{{for_update_skip_locked}}` (empty on SQLite, where a
 * unit already has the only write transaction) and, in migrations, `{{bytes}}` and `{{row_number}}` (column types) and
 * `{{filed_by_day}}` (what ends a table with a day in its key).
 */
export interface Statement {
  sql: string
  params?: readonly SqlValue[]
  /**
   * Bulk form: `sql` is `insert into t (a, b) values ($1, $2) …`, each value a bare parameter or an expression without
   * parameters; it is run once for every row. What follows the values (`on conflict`, `returning`) is kept.
   */
  rows?: readonly (readonly SqlValue[])[]
  /** Rows that must be returned (or affected, when none are returned), else the whole unit rolls back. */
  expect?: number
  /** What `expect` protects, for the `GuardFailed` the caller catches. */
  guard?: string
}

/**
 * Statements that become real together or not at all. There are no interactive transactions: everything is a guarded
 * statement, so that a unit can cross a thread, share a transaction with others and be retried.
 */
export interface Unit {
  /** What this is, for logs and tests: `capture`, `take slice`. */
  name: string
  statements: readonly Statement[]
  /** Rows the unit touches, when that is more than the statements show. */
  rowsEstimate?: number
}

/** How the database fares right now; never waits. */
export interface DatabaseHealth {
  ok: boolean
  /** Units accepted and not yet settled. */
  queueLength: number
  /** The last storage failure, null again after a success; for logs, not for callers. */
  lastError: string | null
}

/** The one way to the database, the same for SQLite and PostgreSQL. */
export interface Database {
  readonly dialect: 'sqlite' | 'postgres'
  /**
   * Reads rows, on PostgreSQL from the primary. Never spans a response: a page, not a scan. Integers are numbers, except
   * columns ending in `_nanocredits`, which are bigints; an integer beyond 2^53 elsewhere is an assertion failure.
   * PostgreSQL returns `sum()` of a bigint as numeric, therefore write `cast(sum(x) as bigint)` unless the column is
   * named `…_nanocredits`. Rejects with `storage_unavailable`.
   */
  query<T = Row>(sql: string, params?: readonly SqlValue[]): Promise<T[]>
  /**
   * Commits one unit durably and resolves, after the commit, with the rows each statement returned, in order. Units that
   * arrive together share a transaction; each still stands or falls alone. Rejects with `GuardFailed`,
   * `UniqueViolation`, or `storage_unavailable`, after which the unit may have become real all the same: `commitOnce`
   * says so, and finds out.
   */
  commit(unit: Unit): Promise<Row[][]>
  /**
   * Wakes listeners: on PostgreSQL in every process, on SQLite in this one (others have their timers). Carries no data,
   * may be lost, never rejects.
   */
  notify(channel: string): void
  /** Calls `wake` after a `notify` on the channel, and when signals may have been missed. Returns how to stop. */
  listen(channel: string, wake: () => void): () => void
  /** This process's owner id, new at every open; its liveness is visible to other processes. */
  readonly ownerId: string
  /** Other processes that run on this database now, in words for an operator, such as `process 4711 (owner_…)`. */
  otherOccupants(): Promise<string[]>
  /** True only when that owner is known to be gone (or never was); unknown is false. */
  isOwnerDead(ownerId: string): Promise<boolean>
  /** Whether that owner shows no sign of life right now: gone, or without its connection for a moment. Unknown is false. */
  isOwnerSilent(ownerId: string): Promise<boolean>
  health(): DatabaseHealth
  /** Finishes what was accepted, gives up the owner id and closes. Nothing may be asked afterwards. */
  close(): Promise<void>
}

/** A guarded statement touched another number of rows than it had to; the unit left no trace. */
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

/** Why storage was unavailable; the `cause` of the error the caller sees. For the log only. */
export class StorageFailure extends Error {
  /** The commit may have become real: committing again with the same ids tells. */
  readonly uncertain: boolean
  /** The database's own code, such as `SQLITE_FULL`. */
  readonly code: string | null

  constructor(message: string, options: { uncertain?: boolean; code?: string | null; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'StorageFailure'
    this.uncertain = options.uncertain ?? false
    this.code = options.code ?? null
  }
}

/** The error for a caller of a database that cannot answer; `cause` says why and whether the outcome is uncertain. */
export function storageUnavailable(cause: StorageFailure): GatewayError {
  return new GatewayError('storage_unavailable', 'Storage is temporarily unavailable. Try again shortly.', {
    cause,
    retryAfterSeconds: 1,
  })
}

/**
 * The schema does not fit this program: written by a newer one (starting on it could lose what that one relies on), or
 * older while `migrate` was false. One line that tells the operator what to do.
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
 * The schema has to be changed by a step that must have the database for itself, and other processes run on it. One line
 * that names them and tells the operator what to do.
 */
export class SchemaOccupied extends Error {
  /** The other processes, in words; empty when one has ended just now. */
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
  /** How long every durable commit takes in addition. */
  fsyncDelayMs?: number
}

/** How to open a database. */
export interface DatabaseOptions {
  /** `sqlite:/path/file.db` or `postgres://…`. */
  url: string
  /** Bring the schema up to date; default true. When false, an older schema refuses to open. */
  migrate?: boolean
  /** SQL in place of `now_ms()`, for tests that move the database's clock. */
  nowExpression?: string
  /** For tests: called when a unit is durable, before its promise resolves; what it throws the promise rejects with. */
  onCommit?: (unit: Unit) => void
  faults?: StorageFaults
  /** How long a migration that must have the database for itself waits for other processes to end. */
  migrationWaitMs?: number
  /** Called once when that wait begins, with a line that names those processes. */
  onMigrationWait?: (message: string) => void
  /** PostgreSQL: connections for reads and writes, without the one for signals and the one for the owner id. */
  connectionsMax?: number
  /** PostgreSQL: how long an owner's lock must have been free before the owner counts as gone. */
  ownerGraceMs?: number
  /**
   * PostgreSQL: a folder on this machine, shared by the processes that share a data folder. The next process finds there
   * that an owner's process has died, without waiting for `ownerGraceMs`.
   */
  ownersFolder?: string
}
