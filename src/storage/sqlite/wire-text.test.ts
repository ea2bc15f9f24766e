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

function textOf(wire: ReturnType<typeof toWire>): string {
  expect(wire).toBeString()
  return typeof wire === 'string' ? wire : ''
}
