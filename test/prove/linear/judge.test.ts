import { expect, test } from 'bun:test'
import { judgeCase, type Judgement } from './judge.ts'

/** A work whose turns take as long as is said, by a clock that goes on in steps. */
function judgeTurns(
  turnsOf: (count: number) => readonly number[],
  { stepMs = 0, floorMs = 1 } = {},
): Judgement {
  let nowMs = 0
  const read = () => (stepMs === 0 ? nowMs : Math.floor(nowMs / stepMs) * stepMs)
  const measured = (ms: number) => {
    const before = read()
    nowMs += ms
    return read() - before
  }
  return judgeCase({
    workOf: (count) => ({ floorMs: () => floorMs, run: () => turnsOf(count).map(measured) }),
  })
}

const evenly = (allMs: number, turns: number): number[] => Array.from({ length: turns }, () => allMs / turns)

test('a square is found, however short it is', () => {
  for (const ms of [90, 200, 5_000]) {
    const { ratio, problem } = judgeTurns((count) => evenly(ms * (count / 40_000) ** 2, 100))
    expect(ratio).toBeCloseTo(16)
    expect(problem).toBe(`4 times as many cost 16.0 times as much (${ms} ms)`)
  }
})

test('a square beside work that is linear is found once it is half of it', () => {
  const half = (count: number) => evenly(60 * (count / 40_000) + 60 * (count / 40_000) ** 2, 100)
  expect(judgeTurns(half).problem).toBe('4 times as many cost 6.4 times as much (120 ms)')
})

test('linear work is no square, by a clock of long steps neither', () => {
  for (const ms of [84, 90, 110, 300])
    for (const stepMs of [0, 4]) {
      const { ratio, problem } = judgeTurns((count) => evenly(ms * (count / 40_000), 20), { stepMs })
      expect(problem).toBe('')
      expect(ratio === 0 || Math.abs(ratio - 4) < 1).toBe(true)
    }
})

test('a square is found by a clock of long steps', () => {
  const square = (count: number) => evenly(90 * (count / 40_000) ** 2, 20)
  expect(judgeTurns(square, { stepMs: 4 }).ratio).toBeGreaterThan(10)
})

test('a long turn is found, and a parse and a stringify are not blamed on it', () => {
  const turns = (count: number) => [...evenly(count / 1_000, 10), 70 * (count / 40_000)]
  expect(judgeTurns(turns, { floorMs: 10 }).problem).toBe('a turn of 60 ms beyond a parse and a stringify')
  expect(judgeTurns(turns, { floorMs: 30 }).problem).toBe('')
})

test('one run that others have disturbed is run again', () => {
  let runs = 0
  const disturbed = (count: number) => {
    runs += 1
    return evenly((count / 400) * (runs < 8 && count === 40_000 ? 3 : 1), 10)
  }
  expect(judgeTurns(disturbed).problem).toBe('')
})
