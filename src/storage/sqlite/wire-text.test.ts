import { expect, test } from 'bun:test'
import type { SqlValue } from '../database.ts'
import { parseWireText, toWire } from './wire-text.ts'

function groupOf(values: SqlValue[]) {
  return {
    kind: 'group' as const,
    reset: true,
    statements: [[7, 'select "#1"']] as [number, string][],
    units: [
      [
        [7, values, [values, []], -1] as [number, SqlValue[], SqlValue[][], number],
        [8, null, null, 1] as [number, null, null, number],
      ],
    ],
  }
}

test('a group passes to the writer thread as text and is equal afterwards', () => {
  const group = groupOf([
    0n,
    -61650n,
    9_223_372_036_854_775_807n,
    -9_223_372_036_854_775_808n,
    '',
    '#',
    '##',
    '#12',
    '\u0001"\\\ud83d\ude00',
    0,
    -1.5,
    null,
  ])
  expect(parseWireText(textOf(toWire(group)))).toEqual(group)
})

test('a group that needs no marks is equal afterwards', () => {
  const group = groupOf([9_007_199_254_740_991, 'a#', null, -1.5])
  expect(parseWireText(textOf(toWire(group)))).toEqual(group)
})

test('a group with bytes does not pass as text', () => {
  const group = groupOf([1, new Uint8Array([1, 2]), 5n, '#'])
  expect(toWire(group)).toEqual(group)
})

test('booleans have become whole numbers, as text and with bytes', () => {
  expect(parseWireText(textOf(toWire(groupOf([true, false, 'x']))))).toEqual(groupOf([1, 0, 'x']))
  const bytes = new Uint8Array([1])
  expect(toWire(groupOf([true, bytes]))).toEqual(groupOf([1, bytes]))
})

test('a text that PostgreSQL would refuse is one that both keep, as text and with bytes', () => {
  expect(parseWireText(textOf(toWire(groupOf(['#\0']))))).toEqual(groupOf(['#\ufffd']))
  const bytes = new Uint8Array([1])
  expect(toWire(groupOf(['\0', bytes]))).toEqual(groupOf(['\ufffd', bytes]))
})

test('rows that differ in few values from the row before are equal afterwards', () => {
  const group = rowsOf(
    ['a', 1, 5n, null, '#x', 0],
    ['a', 2, 5n, null, '#x', 0],
    ['b', 2, 6n, '#', '#x', null],
    ['b', 2, 6n, '#', '#x', null],
    ['a', 1, -5n, null, 'x', -1.5],
  )
  const text = textOf(toWire(group))
  expect(parseWireText(text)).toEqual(group)
  // The repeated value stands in the text once for each of its changes.
  expect(text.split('##x')).toHaveLength(2)
})

test('rows of unequal length, and a later row with bytes or NUL, are equal afterwards', () => {
  const unequal = rowsOf(['a', 1], ['a', 1, 2], ['a'])
  expect(parseWireText(textOf(toWire(unequal)))).toEqual(unequal)
  const withBytes = rowsOf(['a', 1], ['a', new Uint8Array([1])])
  expect(toWire(withBytes)).toEqual(withBytes)
  const withNul = rowsOf(['a', '#\0'], ['b', '#\0'], ['b', true])
  expect(parseWireText(textOf(toWire(withNul)))).toEqual(rowsOf(['a', '#\ufffd'], ['b', '#\ufffd'], ['b', 1]))
})

function rowsOf(...rows: SqlValue[][]) {
  const statement: [number, null, SqlValue[][], number] = [7, null, rows, -1]
  return { kind: 'group' as const, reset: false, statements: [], units: [[statement]] }
}

function textOf(wire: ReturnType<typeof toWire>): string {
  expect(wire).toBeString()
  return typeof wire === 'string' ? wire : ''
}
