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

test('a long rest counts while the provider’s giving up may still be on its way, and no longer', () => {
  const rest = new CallerRest(longMs)
  restFor(rest, longMs + 10)
  expect(rest.wasJustLong).toBe(true)
  pass(longMs + 10)
  expect(rest.wasJustLong).toBe(false)
  restFor(rest, 10)
  expect(rest.wasJustLong).toBe(false)
})

test('small bites after a long rest do not let it be forgotten', () => {
  const rest = new CallerRest(longMs)
  restFor(rest, longMs + 10)
  for (let bite = 0; bite < 5; bite += 1) {
    pass(10)
    restFor(rest, longMs / 4)
  }
  expect(rest.wasJustLong).toBe(true)
})

test('a caller who takes all in time never rests, however long the whole takes', () => {
  const rest = new CallerRest(longMs)
  rest.end()
  for (let piece = 0; piece < 12; piece += 1) {
    rest.begin()
    rest.end()
    pass(longMs / 10)
  }
  expect(rest.wasJustLong).toBe(false)
})
