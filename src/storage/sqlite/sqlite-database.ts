import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { newId } from '../../core/ids.ts'
import { writerRowsMax, writerSpacingMs } from '../../core/limits/storage.ts'
import { StorageFailure, storageUnavailable } from '../database.ts'
import type { Database, DatabaseHealth, DatabaseOptions, Row, SqlValue, Unit } from '../database.ts'
import { createTranslator } from '../dialect.ts'
import { untilUnoccupied } from '../migration-wait.ts'
import { Signals } from '../signals.ts'
import { UnitQueue } from '../unit-queue.ts'
import { AsideReader } from './aside-reader.ts'
import { listOccupants, OwnerFiles } from './owner-files.ts'
import { SqliteReader } from './reader.ts'
import { sqliteDialect } from './sqlite-dialect.ts'
import { WriterLink } from './writer-link.ts'
import { codeOf } from '../../core/error-code.ts'

/** Opens a SQLite file, creating it and its folder. */
export async function openSqlite(path: string, options: DatabaseOptions): Promise<Database> {
  const translate = createTranslator(sqliteDialect, options.nowExpression)
  try {
    mkdirSync(dirname(path), { recursive: true })
  } catch (error) {
    const code = codeOf(error)
    throw storageUnavailable(
      new StorageFailure('the database folder cannot be created', { cause: error, code }),
    )
  }
  const ownerId = newId('owner', Date.now())
  const owners = takeOwnerId(path, ownerId)
  const link = new WriterLink({
    writer: {
      path,
      ownerId,
      migrate: options.migrate ?? true,
      nowExpression: options.nowExpression ?? null,
      faults: options.faults ?? {},
    },
    translate,
    onCommit: options.onCommit,
  })
  try {
    await untilUnoccupied(() => link.open(), options)
  } catch (error) {
    owners.close()
    throw error
  }
  return new SqliteDatabase({ path, ownerId, owners, link, translate })
}

function takeOwnerId(path: string, ownerId: string): OwnerFiles {
  try {
    return new OwnerFiles(path, ownerId)
  } catch (error) {
    const code = codeOf(error)
    throw storageUnavailable(new StorageFailure('the owner id cannot be taken', { cause: error, code }))
  }
}

/** The parts of an open database. */
interface SqliteDependencies {
  path: string
  ownerId: string
  owners: OwnerFiles
  link: WriterLink
  translate: (sql: string) => string
}

class SqliteDatabase implements Database {
  readonly dialect = 'sqlite'
  readonly ownerId: string
  readonly #path: string
  readonly #translate: (sql: string) => string
  readonly #link: WriterLink
  readonly #reader: SqliteReader
  readonly #aside: AsideReader
  readonly #owners: OwnerFiles
  readonly #signals = new Signals()
  readonly #queue: UnitQueue
  #isClosed = false

  constructor({ path, ownerId, owners, link, translate }: SqliteDependencies) {
    this.ownerId = ownerId
    this.#path = path
    this.#translate = translate
    this.#link = link
    this.#reader = new SqliteReader(path)
    this.#aside = new AsideReader(path)
    this.#owners = owners
    this.#queue = new UnitQueue({
      run: (group) => link.run(group),
      groupsMax: 1,
      rowsMax: writerRowsMax,
      spacingMs: writerSpacingMs,
    })
  }

  async query<T = Row>(sql: string, params: readonly SqlValue[] = []): Promise<T[]> {
    if (this.#isClosed) throw closed()
    return (await this.#reader.query(this.#translate(sql), params)) as T[]
  }

  async queryAside<T = Row>(sql: string, params: readonly SqlValue[] = []): Promise<T[]> {
    if (this.#isClosed) throw closed()
    return (await this.#aside.query(this.#translate(sql), params)) as T[]
  }

  commit(unit: Unit): Promise<Row[][]> {
    return this.#isClosed ? Promise.reject(closed()) : this.#queue.add(unit)
  }

  notify(channel: string): void {
    this.#signals.wake(channel)
  }

  listen(channel: string, wake: () => void): () => void {
    return this.#signals.listen(channel, wake)
  }

  async otherOccupants(): Promise<string[]> {
    return listOccupants(this.#path, this.ownerId)
  }

  async isOwnerDead(ownerId: string): Promise<boolean> {
    return this.#owners.isDead(ownerId)
  }

  /** A file lock ends with its process, so here a silent owner is dead. */
  isOwnerSilent(ownerId: string): Promise<boolean> {
    return this.isOwnerDead(ownerId)
  }

  health(): DatabaseHealth {
    const lastError = this.#link.lastError
    return { ok: lastError === null && !this.#isClosed, queueLength: this.#queue.length, lastError }
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    await this.#queue.drain()
    // The readers must close first: SQLite merges the log into the file only when the last connection can write.
    await this.#aside.close()
    this.#reader.close()
    await this.#link.close()
    this.#owners.close()
  }
}

function closed(): Error {
  return storageUnavailable(new StorageFailure('the database is closed'))
}
