import { Database as Sqlite } from 'bun:sqlite'
import type { SQLQueryBindings } from 'bun:sqlite'
import { GatewayError } from '../../src/core/errors.ts'
import type { Database, DatabaseHealth, Row, SqlValue, Statement, Unit } from '../../src/storage/database.ts'
import { GuardFailed, UniqueViolation } from '../../src/storage/database.ts'
import { createTranslator } from '../../src/storage/dialect.ts'
import { createMigrationsTable, listMigrations } from '../../src/storage/migrations.ts'
import { normaliseRows } from '../../src/storage/rows.ts'
import { sqliteDialect } from '../../src/storage/sqlite/sqlite-dialect.ts'

/**
 * The fault of one request to the store: with `lost` it takes effect without an answer, with `refused` it has
 * no effect.
 */
export type Fate = 'ok' | 'refused' | 'lost'

/**
 * One database in memory that several simulated processes share, synchronous inside, with a clock that the simulation
 * sets. Each process has its own connection, which can fail, freeze and die.
 */
export class SimulatedStore {
  readonly #sqlite = new Sqlite(':memory:', { safeIntegers: true })
  readonly #translate = createTranslator(sqliteDialect, '(select now_ms from simulated_clock)')
  readonly dead = new Set<string>()
  /** The process gives no sign of life, and is not yet known to be dead. */
  readonly silent = new Set<string>()
  commits = 0

  constructor(nowMs: number) {
    this.#sqlite.run('pragma foreign_keys = on')
    this.#sqlite.run('create table simulated_clock (now_ms bigint)')
    this.#sqlite.run('insert into simulated_clock values (?)', [nowMs])
    this.#sqlite.run(createMigrationsTable)
    for (const migration of listMigrations()) {
      for (const statement of migration.statements('sqlite')) this.#sqlite.run(this.#translate(statement))
    }
  }

  setClock(nowMs: number): void {
    this.#sqlite.run('update simulated_clock set now_ms = ?', [nowMs])
  }

  query<T = Row>(sql: string, params: readonly SqlValue[] = []): T[] {
    return normaliseRows(this.#all(sql, params)) as T[]
  }

  commit(unit: Unit): Row[][] {
    this.#sqlite.run('begin')
    try {
      const results = unit.statements.map((statement) => this.#run(statement, unit.name))
      this.#sqlite.run('commit')
      this.commits += 1
      return results
    } catch (error) {
      this.#sqlite.run('rollback')
      throw error
    }
  }

  close(): void {
    this.#sqlite.close()
  }

  #run(statement: Statement, unit: string): Row[] {
    const rows: Row[] = []
    let affected = 0
    for (const params of statement.rows ?? [statement.params ?? []]) {
      try {
        if (/\breturning\b/i.test(statement.sql)) rows.push(...this.#all(statement.sql, params))
        else
          affected += this.#sqlite
            .query(this.#translate(statement.sql))
            .run(...(params as SQLQueryBindings[])).changes
      } catch (error) {
        if (error instanceof Error && /UNIQUE/.test(error.message)) throw new UniqueViolation(null, null)
        throw error
      }
    }
    const count = rows.length > 0 ? rows.length : affected
    if (statement.expect !== undefined && statement.expect !== count)
      throw new GuardFailed(statement.guard ?? '', unit)
    return normaliseRows(rows)
  }

  #all(sql: string, params: readonly SqlValue[]): Row[] {
    return this.#sqlite.query(this.#translate(sql)).all(...(params as SQLQueryBindings[])) as Row[]
  }
}

/** One process's connection to the store. */
export class SimulatedDatabase implements Database {
  readonly dialect = 'sqlite'
  readonly ownerId: string
  readonly #store: SimulatedStore
  readonly #fateOf: (unit: Unit | null) => Fate
  /** Pending while the process is frozen; never settles once it is dead. */
  gate: Promise<void> = Promise.resolve()

  constructor(store: SimulatedStore, ownerId: string, fateOf: (unit: Unit | null) => Fate = () => 'ok') {
    this.#store = store
    this.ownerId = ownerId
    this.#fateOf = fateOf
  }

  async query<T = Row>(sql: string, params: readonly SqlValue[] = []): Promise<T[]> {
    await this.gate
    if (this.#fateOf(null) !== 'ok') throw outOfOrder()
    const rows = this.#store.query<T>(sql, params)
    await this.gate
    return rows
  }

  queryAside<T = Row>(sql: string, params?: readonly SqlValue[]): Promise<T[]> {
    return this.query(sql, params)
  }

  async commit(unit: Unit): Promise<Row[][]> {
    await this.gate
    const fate = this.#fateOf(unit)
    if (fate === 'refused') throw outOfOrder()
    const rows = this.#store.commit(unit)
    await this.gate
    if (fate === 'lost') throw outOfOrder()
    return rows
  }

  notify(): void {
    // Signals may be lost; in the simulation all are, so that only the timers remain.
  }

  listen(): () => void {
    return () => undefined
  }

  otherOccupants(): Promise<string[]> {
    return Promise.resolve([])
  }

  async isOwnerDead(ownerId: string): Promise<boolean> {
    await this.gate
    return this.#store.dead.has(ownerId)
  }

  async isOwnerSilent(ownerId: string): Promise<boolean> {
    await this.gate
    return this.#store.dead.has(ownerId) || this.#store.silent.has(ownerId)
  }

  health(): DatabaseHealth {
    return { ok: true, queueLength: 0, lastError: null }
  }

  async close(): Promise<void> {
    this.#store.dead.add(this.ownerId)
  }
}

function outOfOrder(): GatewayError {
  return new GatewayError('storage_unavailable', 'Simulated: storage did not answer.')
}
