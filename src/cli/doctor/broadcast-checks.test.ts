import { expect, test } from 'bun:test'
import type { DestinationState } from '../../delivery/broadcasts/broadcast-repository.ts'
import { broadcastFindings } from './broadcast-checks.ts'

const nowMs = 1_750_000_000_000

const stateOf = (change: Partial<DestinationState> = {}): DestinationState => ({
  destination: 'traces',
  waiting: 0,
  oldestAtMs: null,
  kept: 0,
  failingSinceMs: null,
  nextTryMs: 0,
  status: 200,
  problem: null,
  sent: 7,
  failed: 0,
  dropped: 0,
  ...change,
})

const findingsOf = (states: readonly DestinationState[], names: readonly string[] = ['traces']) => [
  ...broadcastFindings(
    states,
    { broadcasts: names.map((name) => ({ name, kind: 'otlp', url: 'x' })) },
    nowMs,
  ),
]

test('a destination that refuses is a problem, with its answer and since when', () => {
  const problem = 'the receiver answered 401'
  const [found] = findingsOf([stateOf({ failingSinceMs: nowMs - 7_200_000, problem, waiting: 12, kept: 3 })])
  expect(found?.level).toBe('problem')
  expect(found?.message).toContain(problem)
  expect(found?.message).toContain('12 wait, 3 given up')
})

test('what nobody tells, what was given up and what is left of a former destination are warnings', () => {
  expect(findingsOf([stateOf({ waiting: 5, oldestAtMs: nowMs - 600_000 })])).toMatchObject([
    { level: 'warning' },
  ])
  expect(findingsOf([stateOf({ kept: 2 })])).toMatchObject([
    { level: 'warning', next: 'npx headrace broadcasts redeliver traces' },
  ])
  expect(findingsOf([stateOf({ waiting: 1 })], [])).toMatchObject([{ level: 'warning' }])
})

test('one that takes posts is fine, and nothing is said without destinations', () => {
  expect(findingsOf([stateOf()])).toMatchObject([{ level: 'ok', message: 'traces: 7 told, 0 wait' }])
  expect(findingsOf([])).toMatchObject([{ level: 'ok' }])
  expect(findingsOf([], [])).toEqual([])
  expect(findingsOf([stateOf()], [])).toEqual([])
})
