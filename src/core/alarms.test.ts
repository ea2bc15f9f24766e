import { afterEach, beforeEach, expect, jest, spyOn, test } from 'bun:test'
import { Alarms } from './alarms.ts'

beforeEach(() => void jest.useFakeTimers())
afterEach(() => void jest.useRealTimers())

test('alarms ring once each, soonest first, whatever order they were set in', () => {
  const alarms = new Alarms()
  const rung: string[] = []
  alarms.set(40, () => rung.push('late'))
  alarms.set(10, () => rung.push('soon'))
  alarms.set(25, () => rung.push('between'))
  jest.advanceTimersByTime(24)
  expect(rung).toEqual(['soon'])
  jest.advanceTimersByTime(100)
  expect(rung).toEqual(['soon', 'between', 'late'])
})

test('alarms that a busy process finds all due at once ring soonest first too', () => {
  const alarms = new Alarms()
  const rung: string[] = []
  const clock = spyOn(performance, 'now').mockReturnValue(0)
  alarms.set(40, () => rung.push('late'))
  const between = alarms.set(25, () => rung.push('between'))
  alarms.set(10, () => {
    rung.push('soon')
    alarms.callOff(between)
  })
  alarms.set(30, () => rung.push('after'))
  clock.mockReturnValue(1_000)
  jest.advanceTimersByTime(10)
  clock.mockRestore()
  expect(rung).toEqual(['soon', 'after', 'late'])
})

test('a cancelled alarm does not ring, and later alarms do', () => {
  const alarms = new Alarms()
  const rung: string[] = []
  const first = alarms.set(10, () => rung.push('first'))
  alarms.set(20, () => rung.push('second'))
  alarms.callOff(first)
  alarms.callOff(first)
  jest.advanceTimersByTime(100)
  expect(rung).toEqual(['second'])
})

test('an alarm may set another, or call off one that is due at the same time', () => {
  const alarms = new Alarms()
  const rung: string[] = []
  alarms.set(10, () => {
    rung.push('first')
    alarms.callOff(twin)
    alarms.set(5, () => rung.push('again'))
  })
  const twin = alarms.set(10, () => rung.push('twin'))
  jest.advanceTimersByTime(100)
  expect(rung).toEqual(['first', 'again'])
})
