import type { SqlValue } from '../database.ts'
import { isUnstorable, toStorableText } from '../storable-text.ts'
import type { ToWriter, WireStatement, WireUnit } from './protocol.ts'

type Group = Extract<ToWriter, { kind: 'group' }>
type Values = readonly SqlValue[]

/** Prefix of a whole number that JSON cannot carry. A text that begins with it gets it twice. */
const mark = '#'
const markCode = mark.charCodeAt(0)
/** A NUL in JSON. After another backslash it is not one; then the group is searched for nothing. */
const escapedNul = '\\u0000'

/**
 * A group as one text: sending that to a thread costs half of cloning its hundreds of values. A group with bytes is
 * returned as it is, to be cloned. In both forms booleans are 0 and 1, and texts are storable.
 */
export function toWire(group: Group): string | Group {
  let hasBytes = false
  const writable = mapGroup(group, (values) => {
    let isChanged = false
    for (const value of values) {
      const type = typeof value
      if (type === 'object') hasBytes ||= value !== null
      else if (type === 'bigint' || type === 'boolean' || isMarked(value)) isChanged = true
    }
    return isChanged ? values.map(written) : values
  })
  if (hasBytes) return mapGroup(group, mapCloned)
  const text = JSON.stringify(writable)
  // One search in the whole text costs a fraction of looking at every value, and nearly never finds anything.
  if (!text.includes(escapedNul)) return text
  return JSON.stringify(mapGroup(writable, mapCloned))
}

/** The inverse of `toWire`, value for value. */
export function parseWireText(text: string): Group {
  return mapGroup(JSON.parse(text) as Group, mapRead)
}

function mapGroup(group: Group, map: (values: Values) => Values): Group {
  const mapStatement = ([number, params, rows, expect]: WireStatement): WireStatement => [
    number,
    params === null ? null : map(params),
    rows === null ? null : rows.map(map),
    expect,
  ]
  return { ...group, units: group.units.map((unit): WireUnit => unit.map(mapStatement)) }
}

// Nearly all rows need no change, and checking is much cheaper than copying.

function mapCloned(values: Values): Values {
  return values.some((value) => typeof value === 'boolean' || isUnstorable(value))
    ? values.map(toBinding)
    : values
}

function mapRead(values: Values): Values {
  for (const value of values) if (isMarked(value)) return values.map(read)
  return values
}

/** A value as the driver takes it: booleans are 0 and 1, and texts are storable. */
export function toBinding(value: SqlValue): Exclude<SqlValue, boolean> {
  if (typeof value === 'string') return toStorableText(value)
  return typeof value === 'boolean' ? Number(value) : value
}

function isMarked(value: SqlValue): value is string {
  return typeof value === 'string' && value.charCodeAt(0) === markCode
}

function written(value: SqlValue): SqlValue {
  if (typeof value === 'bigint') return mark + value.toString()
  if (isMarked(value)) return mark + value
  return typeof value === 'boolean' ? Number(value) : value
}

function read(value: SqlValue): SqlValue {
  if (!isMarked(value)) return value
  return value.charCodeAt(1) === markCode ? value.slice(1) : BigInt(value.slice(1))
}
