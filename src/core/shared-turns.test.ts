import { expect, test } from 'bun:test'
import { SharedTurns } from './shared-turns.ts'

/**
 * Streams with `steps` steps each, of a millisecond by their own clock; returns the turn in which each step ran
 * and the order of requests.
 */
async function run({ streams, steps, turnMs }: { streams: number; steps: number; turnMs: number }) {
  let nowMs = 0
  let turn = 0
  let isOver = false
  const turns = new SharedTurns(turnMs, { monotonicMs: () => nowMs })
  const ran: { turn: number; asked: number }[] = []
  let asked = 0
  const next = () => {
    turn += 1
    if (!isOver) setImmediate(next)
  }
  next()
  const stream = async () => {
    for (let step = 0; step < steps; step += 1) {
      asked += 1
      const own = asked
      const waiting = turns.next()
      if (waiting !== null) await waiting
      ran.push({ turn, asked: own })
      nowMs += 1
    }
  }
  await Promise.all(Array.from({ length: streams }, stream))
  isOver = true
  return ran
}

test('steps that are ready at once are spread over turns, and none of the turns becomes long', async () => {
  const ran = await run({ streams: 100, steps: 3, turnMs: 4 })
  expect(ran).toHaveLength(300)
  const ofTurn = Map.groupBy(ran, ({ turn }) => turn)
  expect(Math.max(...[...ofTurn.values()].map((steps) => steps.length))).toBeLessThanOrEqual(5)
})

test('steps run in the order in which they were asked for', async () => {
  const ran = await run({ streams: 30, steps: 5, turnMs: 2 })
  expect(ran.map(({ asked }) => asked)).toEqual(Array.from({ length: 150 }, (_, index) => index + 1))
})

test('a step that is alone runs at once, turn after turn', async () => {
  let nowMs = 0
  const turns = new SharedTurns(4, { monotonicMs: () => nowMs })
  for (let turn = 0; turn < 3; turn += 1) {
    for (let step = 0; step < 4; step += 1) {
      expect(turns.next()).toBeNull()
      nowMs += 1
    }
    expect(turns.next()).toBeInstanceOf(Promise)
    await new Promise<void>((resolve) => void setImmediate(resolve))
    await new Promise<void>((resolve) => void setImmediate(resolve))
  }
})

test('streams that wait and then make no step do not delay others', async () => {
  const turns = new SharedTurns(0, { monotonicMs: () => 0 })
  const settled: number[] = []
  for (let index = 0; index < 5; index += 1)
    void Promise.resolve(turns.next()).then(() => settled.push(index))
  for (let turn = 0; turn < 10; turn += 1) await new Promise<void>((resolve) => void setImmediate(resolve))
  expect(settled).toEqual([0, 1, 2, 3, 4])
})
