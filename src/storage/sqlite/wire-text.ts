import type { SqlValue } from '../database.ts'
import type { ToWriter, WireStatement, WireUnit } from './protocol.ts'

type Group = Extract<ToWriter, { kind: 'group' }>

/** Begins a whole number that JSON cannot carry, and doubled a text that begins with it. */
const mark = '#'
const markCode = mark.charCodeAt(0)

/**
 * A group as one text, which crosses to a thread for half of what cloning its hundreds of values costs. Null when it
 * contains bytes: those are cloned.
 */
export function toWireText(group: Group): string | null {
  for (const unit of group.units) if (unit.some(hasBytes)) return null
  return JSON.stringify({
    ...group,
    units: group.units.map((unit) => unit.map((part) => mapValues(part, written))),
  })
}

/** The group again, value for value. */
export function parseWireText(text: string): Group {
  const group = JSON.parse(text) as Group
  return { ...group, units: group.units.map((unit): WireUnit => unit.map((part) => mapValues(part, read))) }
}

function hasBytes([, params, rows]: WireStatement): boolean {
  if (params?.some(isBytes)) return true
  return rows !== null && rows.some((values) => values.some(isBytes))
}

function isBytes(value: SqlValue): boolean {
  return typeof value === 'object' && value !== null
}

function mapValues(
  [number, params, rows, expect]: WireStatement,
  map: (value: SqlValue) => SqlValue,
): WireStatement {
  return [
    number,
    params === null ? null : params.map(map),
    rows === null ? null : rows.map((row) => row.map(map)),
    expect,
  ]
}

function written(value: SqlValue): SqlValue {
  if (typeof value === 'bigint') return mark + value.toString()
  return typeof value === 'string' && value.charCodeAt(0) === markCode ? mark + value : value
}

function read(value: SqlValue): SqlValue {
  if (typeof value !== 'string' || value.charCodeAt(0) !== markCode) return value
  return value.charCodeAt(1) === markCode ? value.slice(1) : BigInt(value.slice(1))
}
