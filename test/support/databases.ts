import { afterAll, beforeEach, describe } from 'bun:test'
import { SQL } from 'bun'
import { appendFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { randomText } from '../../src/core/ids.ts'
import type { Database, DatabaseOptions } from '../../src/storage/database.ts'
import { openDatabase } from '../../src/storage/open-database.ts'
import { sharedPostgresUrl, whyNoPostgres } from './postgres.ts'
import { copyMigratedFile } from './sqlite-template.ts'
import type { DialectName } from '../../src/storage/dialect.ts'

/** Opens this test file's database, migrated. Every call acts as another process on the same data. */
export type OpenTestDatabase = (options?: Omit<DatabaseOptions, 'url'>) => Promise<Database>

/** Opens a fresh empty database, not shared with any other call. */
export type OpenFreshDatabase = (
  options?: Omit<DatabaseOptions, 'url'>,
) => Promise<{ database: Database; url: string }>

/** The databases that a suite may open. */
export interface TestDatabases {
  open: OpenTestDatabase
  openFresh: OpenFreshDatabase
  /** The URL of a fresh database without any schema. */
  createEmpty: () => Promise<string>
  /** The URL of a fresh database with the schema and no rows; making it costs a tenth. */
  createMigrated: () => Promise<string>
}

/**
 * Registers the same suite for SQLite and for PostgreSQL. Each gets its own database, and open connections are closed
 * at the end. Without PostgreSQL one line says so. Counts the tests that ran, so that the runner can compare.
 */
export function eachDatabase(
  suite: (name: DialectName, open: OpenTestDatabase, databases: TestDatabases) => void,
): void {
  register('sqlite', suite, freshFile)
  const reason = whyNoPostgres()
  if (reason !== null && !process.env.HEADRACE_TEST_POSTGRES) console.warn(`skipped on postgres: ${reason}`)
  else register('postgres', suite, freshPostgres)
}

/** A server that is busy with other files is slow to drop a database. */
const cleanUpMs = 30_000

interface Fresh {
  url: string
  remove(): Promise<void>
}

function register(
  name: DialectName,
  suite: Parameters<typeof eachDatabase>[0],
  create: (isMigrated: boolean) => Promise<Fresh>,
): void {
  const created: Fresh[] = []
  const opened: Database[] = []
  let shared: Promise<Fresh> | null = null
  let tests = 0

  const fresh = async (isMigrated = true): Promise<Fresh> => {
    const database = await create(isMigrated)
    created.push(database)
    return database
  }
  const openAt = async (url: string, options: Omit<DatabaseOptions, 'url'>): Promise<Database> => {
    const database = await openDatabase({ ownerGraceMs: 0, connectionsMax: 4, ...options, url })
    opened.push(database)
    return database
  }

  const open: OpenTestDatabase = async (options = {}) => {
    shared ??= fresh()
    return openAt((await shared).url, options)
  }
  const openFresh: OpenFreshDatabase = async (options = {}) => {
    const { url } = await fresh()
    return { url, database: await openAt(url, options) }
  }

  describe(name, () => {
    beforeEach(() => {
      tests++
    })
    afterAll(async () => {
      // Counted first, because a busy server may be slow to drop the database.
      const counts = process.env.HEADRACE_TEST_COUNTS
      if (counts) appendFileSync(counts, `${JSON.stringify({ database: name, file: Bun.main, tests })}\n`)
      await Promise.all(opened.map((database) => database.close()))
      await Promise.all(created.map((database) => database.remove()))
    }, cleanUpMs)
    suite(name, open, {
      open,
      openFresh,
      createEmpty: async () => (await fresh(false)).url,
      createMigrated: async () => (await fresh()).url,
    })
  })
}

async function freshFile(isMigrated: boolean): Promise<Fresh> {
  const folder = mkdtempSync(join(tmpdir(), 'headrace-sqlite-'))
  const path = join(folder, 'headrace.db')
  if (isMigrated) await copyMigratedFile(path)
  return {
    url: `sqlite:${path}`,
    remove: async () => rmSync(folder, { recursive: true, force: true }),
  }
}

async function freshPostgres(isMigrated: boolean): Promise<Fresh> {
  const server = await sharedPostgresUrl()
  if (server === null) throw new Error('PostgreSQL is not installed')
  const name = `headrace_${randomText(12)}`
  const copied = isMigrated ? `template ${await migratedTemplate(server)} strategy file_copy` : ''
  await administer(server, `create database ${name} ${copied}`)
  return { url: urlOf(server, name), remove: () => administer(server, `drop database ${name} with (force)`) }
}

const templateName = 'headrace_migrated'
/** An arbitrary number; only these tests use this lock. */
const templateLock = 8_151_623
let template: Promise<string> | null = null

/**
 * A database to copy, which takes half as long as running every migration. The first test file that needs it makes it.
 */
function migratedTemplate(server: string): Promise<string> {
  template ??= makeTemplate(server)
  return template
}

async function makeTemplate(server: string): Promise<string> {
  const connection = new SQL({ url: server, max: 1 })
  // Test files run in several processes. The lock ends with the connection.
  await connection.unsafe(`select pg_advisory_lock(${templateLock})`)
  const found = await connection.unsafe(`select 1 from pg_database where datname = '${templateName}'`)
  if (found.length === 0) {
    const unfinished = `${templateName}_unfinished`
    await connection.unsafe(`create database ${unfinished}`)
    await (await openDatabase({ url: urlOf(server, unfinished) })).close()
    await connection.unsafe(`alter database ${unfinished} rename to ${templateName}`)
  }
  await connection.close()
  return templateName
}

function urlOf(server: string, name: string): string {
  const url = new URL(server)
  url.pathname = `/${name}`
  return url.href
}

async function administer(server: string, sql: string): Promise<void> {
  const connection = new SQL({ url: server, max: 1 })
  await connection.unsafe(sql)
  await connection.close()
}
