import { assert } from '../../core/assert.ts'
import type { SqlValue } from '../database.ts'
import { toStorableText } from '../storable-text.ts'

/** Rows of a bulk insert that travel in one statement on PostgreSQL, so that its text stays within a few megabytes. */
export const bulkRowsMax = 1_000

/** A query to be sent to the server. */
export interface Query {
  sql: string
  params: SqlValue[]
}

/** A parsed insert: which parameter fills which column. */
interface BulkInsert {
  sql: string
  columns: { name: string; parameter: number }[]
}

/**
 * The queries for a bulk insert: the rows are one JSON parameter. The server would prepare multi-row `values` anew for
 * every number of rows and every pattern of nulls, and keep each of those plans in memory.
 */
export function toBulkQueries(sql: string, rows: readonly (readonly SqlValue[])[]): Query[] {
  const insert = parseInsert(sql)
  const queries: Query[] = []
  for (let start = 0; start < rows.length; start += bulkRowsMax) {
    queries.push({ sql: insert.sql, params: [toJson(insert, rows.slice(start, start + bulkRowsMax))] })
  }
  return queries
}

/** From `insert into t (a, b) values ($1, now_ms()) …` to `insert into t (a, b) select r.a, now_ms() from … as r …`. */
export function parseInsert(sql: string): BulkInsert {
  const head = /^\s*insert\s+into\s+(\w+)\s*\(([^)]*)\)\s*values\s*\(/i.exec(sql)
  const [start = '', table = '', columnList = ''] = head ?? []
  assert(head, 'a bulk statement is `insert into table (columns) values (…)`')
  const names = columnList.split(',').map((name) => name.trim())
  const { values, tail } = splitValues(sql.slice(start.length))
  assert(names.length === values.length, 'a bulk insert has one value for each column')
  const columns: BulkInsert['columns'] = []
  const selected = values.map((value, index) => {
    const parameter = /^\$(\d+)$/.exec(value)?.[1]
    assert(parameter !== undefined || !value.includes('$'), 'a bulk value is a bare parameter or has none')
    if (parameter === undefined) return value
    const name = names[index] ?? ''
    columns.push({ name, parameter: Number(parameter) })
    return `r.${name}`
  })
  // Cast through text, because the driver would otherwise quote the string as a JSON value of its own.
  const source = `json_populate_recordset(null::${table}, cast(cast($1 as text) as json)) as r`
  return {
    sql: `insert into ${table} (${columnList}) select ${selected.join(', ')} from ${source} ${tail}`,
    columns,
  }
}

/** Takes the text after the opening parenthesis of the values; returns the values, and the text after the closing one. */
function splitValues(text: string): { values: string[]; tail: string } {
  const values: string[] = []
  let depth = 0
  let start = 0
  for (let index = 0; index < text.length; index++) {
    const character = text[index]
    if (character === '(') depth++
    if ((character === ',' || character === ')') && depth === 0) {
      values.push(text.slice(start, index).trim())
      start = index + 1
    }
    if (character === ')' && depth-- === 0) return { values, tail: text.slice(index + 1) }
  }
  throw new Error('a bulk insert has no end of its values')
}

function toJson({ columns }: BulkInsert, rows: readonly (readonly SqlValue[])[]): string {
  const records = rows.map((row) => {
    const record: Record<string, string | number | null> = {}
    for (const { name, parameter } of columns) record[name] = toJsonValue(row[parameter - 1] ?? null)
    return record
  })
  return JSON.stringify(records)
}

/** A value as JSON that PostgreSQL converts to the column's type without loss. */
function toJsonValue(value: SqlValue): string | number | null {
  if (typeof value === 'bigint') return String(value)
  if (typeof value === 'boolean') return Number(value)
  if (value instanceof Uint8Array) return `\\x${value.toHex()}`
  // A lone half of a surrogate pair becomes U+FFFD, as in every other parameter; PostgreSQL would refuse it in JSON.
  return typeof value === 'string' ? toStorableText(value.toWellFormed()) : value
}
