import { expect, test } from 'bun:test'
import type { SqlValue } from '../database.ts'
import { parseWireText, toWireText } from './wire-text.ts'

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

test('a group crosses as text and is the same again', () => {
  const group = groupOf([
    0n,
    -61650n,
    9_223_372_036_854_775_807n,
    -9_223_372_036_854_775_808n,
    '',
    '#',
    '##',
    '#12',
    '\u0000"\\\ud83d\ude00',
    0,
    -1.5,
    true,
    false,
    null,
  ])
  const text = toWireText(group)
  expect(text).toBeString()
  expect(parseWireText(text ?? '')).toEqual(group)
})

test('a group with bytes does not cross as text', () => {
  expect(toWireText(groupOf([1, new Uint8Array([1, 2])]))).toBeNull()
})
