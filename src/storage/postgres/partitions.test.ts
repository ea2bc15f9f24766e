import { afterAll, describe, expect, test } from 'bun:test'
import { sharedPostgresUrl, whyNoPostgres } from '../../../test/support/postgres.ts'
import { SQL } from 'bun'
import { randomText } from '../../core/ids.ts'
import { UniqueViolation } from '../database.ts'
import type { Database, Unit } from '../database.ts'
import { openDatabase } from '../open-database.ts'
import { withoutPartition, partitionDaysAhead } from './partitions.ts'

const today = 20_621
/** Two other names; in the order of names one comes before and the other after all days. */
const always = { first: 'postings_default', last: 'postings_undated' }

function postingOn(day: number): Unit {
  const sql = `insert into postings (day, transaction_id, account, amount_nanocredits, created_at_ms, kind)
    values ($1, 'a', 'b', 1, 0, 'grant')`
  return { name: 'test.posting', statements: [{ sql, params: [day] }] }
}

test('a partition is known by its table, and other names are what they are', () => {
  const names = ['usages_p20621', 'usages_p20621_pkey', 'usages_default_pkey', 'postings_undated']
  expect(names.map(withoutPartition)).toEqual(['usages', 'usages_pkey', 'usages_pkey', 'postings'])
  for (const name of ['api_keys_pkey', 'usages', 'rates_p9x', 'usages_defaults', null]) {
    expect(withoutPartition(name)).toBe(name)
  }
})

describe.skipIf(whyNoPostgres() !== null)('partitions', () => {
  const opened: Database[] = []
  const created: string[] = []

  const administer = async (sql: string): Promise<void> => {
    const connection = new SQL({ url: (await sharedPostgresUrl()) ?? '', max: 1 })
    await connection.unsafe(sql)
    await connection.close()
  }
  /** A fresh database, and how to open it on a day. */
  const begin = async (): Promise<(day: number) => Promise<Database>> => {
    const name = `headrace_${randomText(12)}`
    await administer(`create database ${name}`)
    created.push(name)
    const url = new URL((await sharedPostgresUrl()) ?? '')
    url.pathname = `/${name}`
    return async (day) => {
      const nowExpression = `(select cast(${day} as bigint) * 86400000 + 5)`
      const database = await openDatabase({ url: url.href, nowExpression, connectionsMax: 4 })
      opened.push(database)
      return database
    }
  }
  const partitionsOf = async (database: Database): Promise<string[]> => {
    const rows = await database.query<{ name: string }>(
      `select cast(c.relname as text) as name from pg_inherits i join pg_class c on c.oid = i.inhrelid
       where i.inhparent = 'postings'::regclass order by 1`,
    )
    return rows.map((row) => row.name)
  }
  const daysFrom = (day: number): string[] =>
    Array.from({ length: partitionDaysAhead + 1 }, (_, ahead) => `postings_p${day + ahead}`)

  afterAll(async () => {
    await Promise.all(opened.map((database) => database.close()))
    for (const name of created) await administer(`drop database ${name} with (force)`)
  })

  test('exist for today and the days ahead, and are added at a later start', async () => {
    const open = await begin()
    const database = await open(today)
    expect(await partitionsOf(database)).toEqual([always.first, ...daysFrom(today), always.last])
    // Two processes at once; one of them finds the work done.
    await Promise.all([open(today + 3), open(today + 3)])
    const expected = new Set([always.first, ...daysFrom(today), ...daysFrom(today + 3), always.last])
    expect(await partitionsOf(database)).toEqual([...expected])
  })

  test('may be missing: rows of such days go to the default partition, under the same constraint', async () => {
    const database = await (await begin())(today)
    for (const day of [0, 1, today, today + 500]) {
      await database.commit(postingOn(day))
      const failure = await database.commit(postingOn(day)).catch((error: unknown) => error)
      expect(failure).toBeInstanceOf(UniqueViolation)
      expect(failure).toMatchObject({ table: 'postings', constraint: 'postings_pkey' })
    }
  })

  test('are not made for a day whose first rows came before them, and the other days get theirs', async () => {
    const open = await begin()
    const database = await open(today)
    await database.commit(postingOn(today + 30))
    const later = await open(today + 29)
    const expected = daysFrom(today + 29).filter((name) => name !== `postings_p${today + 30}`)
    expect(await partitionsOf(database)).toEqual([always.first, ...daysFrom(today), ...expected, always.last])
    const failure = await later.commit(postingOn(today + 30)).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(UniqueViolation)
  })

  test('are made while somebody writes', async () => {
    const open = await begin()
    const database = await open(today)
    const sql = new SQL({ url: await urlOf(database), max: 1 })
    await sql.unsafe('begin')
    await sql.unsafe(`insert into postings (day, transaction_id, account, amount_nanocredits, created_at_ms, kind)
      values (${today}, 'open', 'b', 1, 0, 'grant')`)
    await open(today + 3)
    expect(await partitionsOf(database)).toContain(`postings_p${today + 3 + partitionDaysAhead}`)
    await sql.unsafe('commit')
    await sql.close()
  })

  test('except one are skipped by a query with a day', async () => {
    const database = await (await begin())(today)
    const plan = await database.query(
      'explain select 1 from postings where day = $1 and transaction_id = $2',
      [today, 'a'],
    )
    const touched = JSON.stringify(plan).match(/postings_(?:p\d+|undated|default)/g)
    expect(new Set(touched)).toEqual(new Set([`postings_p${today}`]))
  })

  async function urlOf(database: Database): Promise<string> {
    const [row] = await database.query<{ name: string }>('select cast(current_database() as text) as name')
    const url = new URL((await sharedPostgresUrl()) ?? '')
    url.pathname = `/${row?.name}`
    return url.href
  }
})
