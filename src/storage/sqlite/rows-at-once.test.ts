import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { assert } from '../../core/assert.ts'
import type { SqlValue } from '../database.ts'
import { openSqlite } from './sqlite-database.ts'
import { insertOfRows, readBulkInsert, rowsAtOnce, RowsAtOnce } from './rows-at-once.ts'

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

test('values are shared with the rows of the same eight, and only when they are the same', async () => {
  await database.commit({ name: 'any', statements: [{ sql: 'create table anything (id bigint, value)' }] })
  const sql = 'insert into anything (id, value) values ($1, $2)'
  const values: SqlValue[] = [
    // Those of the second eight are like the first ones, but for their first.
    ...Array.from({ length: rowsAtOnce }, () => 'first'),
    ...Array.from({ length: rowsAtOnce }, (_, index) => (index === 0 ? 'second' : 'first')),
  ]
  // Each pair is equal after a conversion.
  const alike: [SqlValue, SqlValue][] = [
    [1, '1'],
    [0, ''],
    ['', 0],
    [2n, '2'],
  ]
  const unitsOf = (list: readonly SqlValue[], from: number) => ({
    name: 'any',
    statements: [{ sql: `${sql} /* ${from} */`, rows: list.map((value, index) => [from + index, value]) }],
  })
  await database.commit({
    name: 'any',
    statements: [{ sql, rows: values.map((value, index) => [index, value]) }],
  })
  const expected = values.map((value) => ['text', value])
  for (const [index, [one, other]] of alike.entries()) {
    const list = Array.from({ length: rowsAtOnce }, (_, row) => (row === 3 ? other : one))
    await database.commit(unitsOf(list, 100 * (index + 1)))
    expected.push(...list.map((value) => [typeof value === 'string' ? 'text' : 'integer', String(value)]))
  }
  const stored = await database.query<Record<string, SqlValue>>(
    'select typeof(value) as type, cast(value as text) as value from anything order by id',
  )
  expect(stored.map(({ type, value }) => [type, value])).toEqual(expected)
})

test('a row with too few values fails, and is not filled up', async () => {
  const rows = rowsOf(4_000, rowsAtOnce).map((values, index) => (index === 5 ? values.slice(0, 2) : values))
  const written = database.commit({ name: 'short', statements: [{ sql: insertSql, rows }] })
  await expect(written).rejects.toThrow()
  expect(await storedAt(4_000)).toEqual([])
})

test('a statement is prepared anew once for each column, and every one is given back', () => {
  const insert = readBulkInsert('insert into t (a, b) values (?1, ?2)')
  assert(insert, 'it is a bulk insert')
  const open = new Set<string>()
  const prepared: string[] = []
  const many = new RowsAtOnce(insert, (sql) => {
    prepared.push(sql)
    open.add(sql)
    return { run: () => ({ changes: rowsAtOnce }), finalize: () => open.delete(sql) }
  })
  const rowsLike = (valuesOf: (row: number) => SqlValue[]) =>
    Array.from({ length: rowsAtOnce }, (_, row) => valuesOf(row))
  const equal = rowsLike(() => [1, 2])
  const lists = [
    equal,
    rowsLike((row) => [1, row]),
    equal,
    rowsLike((row) => [row, 2]),
    rowsLike((row) => [1, row]),
    equal,
  ]
  for (const rows of lists) expect(many.run(rows, 0)).toBe(rowsAtOnce)
  expect(many.run([...equal.slice(1), [1]], 0)).toBeNull()
  expect(prepared).toHaveLength(3)
  expect(open.size).toBe(1)
  many.finalize()
  expect(open.size).toBe(0)
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
    'insert into t (a, b) values (?1, ?3)',
  ])
    expect(readBulkInsert(sql)).toBeNull()
})
