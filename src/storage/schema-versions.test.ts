import { expect, test } from 'bun:test'
import { SQL } from 'bun'
import { Database as Sqlite } from 'bun:sqlite'
import { mkdirSync } from 'node:fs'
import { eachDatabase } from '../../test/support/databases.ts'
import { createEarlierSchema } from '../../test/support/earlier-schema.ts'
import { SchemaOccupied } from './database.ts'
import type { Unit } from './database.ts'
import { isExclusive, listMigrations, pendingMigrations } from './migrations.ts'
import type { Migration } from './migrations.ts'
import { openDatabase } from './open-database.ts'
import { FileLock } from './sqlite/file-lock.ts'

const known = listMigrations().length

function newer(version: number, kind: 'additive' | 'exclusive'): Unit {
  const sql = `insert into schema_migrations (version, name, kind, applied_at_ms) values ($1, 'newer', $2, 0)`
  return { name: 'newer schema', statements: [{ sql, params: [version, kind] }] }
}

test('neither a new database nor an additive step waits for other processes', () => {
  const step = (version: number, kind: Migration['kind']): Migration => {
    return { version, kind, name: 'step', statements: () => [] }
  }
  const steps = [step(1, 'exclusive'), step(2, 'additive'), step(3, 'exclusive')]
  const pendingOf = (version: number, mayMigrate = true) =>
    pendingMigrations({ version, exclusiveVersion: version }, mayMigrate, steps)
  expect(isExclusive({ version: 0, exclusiveVersion: 0 }, pendingOf(0))).toBe(false)
  expect(isExclusive({ version: 1, exclusiveVersion: 1 }, steps.slice(1, 2))).toBe(false)
  expect(isExclusive({ version: 1, exclusiveVersion: 1 }, pendingOf(1))).toBe(true)
  expect(() => pendingOf(2, false)).toThrow('this program needs 3')
})

eachDatabase((name, _open, { openFresh, createEmpty }) => {
  test('a program runs on a schema that only additive steps made newer, and on no other', async () => {
    const { database, url } = await openFresh()
    await database.commit(newer(known + 1, 'additive'))
    await database.commit(newer(known + 2, 'additive'))
    const older = await openDatabase({ url })
    expect(await older.query('select 1 as one')).toEqual([{ one: 1 }])
    await older.close()
    await database.commit(newer(known + 3, 'exclusive'))
    expect(String(await failureOf(openDatabase({ url })))).toContain(
      `The database has schema version ${known + 3}, this program needs ${known}: start a newer version.`,
    )
    await database.commit(newer(known + 4, 'additive'))
    expect(String(await failureOf(openDatabase({ url })))).toContain('start a newer version')
  })

  test('an exclusive step waits for a process that runs on the schema of before, and goes on when it has ended', async () => {
    const url = await createEmpty()
    const told: string[] = []
    const occupant = await openBefore(url)
    const waiting = openDatabase({ url, ownerGraceMs: 0, onMigrationWait: (message) => told.push(message) })
    while (told.length === 0) await Bun.sleep(10)
    expect(told.join()).toContain(name === 'sqlite' ? `process ${process.pid} (` : 'PostgreSQL session ')
    await occupant.end()
    const database = await waiting
    expect(await database.query('select max(version) as version from schema_migrations')).toEqual([
      { version: known },
    ])
    expect(told).toHaveLength(1)
    await database.close()
  })

  test('an exclusive step gives up within its bound, names the processes on the database, and changes nothing', async () => {
    const url = await createEmpty()
    const occupant = await openBefore(url)
    const failure = await failureOf(openDatabase({ url, ownerGraceMs: 0, migrationWaitMs: 0 }))
    expect(failure).toBeInstanceOf(SchemaOccupied)
    expect(String(failure)).toContain('Stop every gateway and command on this database, then start again.')
    expect(await occupant.version()).toBe(2)
    await occupant.end()
    await (await openDatabase({ url, ownerGraceMs: 0 })).close()
  })
})

/** A process that runs on schema version 2, as far as others can see it: the lock of its owner id. */
async function openBefore(url: string) {
  await createEarlierSchema(url, 2, [])
  return url.startsWith('sqlite:') ? occupySqlite(url.slice('sqlite:'.length)) : occupyPostgres(url)
}

interface Occupant {
  /** The schema that the process would find now. */
  version(): Promise<number>
  end(): Promise<void>
}

async function occupySqlite(path: string): Promise<Occupant> {
  mkdirSync(`${path}.owners`)
  const lock = new FileLock(`${path}.owners/owner_before.lock`)
  lock.acquire()
  return {
    version: async () => {
      const connection = new Sqlite(path, { readonly: true })
      const row = connection.query<VersionRow, []>(selectVersion).get()
      connection.close()
      return row?.version ?? 0
    },
    end: async () => lock.close(),
  }
}

async function occupyPostgres(url: string): Promise<Occupant> {
  const session = new SQL({ url, max: 1, connection: { application_name: 'headrace' } })
  await session`select pg_advisory_lock(hashtextextended('owner_before', 0))`
  return {
    version: async () => ((await session.unsafe(selectVersion)) as VersionRow[])[0]?.version ?? 0,
    end: () => session.close(),
  }
}

interface VersionRow {
  version: number
}

const selectVersion = 'select max(version) as version from schema_migrations'

/** `expect().rejects` would hold up the loop that has to bring the answer. */
function failureOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => null,
    (error: unknown) => error,
  )
}
