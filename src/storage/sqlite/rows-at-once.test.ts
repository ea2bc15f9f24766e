import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { SqlValue } from '../database.ts'
import { openSqlite } from './sqlite-database.ts'
import { insertOfRows, readBulkInsert, rowsAtOnce } from './rows-at-once.ts'

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

test('rows that begin to differ in a column which was shared keep their own values', async () => {
  const own = (minute: number, differing: number): SqlValue[][] =>
    Array.from({ length: rowsAtOnce }, (_, index) => [
      minute + (differing > 1 ? index : 0),
      `address ${index}`,
      differing > 0 ? index : 7,
    ])
  // The first eight share two values, the next one, the last none; then they share two again, with other values.
  const rows = [...own(3_000, 0), ...own(3_001, 1), ...own(3_100, 2), ...own(3_200, 0)]
  await database.commit({ name: 'differ', statements: [{ sql: insertSql, rows, expect: rows.length }] })
  const stored = await database.query<Record<string, SqlValue>>(
    'select minute, client_address, requests from anonymous_refusals where minute >= $1 and minute <= $2',
    [3_000, 3_200],
  )
  const inOrder = (list: SqlValue[][]) => list.map((values) => values.join(' ')).toSorted()
  expect(
    inOrder(
      stored.map(({ minute, client_address, requests }) => [
        minute ?? null,
        client_address ?? null,
        requests ?? null,
      ]),
    ),
  ).toEqual(inOrder(rows))
})

test('bytes, whole numbers beyond 2^53 and nothing are written as such, shared or not', async () => {
  await database.commit({
    name: 'table',
    statements: [{ sql: 'create table kept (id bigint, bytes blob, amount bigint, word text)' }],
  })
  const sql = 'insert into kept (id, bytes, amount, word) values ($1, $2, $3, $4)'
  const rows = Array.from({ length: rowsAtOnce * 2 }, (_, index): SqlValue[] => [
    index,
    new Uint8Array([index % 3]),
    index < rowsAtOnce ? 2n ** 60n : 2n ** 60n + BigInt(index),
    index === rowsAtOnce * 2 - 1 ? 'last' : null,
  ])
  await database.commit({ name: 'kept', statements: [{ sql, rows }] })
  const stored = await database.query<Record<string, SqlValue>>(
    'select id, hex(bytes) as bytes, cast(amount as text) as amount, word from kept order by id',
  )
  expect(stored.map(({ id, bytes, amount, word }) => [id, bytes, amount, word])).toEqual(
    rows.map(([id, bytes, amount, word]) => [
      Number(id),
      Buffer.from(bytes as Uint8Array).toString('hex'),
      String(amount),
      word ?? null,
    ]),
  )
})

test('a value may be an expression, and what follows the values is kept', () => {
  const insert = readBulkInsert('insert into t (a, b, c) values (?1, max(1, 2), ?2) on conflict do nothing')
  expect(insert?.width).toBe(2)
  const each = (listOf: (row: number) => string) =>
    Array.from({ length: rowsAtOnce }, (_, row) => listOf(row)).join(', ')
  const sqlOf = (shared: number[], own: number[]) => insert && insertOfRows(insert, { shared, own })
  expect(sqlOf([], [0, 1])).toBe(
    `insert into t (a, b, c) values ${each((row) => `(?${row * 2 + 1}, max(1, 2), ?${row * 2 + 2})`)} on conflict do nothing`,
  )
  expect(sqlOf([1], [0])).toBe(
    `insert into t (a, b, c) values ${each((row) => `(?${row + 2}, max(1, 2), ?1)`)} on conflict do nothing`,
  )
})

test('other statements run row by row', () => {
  for (const sql of [
    'update t set a = ?1 where b = ?2',
    'insert into t (a) select ?1 where 1 = 1',
    'insert into t (a) values (now())',
    'insert into t (a) values (?1) on conflict (a) do update set b = ?2',
  ])
    expect(readBulkInsert(sql)).toBeNull()
})
