import { expect, test } from 'bun:test'
import { windowStartOf } from './budget-ids.ts'

test('windows begin at midnight UTC, on Monday, and on the first of the month', () => {
  const moment = Date.UTC(2026, 1, 28, 23, 59, 59, 999)
  expect(windowStartOf('daily', moment)).toBe(Date.UTC(2026, 1, 28))
  expect(windowStartOf('weekly', moment)).toBe(Date.UTC(2026, 1, 23))
  expect(windowStartOf('monthly', moment)).toBe(Date.UTC(2026, 1, 1))
  expect(windowStartOf('monthly', moment + 1)).toBe(Date.UTC(2026, 2, 1))
  expect(windowStartOf(null, moment)).toBe(0)
})

test('a week begins on Monday at midnight and not a millisecond before', () => {
  const monday = Date.UTC(2026, 0, 5)
  expect(new Date(monday).getUTCDay()).toBe(1)
  expect(windowStartOf('weekly', monday)).toBe(monday)
  expect(windowStartOf('weekly', monday - 1)).toBe(Date.UTC(2025, 11, 29))
})
