import { expect, test } from 'bun:test'
import { dollars, dollarsOf, duration, size, timestamp } from './amounts.ts'
import { createPaint, padded, printable, widthOf } from './paint.ts'
import { renderTable } from './table.ts'

test('amounts are shown to the nanocredit, negative ones with the sign in front', () => {
  expect(dollars(15_000n)).toBe('$0.000015')
  expect(dollars(-2_500_000_000n)).toBe('-$2.5')
  expect(dollarsOf(0.1 + 0.2)).toBe('$0.3')
  expect(dollarsOf(null)).toBe('-')
  expect(dollarsOf(Number.NaN)).toBe('-')
})

test('durations and sizes use the unit that a person would choose', () => {
  expect([0.4, 999, 1_000, 59_900, 61_000].map(duration)).toEqual([
    '0 ms',
    '999 ms',
    '1.0 s',
    '59.9 s',
    '1 min 01 s',
  ])
  expect([0, 999, 1_000, 25_600_000, 3e9].map(size)).toEqual(['0 B', '999 B', '1.0 kB', '25.6 MB', '3.0 GB'])
  expect(timestamp(0)).toBe('1970-01-01 00:00:00')
})

test('colours appear on a terminal only, and NO_COLOR wins', () => {
  expect(createPaint(true, {}).red('x')).toBe('\u001b[31mx\u001b[39m')
  expect(createPaint(false, {}).red('x')).toBe('x')
  expect(createPaint(true, { NO_COLOR: '1' }).red('x')).toBe('x')
  expect(createPaint(false, { FORCE_COLOR: '1' }).red('x')).not.toBe('x')
})

test('text from outside cannot move the cursor', () => {
  expect(printable('a\u001b[2Jb\u0007\nc')).toBe('a?[2Jb?\nc')
})

test('columns line up whatever the colours and accents in them', () => {
  const paint = createPaint(true, {})
  const rows = [
    [paint.green('active'), 'é', '|'],
    ['off', 'longer', '|'],
  ]
  const lines = renderTable(['state', 'name', '|'], rows, createPaint(false, {})).trimEnd().split('\n')
  expect(lines.map(widthOf)).toEqual([17, 17, 17])
  expect(padded('ab', 1)).toBe('ab')
})
