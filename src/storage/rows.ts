import { assert } from '../core/assert.ts'
import type { Row } from './database.ts'

/**
 * Makes rows the same whichever driver read them, in place: columns ending in `_nanocredits` are bigints, every other
 * integer is a number, bytes are a plain `Uint8Array`. An integer that a number cannot hold exactly is a bug.
 */
export function normaliseRows(rows: Row[]): Row[] {
  for (const row of rows) {
    for (const column in row) {
      const value = row[column]
      const kind = typeof value
      if (kind === 'string' || value === null) {
        // PostgreSQL gives `sum()` of a bigint as numeric, which its driver leaves as text.
        if (kind === 'string' && column.endsWith('_nanocredits')) row[column] = BigInt(value as string)
      } else if (kind === 'bigint' || kind === 'number')
        row[column] = normaliseNumber(column, value as bigint | number)
      else if (value instanceof Uint8Array && value.constructor !== Uint8Array) {
        row[column] = new Uint8Array(value.buffer, value.byteOffset, value.byteLength)
      }
    }
  }
  return rows
}

function normaliseNumber(column: string, value: bigint | number): bigint | number {
  if (column.endsWith('_nanocredits')) {
    assert(
      typeof value === 'bigint' || Number.isSafeInteger(value),
      `column ${column} is not whole nanocredits`,
    )
    return BigInt(value)
  }
  if (typeof value === 'number') return value
  const number = Number(value)
  assert(Number.isSafeInteger(number), `column ${column} is beyond 2^53`)
  return number
}
