import { assert } from '../core/assert.ts'
import type { Row } from './database.ts'

/**
 * Makes rows of both drivers alike, in place: columns ending in `_nanocredits` are bigints, every other integer is a
 * number, bytes are a plain `Uint8Array`. An integer that a number cannot hold exactly is a bug.
 */
export function normaliseRows(rows: Row[]): Row[] {
  for (const row of rows) {
    for (const column in row) {
      const value = row[column]
      if (value !== null) row[column] = normaliseValue(column, value)
    }
  }
  return rows
}

function normaliseValue(column: string, value: unknown): unknown {
  const isMoney = column.endsWith('_nanocredits')
  // PostgreSQL returns `sum()` of a bigint as numeric, which its driver leaves as text.
  if (typeof value === 'string') return isMoney ? BigInt(value) : value
  if (typeof value === 'bigint') return isMoney ? value : toNumber(column, value)
  if (typeof value === 'number') return isMoney ? toNanocredits(column, value) : value
  if (value instanceof Uint8Array && value.constructor !== Uint8Array) {
    return new Uint8Array(value.buffer, value.byteOffset, value.byteLength)
  }
  return value
}

function toNumber(column: string, value: bigint): number {
  const number = Number(value)
  assert(Number.isSafeInteger(number), `column ${column} is beyond 2^53`)
  return number
}

function toNanocredits(column: string, value: number): bigint {
  assert(Number.isSafeInteger(value), `column ${column} is not whole nanocredits`)
  return BigInt(value)
}
