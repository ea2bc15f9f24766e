import { GatewayError } from '../../core/errors.ts'
import { newId } from '../../core/ids.ts'
import { commitWaitMs, writerRowsMax, writerSpacingMs } from '../../core/limits/storage.ts'
import {
  type Database,
  type DatabaseHealth,
  type DatabaseOptions,
  type Row,
  type SqlValue,
  StorageFailure,
  storageUnavailable,
  type Unit,
} from '../database.ts'
import { createTranslator } from '../dialect.ts'
import { untilUnoccupied } from '../migration-wait.ts'
import { normaliseRows } from '../rows.ts'
import { Signals } from '../signals.ts'
import { UnitQueue } from '../unit-queue.ts'
import { createOccupiedCheck, listOccupants } from './advisory-locks.ts'
import { GroupRunner } from './group-runner.ts'
import { migratePostgres, requireSchema } from './migrate-postgres.ts'
import { OwnerLock } from './owner-lock.ts'
import { OwnerTraces } from './owner-traces.ts'
import { createDayPartitions } from './partitions.ts'
import { Pool } from './pool.ts'
import { toCallerError } from './postgres-failures.ts'
import { SignalConnection } from './signal-connection.ts'
import { toParams } from './transaction.ts'
import { postgresDialect } from './postgres-dialect.ts'

/** How long a read aside may take on the server, and its connections for them. */
const asideWaitMs = 10_000
const asideConnectionsMax = 2

/** How often PostgreSQL's partitions are checked. */
const partitionEveryMs = 3_600_000

/** How long a read may take on a database across the network before its connection is given up. */
const readWaitMs = 10_000

/** Connections of one process to PostgreSQL for reads and writes; a server usually allows a hundred in all. */
const postgresConnectionsMax = 8

/** How long an owner's lock on PostgreSQL must have been free: a live owner takes a lost lock again well within. */
const postgresOwnerGraceMs = 5_000

/** How long PostgreSQL keeps an owner's mark as dead; a process that asks later waits for `postgresOwnerGraceMs`. */
export const deadOwnerKeptMs = 3_600_000

/** Connects to a PostgreSQL server. */
export async function openPostgres(options: DatabaseOptions): Promise<Database> {
  const database = new PostgresDatabase(options)
  try {
    await database.open(options)
    return database
  } catch (error) {
    await database.close()
    throw toCallerError(error, 'open')
  }
}

class PostgresDatabase implements Database {
  readonly dialect = 'postgres'
  readonly ownerId = newId('owner', Date.now())
  readonly #translate: (sql: string) => string
  readonly #signals = new Signals()
  readonly #signalConnection: SignalConnection
  readonly #owner: OwnerLock
  readonly #traces: OwnerTraces | null
  // A pool of its own, so that writes that wait for each other's rows cannot use up the connections for reads.
  readonly #reads: Pool
  readonly #writes: Pool
  readonly #aside: Pool
  readonly #runner: GroupRunner
  readonly #grouped: UnitQueue
  readonly #guarded: UnitQueue
  #partitionTimer: Timer | null = null
  /** Why the last read did not reach the server; null after a read that did. */
  #readFailure: string | null = null
  #isLookingAgain = false
  #isClosed = false

  constructor(options: DatabaseOptions) {
    const { url, connectionsMax = postgresConnectionsMax } = options
    const writesMax = Math.max(2, Math.floor(connectionsMax / 2))
    this.#translate = createTranslator(postgresDialect, options.nowExpression)
    this.#signalConnection = new SignalConnection(url, this.#signals)
    this.#owner = new OwnerLock({
      url,
      ownerId: this.ownerId,
      graceMs: options.ownerGraceMs ?? postgresOwnerGraceMs,
    })
    const { ownersFolder: folder } = options
    this.#traces = folder === undefined ? null : new OwnerTraces({ folder, ownerId: this.ownerId })
    this.#reads = new Pool({
      url,
      connectionsMax: Math.max(1, connectionsMax - writesMax),
      patienceMs: readWaitMs,
    })
    this.#writes = new Pool({ url, connectionsMax: writesMax, patienceMs: commitWaitMs })
    this.#aside = new Pool({
      url,
      connectionsMax: asideConnectionsMax,
      patienceMs: asideWaitMs + readWaitMs,
      statementMs: asideWaitMs,
      isModest: true,
    })
    this.#runner = new GroupRunner({
      pool: this.#writes,
      translate: this.#translate,
      onCommit: options.onCommit,
      faults: options.faults ?? {},
    })
    const run = this.#runner.run.bind(this.#runner)
    this.#grouped = new UnitQueue({
      run,
      groupsMax: Math.ceil(writesMax / 2),
      rowsMax: writerRowsMax,
      spacingMs: writerSpacingMs,
    })
    // A failed guard undoes its whole transaction, therefore guarded units never share one.
    this.#guarded = new UnitQueue({ run, groupsMax: Math.floor(writesMax / 2), rowsMax: 0, spacingMs: 0 })
  }

  async open(options: DatabaseOptions): Promise<void> {
    const mayMigrate = options.migrate ?? true
    const graceMs = options.ownerGraceMs ?? postgresOwnerGraceMs
    const refuseOccupied = createOccupiedCheck(this.ownerId, graceMs)
    const migration = {
      url: options.url,
      pool: this.#writes,
      mayMigrate,
      translate: this.#translate,
      refuseOccupied,
    }
    await untilUnoccupied(async () => {
      await migratePostgres(migration)
      await this.#owner.take()
      // A migration that has begun meanwhile either saw the owner id and waits, or is over; then this read sees its result.
      await requireSchema(this.#writes, mayMigrate).catch(async (error: unknown) => {
        await this.#owner.giveBack()
        throw error
      })
    }, options)
    if (mayMigrate) await this.#keepPartitions()
    await this.#signalConnection.open()
    this.#traces?.leave()
    await this.#markDead(this.#traces?.listDead() ?? [])
  }

  /** Marks these owners as dead for all processes of this database. When that fails, their files stay for the next process. */
  async #markDead(ownerIds: readonly string[]): Promise<void> {
    if (ownerIds.length === 0) return
    const forget = {
      sql: 'delete from dead_owners where marked_at_ms < now_ms() - cast($1 as bigint)',
      params: [deadOwnerKeptMs],
    }
    const mark = {
      sql: 'insert into dead_owners (owner_id, marked_at_ms) values ($1, now_ms()) on conflict do nothing',
      rows: ownerIds.map((ownerId) => [ownerId]),
    }
    await this.commit({ name: 'owner.mark', statements: [forget, mark] }).then(
      () => this.#traces?.forget(ownerIds),
      () => undefined,
    )
  }

  /** Creates partitions ahead, now and periodically. A failure is harmless: rows go to the default partition. */
  async #keepPartitions(): Promise<void> {
    const create = () => createDayPartitions(this.#writes, this.#translate).catch(() => undefined)
    await create()
    this.#partitionTimer = setInterval(() => void create(), partitionEveryMs)
    this.#partitionTimer.unref()
  }

  async query<T = Row>(sql: string, params: readonly SqlValue[] = []): Promise<T[]> {
    if (this.#isClosed) throw closed()
    try {
      const rows = await this.#reads.use<Row[]>((pool) => pool.unsafe(this.#translate(sql), toParams(params)))
      this.#readFailure = null
      return normaliseRows([...rows]) as T[]
    } catch (error) {
      const failure = toCallerError(error, 'query')
      if (failure instanceof GatewayError) this.#readFailure = failure.message
      throw failure
    }
  }

  /** A failure says nothing about the health of storage: a sum that takes too long is no outage. */
  async queryAside<T = Row>(sql: string, params: readonly SqlValue[] = []): Promise<T[]> {
    if (this.#isClosed) throw closed()
    try {
      const rows = await this.#aside.use<Row[]>((pool) => pool.unsafe(this.#translate(sql), toParams(params)))
      return normaliseRows([...rows]) as T[]
    } catch (error) {
      throw toCallerError(error, 'query')
    }
  }

  /** Reads once more, so that health checks notice when the database is back: without traffic nothing else would read. */
  #lookAgain(): void {
    if (this.#isLookingAgain || this.#isClosed) return
    this.#isLookingAgain = true
    void this.query('select 1')
      .catch(() => undefined)
      .finally(() => (this.#isLookingAgain = false))
  }

  commit(unit: Unit): Promise<Row[][]> {
    if (this.#isClosed) return Promise.reject(closed())
    const isGuarded = unit.statements.some((statement) => statement.expect !== undefined)
    return (isGuarded ? this.#guarded : this.#grouped).add(unit)
  }

  notify(channel: string): void {
    if (!this.#isClosed) this.#signalConnection.notify(channel)
  }

  listen(channel: string, wake: () => void): () => void {
    return this.#signals.listen(channel, wake)
  }

  otherOccupants(): Promise<string[]> {
    return this.#reads
      .use((sql) => listOccupants(sql, this.ownerId))
      .catch((error: unknown) => Promise.reject(toCallerError(error, 'query')))
  }

  async isOwnerDead(ownerId: string): Promise<boolean> {
    if (this.#traces?.isDead(ownerId) === true) {
      await this.#markDead([ownerId])
      return true
    }
    // When the database cannot be asked, death is unknown, and unknown is false.
    return this.#owner.isDead(ownerId, this.#reads).catch(() => false)
  }

  async isOwnerSilent(ownerId: string): Promise<boolean> {
    return this.#owner.isSilent(ownerId, this.#reads).catch(() => false)
  }

  health(): DatabaseHealth {
    // An idle gateway commits nothing, and without reads it cannot authenticate; so failed reads count too.
    const lastError = this.#runner.lastError ?? this.#readFailure
    if (this.#readFailure !== null) this.#lookAgain()
    const queueLength = this.#grouped.length + this.#guarded.length
    return { ok: lastError === null && !this.#isClosed, queueLength, lastError }
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    if (this.#partitionTimer !== null) clearInterval(this.#partitionTimer)
    this.#traces?.close()
    await Promise.all([this.#grouped.drain(), this.#guarded.drain()])
    await Promise.all([
      this.#signalConnection.close(),
      this.#owner.close(),
      this.#reads.close(),
      this.#aside.close(),
      this.#writes.close(),
    ])
  }
}

function closed(): Error {
  return storageUnavailable(new StorageFailure('the database is closed'))
}
