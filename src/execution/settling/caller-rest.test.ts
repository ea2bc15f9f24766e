import { afterEach, beforeEach, expect, jest, test } from 'bun:test'
import { CallerRest } from './caller-rest.ts'

const longMs = 200

beforeEach(() => void jest.useFakeTimers())
afterEach(() => void jest.useRealTimers())

const pass = (ms: number) => jest.advanceTimersByTime(ms)

function restFor(rest: CallerRest, ms: number): void {
  rest.begin()
  pass(ms)
  rest.end()
}

test('a caller’s long pause counts as long as the provider may have given up because of it, and no longer', () => {
  const rest = new CallerRest(longMs)
  restFor(rest, longMs + 10)
  expect(rest.wasJustLong).toBe(true)
  pass(longMs + 10)
  expect(rest.wasJustLong).toBe(false)
  restFor(rest, 10)
  expect(rest.wasJustLong).toBe(false)
})

test('small reads after a long pause do not make the pause forgotten', () => {
  const rest = new CallerRest(longMs)
  restFor(rest, longMs + 10)
  for (let bite = 0; bite < 5; bite += 1) {
    pass(10)
    restFor(rest, longMs / 4)
  }
  expect(rest.wasJustLong).toBe(true)
})

test('a caller who reads everything in time has no pause, however long the whole takes', () => {
  const rest = new CallerRest(longMs)
  rest.end()
  for (let piece = 0; piece < 12; piece += 1) {
    rest.begin()
    rest.end()
    pass(longMs / 10)
  }
  expect(rest.wasJustLong).toBe(false)
})
