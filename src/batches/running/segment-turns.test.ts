import { expect, test } from 'bun:test'
import { urgentBeforeMs } from '../../core/fair-queue.ts'
import {
  type Contender,
  type HeldSegment,
  segmentsAtOnce,
  segmentTurnMs,
  SegmentTurns,
} from './segment-turns.ts'

const dayMs = 86_400_000

function setUp() {
  const clock = { ms: 0, nowMs: () => clock.ms, monotonicMs: () => clock.ms }
  return { clock, turns: new SegmentTurns(clock) }
}

function batch(organizationId: string, name = 'batch', expiresAtMs = dayMs): Contender {
  return { id: `${organizationId}/${name}`, organizationId, expiresAtMs }
}

function held(of: Contender, sinceMs = 0): HeldSegment {
  return { batch: of, sinceMs, yieldedMs: null }
}

const idsOf = (batches: readonly Contender[]) => batches.map(({ id }) => id)

test('the organization with the fewest segments comes first, and of its batches the one with the fewest', () => {
  const { turns } = setUp()
  const [large, small, other] = [batch('a', 'large', dayMs - 1), batch('a', 'small'), batch('b')]
  expect(idsOf(turns.order([large, small, other], [held(large)]))).toEqual(['b/batch', 'a/small', 'a/large'])
})

test("an urgent batch comes before its own organization's others and before organizations with equally many", () => {
  const { turns } = setUp()
  const urgent = batch('a', 'urgent', urgentBeforeMs - 1)
  expect(idsOf(turns.order([batch('a'), batch('b'), urgent], [held(urgent), held(batch('b'))]))).toEqual([
    'a/urgent',
    'a/batch',
    'b/batch',
  ])
})

test('more organizations than places take turns', () => {
  const { turns } = setUp()
  const all = Array.from({ length: segmentsAtOnce + 3 }, (_, index) =>
    batch(`org${index}`, 'batch', dayMs + index),
  )
  for (const each of turns.order(all, []).slice(0, segmentsAtOnce)) turns.note(each)
  const next = turns.order(all, []).slice(0, 4)
  expect(idsOf(next)).toEqual(['org8/batch', 'org9/batch', 'org10/batch', 'org0/batch'])
})

test('an organization without a segment gets one of those of the organization with the most', () => {
  const { clock, turns } = setUp()
  const [large, middle] = [batch('a', 'large'), batch('a', 'middle')]
  const all = [held(large, 3), held(large, 1), held(middle, 0), held(batch('b'), 0)]
  expect(turns.giver(batch('c'), all)).toBe(all[1] ?? null)
  clock.ms = 5
  for (const each of all.slice(0, 2)) each.yieldedMs = 4
  expect(turns.promised(all)).toEqual(all.slice(0, 2))
  // What stays is one segment each: nobody has two more than the newcomer.
  expect(turns.giver(batch('c'), all)).toBeNull()
  clock.ms = segmentTurnMs
  expect(turns.giver(batch('c'), all)).toBe(all[2] ?? null)
})

test('a batch takes no place of a batch of its organization that has as many', () => {
  const { clock, turns } = setUp()
  const all = [held(batch('a', 'one')), held(batch('a', 'two'))]
  clock.ms = segmentTurnMs
  expect(turns.giver(batch('a', 'one'), all)).toBeNull()
  expect(turns.giver(batch('a', 'three'), all)).toBe(all[0] ?? null)
})

test('a segment that keeps its place for long after it was asked is not counted on', () => {
  const { clock, turns } = setUp()
  const slow = { ...held(batch('a')), yieldedMs: 0 }
  expect(turns.promised([slow])).toEqual([slow])
  clock.ms = 60_000
  expect(turns.promised([slow])).toEqual([])
})
