import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { SqlValue } from '../database.ts'
import { openSqlite } from './sqlite-database.ts'
import { forRowsAtOnce, rowsAtOnce } from './rows-at-once.ts'

const folder = mkdtempSync(join(tmpdir(), 'rows-at-once-'))
const path = join(folder, 'headrace.db')
const database = await openSqlite(path, { url: `sqlite:${path}` })
afterAll(async () => {
  await database.close()
  rmSync(folder, { recursive: true, force: true })
})

// Each test has minutes of its own in this table, which has a key and a column that counts.
const insertSql = 'insert into anonymous_refusals (minute, client_address, requests) values ($1, $2, $3)'
const addSql = `${insertSql} on conflict (minute, client_address) do update set
  requests = anonymous_refusals.requests + excluded.requests`

function rowsOf(minute: number, count: number): SqlValue[][] {
  return Array.from({ length: count }, (_, index) => [
    minute,
    `address ${String(index).padStart(3, '0')}`,
    index,
  ])
}

async function storedAt(minute: number): Promise<[string, number][]> {
  const rows = await database.query<{ client_address: string; requests: number }>(
    'select client_address, requests from anonymous_refusals where minute = $1 order by client_address',
    [minute],
  )
  return rows.map(({ client_address, requests }) => [client_address, requests])
}

for (const count of [1, rowsAtOnce - 1, rowsAtOnce, rowsAtOnce + 1, rowsAtOnce * 5 + 3]) {
  test(`a bulk insert of ${count} rows writes each value into its row, and counts them`, async () => {
    const rows = rowsOf(count, count)
    await database.commit({ name: 'bulk', statements: [{ sql: insertSql, rows, expect: count }] })
    expect(await storedAt(count)).toEqual(
      rows.map(([, address, requests]) => [String(address), Number(requests)]),
    )
  })
}

test('rows of one key within one insert are added to each other', async () => {
  const rows = Array.from({ length: rowsAtOnce * 2 }, (): SqlValue[] => [1_000, 'one', 3])
  await database.commit({ name: 'add', statements: [{ sql: addSql, rows }] })
  expect(await storedAt(1_000)).toEqual([['one', 3 * rowsAtOnce * 2]])
})

test('a row that is refused takes its whole unit with it, and no other unit', async () => {
  const twice = [...rowsOf(2_000, rowsAtOnce + 2), [2_000, 'address 003', 7]]
  const failing = database.commit({ name: 'twice', statements: [{ sql: insertSql, rows: twice }] })
  const other = database.commit({
    name: 'other',
    statements: [{ sql: insertSql, rows: rowsOf(2_001, rowsAtOnce) }],
  })
  const outcomes = await Promise.allSettled([failing, other])
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'fulfilled'])
  expect(await storedAt(2_000)).toEqual([])
  expect(await storedAt(2_001)).toHaveLength(rowsAtOnce)
})

test('a value may be an expression, and what follows the values is kept', () => {
  expect(forRowsAtOnce('insert into t (a, b, c) values (?1, max(1, 2), ?2) on conflict do nothing')).toEqual({
    width: 2,
    sql: `insert into t (a, b, c) values ${Array.from(
      { length: rowsAtOnce },
      (_, row) => `(?${row * 2 + 1}, max(1, 2), ?${row * 2 + 2})`,
    ).join(', ')} on conflict do nothing`,
  })
})

test('other statements run row by row', () => {
  for (const sql of [
    'update t set a = ?1 where b = ?2',
    'insert into t (a) select ?1 where 1 = 1',
    'insert into t (a) values (now())',
    'insert into t (a) values (?1) on conflict (a) do update set b = ?2',
  ])
    expect(forRowsAtOnce(sql)).toBeNull()
})
