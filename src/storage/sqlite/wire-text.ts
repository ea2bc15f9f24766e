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

/** A statement in the text. With the fifth member, each row after the first has only what differs from the row before it. */
type TextStatement = WireStatement | [...WireStatement, true]

/** The group as it stands in the text. */
type TextGroup = Omit<Group, 'units'> & { units: TextStatement[][] }

/**
 * A group as one text: sending that to a thread costs half of cloning its hundreds of values. The rows of a statement
 * often differ in few values, and only these are written. A group with bytes is returned as it is, to be cloned. In
 * both forms booleans are 0 and 1, and texts are storable.
 */
export function toWire(group: Group): string | Group {
  const writing = new WrittenGroup()
  const units = group.units.map((unit) => unit.map((statement) => writing.add(statement)))
  if (writing.hasBytes) return mapGroup(group, mapCloned)
  const text = JSON.stringify({ ...group, units })
  // One search in the whole text costs a fraction of looking at every value, and nearly never finds anything.
  if (!text.includes(escapedNul)) return text
  return JSON.stringify({ ...group, units: units.map((unit) => unit.map(mapText)) })
}

class WrittenGroup {
  hasBytes = false

  add([number, params, rows, expect]: WireStatement): TextStatement {
    const ownParams = params === null ? null : this.#whole(params)
    if (rows === null) return [number, ownParams, null, expect]
    const differences = this.#differences(rows)
    if (differences !== null) return [number, ownParams, differences, expect, true]
    return [number, ownParams, this.#wholeRows(rows), expect]
  }

  #wholeRows(rows: readonly Values[]): Values[] {
    return rows.map((values) => this.#whole(values))
  }

  /** Values without a change stay the same list: checking is much cheaper than copying. */
  #whole(values: Values): Values {
    let isChanged = false
    for (const value of values) {
      const type = typeof value
      if (type === 'object') this.hasBytes ||= value !== null
      else if (type === 'bigint' || type === 'boolean' || isMarked(value)) isChanged = true
    }
    return isChanged ? values.map(written) : values
  }

  /** The first row, and for each later one the places and values that differ; null for one row, or for unequal lengths. */
  #differences(rows: readonly Values[]): Values[] | null {
    let before = rows[0]
    if (before === undefined || rows.length === 1) return null
    const found = [this.#whole(before)]
    for (let index = 1; index < rows.length; index += 1) {
      const row = rows[index]
      if (row?.length !== before.length) return null
      const changes: SqlValue[] = []
      for (let at = 0; at < row.length; at += 1) {
        const value = row[at] ?? null
        if (!isSame(value, before[at])) changes.push(at, this.#single(value))
      }
      found.push(changes)
      before = row
    }
    return found
  }

  #single(value: SqlValue): SqlValue {
    if (typeof value === 'object') this.hasBytes ||= value !== null
    return written(value)
  }
}

/** One type after the other, because the compiler then compares them in place, where it would call a function for values of any type. */
function isSame(value: SqlValue, before: SqlValue | undefined): boolean {
  if (typeof value === 'string') return typeof before === 'string' && value === before
  if (typeof value === 'number') return typeof before === 'number' && value === before
  return value === null ? before === null : value === before
}

function mapText([number, params, rows, expect, ...rest]: TextStatement): TextStatement {
  const own = params === null ? null : mapCloned(params)
  return [number, own, rows === null ? null : rows.map(mapCloned), expect, ...rest] as TextStatement
}

/** The inverse of `toWire`, value for value. */
export function parseWireText(text: string): Group {
  const group = JSON.parse(text) as TextGroup
  return { ...group, units: group.units.map((unit): WireUnit => unit.map(readStatement)) }
}

function readStatement([number, params, rows, expect, isDifferent]: TextStatement): WireStatement {
  const own = params === null ? null : mapRead(params)
  if (rows === null) return [number, own, null, expect]
  return [number, own, isDifferent === true ? wholeRows(rows) : rows.map(mapRead), expect]
}

function wholeRows([first = [], ...differences]: readonly Values[]): Values[] {
  let before = mapRead(first)
  const rows = [before]
  for (const changes of differences) {
    const row = before.slice()
    for (let at = 0; at < changes.length; at += 2) {
      const value = changes[at + 1] ?? null
      row[Number(changes[at])] = isMarked(value) ? read(value) : value
    }
    rows.push(row)
    before = row
  }
  return rows
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
