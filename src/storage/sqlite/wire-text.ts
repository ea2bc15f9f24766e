import type { SqlValue } from '../database.ts'
import type { ToWriter, WireStatement, WireUnit } from './protocol.ts'

type Group = Extract<ToWriter, { kind: 'group' }>
type Values = readonly SqlValue[]

/** Begins a whole number that JSON cannot carry, and doubled a text that begins with it. */
const mark = '#'
const markCode = mark.charCodeAt(0)

/**
 * A group as one text, which crosses to a thread for half of what cloning its hundreds of values costs. When it contains
 * bytes it is cloned after all, and comes back as a group. Booleans have become 0 and 1 in both.
 */
export function toWire(group: Group): string | Group {
  if (group.units.some((unit) => unit.some(hasBytes))) return mapGroup(group, mapFlags)
  return JSON.stringify(mapGroup(group, mapWritten))
}

/** The group again, value for value. */
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

function hasBytes([, params, rows]: WireStatement): boolean {
  if (params?.some(isBytes)) return true
  return rows !== null && rows.some((values) => values.some(isBytes))
}

function isBytes(value: SqlValue): boolean {
  return typeof value === 'object' && value !== null
}

// Nearly all rows are as they have to be: looking is much cheaper than copying.

function mapFlags(values: Values): Values {
  return values.some((value) => typeof value === 'boolean') ? values.map(withoutFlag) : values
}

function mapWritten(values: Values): Values {
  for (const value of values) {
    const type = typeof value
    if (type === 'bigint' || type === 'boolean' || isMarked(value)) return values.map(written)
  }
  return values
}

function mapRead(values: Values): Values {
  for (const value of values) if (isMarked(value)) return values.map(read)
  return values
}

function withoutFlag(value: SqlValue): SqlValue {
  return typeof value === 'boolean' ? Number(value) : value
}

function isMarked(value: SqlValue): value is string {
  return typeof value === 'string' && value.charCodeAt(0) === markCode
}

function written(value: SqlValue): SqlValue {
  if (typeof value === 'bigint') return mark + value.toString()
  return isMarked(value) ? mark + value : withoutFlag(value)
}

function read(value: SqlValue): SqlValue {
  if (!isMarked(value)) return value
  return value.charCodeAt(1) === markCode ? value.slice(1) : BigInt(value.slice(1))
}
