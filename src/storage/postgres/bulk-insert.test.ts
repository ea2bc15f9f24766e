import { expect, test } from 'bun:test'
import type { SqlValue } from '../database.ts'
import { parseInsert, toBulkQueries, bulkRowsMax } from './bulk-insert.ts'

test('parameters become columns of the rows, expressions and the tail stay', () => {
  const { sql, columns } = parseInsert(
    'insert into parts (part_id, created_at_ms, bytes) values ($2, greatest(now_ms(), 5), $1) on conflict (part_id) do nothing',
  )
  expect(sql).toBe(
    'insert into parts (part_id, created_at_ms, bytes) select r.part_id, greatest(now_ms(), 5), r.bytes from ' +
      'json_populate_recordset(null::parts, cast(cast($1 as text) as json)) as r  on conflict (part_id) do nothing',
  )
  expect(columns).toEqual([
    { name: 'part_id', parameter: 2 },
    { name: 'bytes', parameter: 1 },
  ])
})

test('values travel as JSON without loss', () => {
  const row: SqlValue[] = [9_007_199_254_740_993n, true, new Uint8Array([1, 255]), `a"\ud800`, null]
  const [query] = toBulkQueries('insert into t (a, b, c, d, e) values ($1, $2, $3, $4, $5)', [row])
  expect(JSON.parse(String(query?.params[0]))).toEqual([
    { a: '9007199254740993', b: 1, c: '\\x01ff', d: 'a"\ufffd', e: null },
  ])
})

test('many rows travel in several statements', () => {
  const rows = Array.from({ length: bulkRowsMax * 2 + 1 }, (_, index) => [index])
  expect(
    toBulkQueries('insert into t (a) values ($1)', rows).map(
      ({ params }) => JSON.parse(String(params[0])).length,
    ),
  ).toEqual([bulkRowsMax, bulkRowsMax, 1])
})

test('a bulk statement of another shape is refused', () => {
  for (const sql of [
    'update t set a = $1',
    'insert into t (a, b) values ($1)',
    'insert into t (a) values ($1 + 1)',
    'insert into t (a) values ($1',
  ]) {
    expect(() => parseInsert(sql)).toThrow()
  }
})
