import { expect, test } from 'bun:test'
import {
  circuitItems,
  circuitOpensMs,
  circuitPatienceMs,
  LaneRoom,
  LaneRooms,
  laneRestMaxMs,
  laneRestMs,
} from './lane-room.ts'

const full = { type: 'full', retryAfterMs: null } as const

function setUp() {
  const clock = { ms: 0, nowMs: () => 1_000 + clock.ms, monotonicMs: () => clock.ms }
  const room = new LaneRoom(clock)
  const begin = (organizationId = 'a') => {
    expect(room.hasPlace(organizationId)).toBe(true)
    return room.begin(organizationId)
  }
  return { clock, room, begin }
}

test('a lane takes any number of items until its provider has no room', () => {
  const { room, begin } = setUp()
  const ends = Array.from({ length: 300 }, () => begin())
  expect(room.hasPlace('a')).toBe(true)
  for (const end of ends) end({ type: 'answered' })
  expect(room.fullSinceMs).toBeNull()
})

test('a full lane rests, each time longer while nothing is answered, and is then asked by one item', () => {
  const { clock, room, begin } = setUp()
  const ends = [begin(), begin(), begin()]
  for (const end of ends) end(full)
  // Three refusals of calls that were sent together are one lack of room.
  expect([room.restMs, room.fullSinceMs]).toEqual([laneRestMs, 1_000])
  let expected = laneRestMs
  for (let turn = 0; turn < 10; turn++) {
    expect(room.hasPlace('a')).toBe(false)
    clock.ms += room.restMs
    const end = begin()
    expect(room.hasPlace('a')).toBe(false)
    end(full)
    expected = Math.min(expected * 2, laneRestMaxMs)
    expect(room.restMs).toBe(expected)
  }
  expect(room.fullSinceMs).toBe(1_000)
})

test('each answer makes room for one more, and the next rest is short again', () => {
  const { clock, room, begin } = setUp()
  begin()(full)
  clock.ms += room.restMs
  begin()({ type: 'answered' })
  expect(room.fullSinceMs).toBeNull()
  const ends = [begin(), begin()]
  expect(room.hasPlace('a')).toBe(false)
  for (const end of ends) end({ type: 'answered' })
  const four = [begin(), begin(), begin(), begin()]
  expect(room.hasPlace('a')).toBe(false)
  four[0]?.(full)
  expect(room.restMs).toBe(laneRestMs)
  clock.ms += room.restMs
  // Half of the four that ran, and three of them still do.
  expect(room.hasPlace('a')).toBe(false)
  for (const end of four.slice(1)) end({ type: 'other' })
  begin()
  begin()
  expect(room.hasPlace('a')).toBe(false)
})

test('the wait that a provider names counts, but not beyond the longest rest', () => {
  const { clock, room, begin } = setUp()
  begin()({ type: 'full', retryAfterMs: 42_000 })
  expect(room.restMs).toBe(42_000)
  clock.ms += 42_000
  begin()({ type: 'full', retryAfterMs: 86_400_000 })
  expect(room.restMs).toBe(laneRestMaxMs)
})

test('a short place goes to the organization with fewer of them that wants one now', () => {
  const { clock, room, begin } = setUp()
  begin()(full)
  clock.ms += room.restMs
  begin()({ type: 'answered' })
  const [first] = [begin('a'), begin('a')]
  expect(room.hasPlace('b')).toBe(false)
  first?.({ type: 'other' })
  expect(room.hasPlace('a')).toBe(false)
  begin('b')
  clock.ms += 10_000
  // It is not known to want another one any more.
  expect(room.hasPlace('b')).toBe(false)
})

test('whoever listens is woken by every change, until it stops', () => {
  const { room, begin } = setUp()
  let wakes = 0
  const stop = room.listen(() => wakes++)
  begin()({ type: 'other' })
  expect([wakes, room.isIdle]).toEqual([1, false])
  stop()
  begin()({ type: 'other' })
  expect([wakes, room.isIdle]).toEqual([1, true])
})

test('batches of one lane, model and choice of providers share a room', () => {
  const rooms = new LaneRooms({ nowMs: () => 0, monotonicMs: () => 0 })
  const batch = { lane: 'flex', model: 'a/b', providerOnly: null }
  expect(rooms.of({ ...batch })).toBe(rooms.of(batch))
  for (const other of [{ model: 'a/c' }, { providerOnly: ['x'] }, { lane: 'emulated' }])
    expect(rooms.of({ ...batch, ...other })).not.toBe(rooms.of(batch))
})

const reason = { type: 'provider_failed', message: 'It failed.' }
const failure = (item: number, isAnswered = false) =>
  ({ type: 'failed', item: `item-${item}`, retryAfterMs: null, reason, isAnswered }) as const

test('several items that fail one after the other, with no answer between them, open the circuit', () => {
  const { clock, room, begin } = setUp()
  for (let item = 0; item < circuitItems; item += 1) expect(begin()(failure(item))).toBe('tried')
  // Not within a moment: a burst of failures is no outage yet.
  expect([room.failure, room.restMs]).toEqual([null, 0])
  clock.ms += circuitOpensMs
  expect(begin()(failure(0))).toBe('waits')
  expect([room.failure, room.restMs, room.fullSinceMs]).toEqual([reason, laneRestMs, clock.nowMs()])
  clock.ms += room.restMs
  const asking = begin()
  expect(room.hasPlace('a')).toBe(false)
  expect(asking(failure(7))).toBe('waits')
  expect(room.restMs).toBe(2 * laneRestMs)
  clock.ms += room.restMs
  expect(begin()({ type: 'answered' })).toBe('tried')
  expect([room.failure, room.fullSinceMs]).toEqual([null, null])
  expect(begin()(failure(0))).toBe('tried')
})

test('fewer items that fail again and again, and items that fail among answers, do not open the circuit', () => {
  const { clock, room, begin } = setUp()
  for (let turn = 0; turn < 50; turn += 1) {
    expect(begin()(failure(turn % (circuitItems - 1)))).toBe('tried')
    clock.ms += circuitOpensMs
  }
  begin()({ type: 'answered' })
  for (let turn = 0; turn < 50; turn += 1) {
    expect(begin()(failure(turn))).toBe('tried')
    if (turn % 4 === 3) begin()({ type: 'answered' })
    clock.ms += circuitOpensMs
  }
  expect(room.failure).toBeNull()
})

/** Lets the items of an open circuit ask, one after each rest, until this much time has passed. */
function askFor(ms: number, { clock, room, begin }: ReturnType<typeof setUp>, isAnswered: boolean): void {
  const untilMs = clock.ms + ms
  for (let item = 0; clock.ms < untilMs; item += 1) {
    expect(begin()(failure(item, isAnswered))).not.toBe('given up')
    clock.ms += Math.max(room.restMs, circuitOpensMs / circuitItems)
  }
}

test('a provider that answers every item with its own failure for hours is given up: each item is asked once more', () => {
  const setting = setUp()
  const { clock, room, begin } = setting
  askFor(circuitPatienceMs, setting, true)
  expect(begin()(failure(0, true))).toBe('given up')
  expect([room.failure, room.restMs, room.fullSinceMs]).toEqual([null, 0, null])
  const ends = Array.from({ length: 100 }, () => begin())
  expect(room.hasPlace('a')).toBe(true)
  for (const [item, end] of ends.entries()) expect(end(failure(item, true))).toBe('given up')
  expect(begin()({ type: 'answered' })).toBe('tried')
  expect(begin()(failure(1, true))).toBe('tried')
  // Of a later day nothing is concluded from this one.
  askFor(circuitPatienceMs, setting, true)
  expect(begin()(failure(0, true))).toBe('given up')
  clock.ms += 2 * laneRestMaxMs + 1
  expect(begin()(failure(2, true))).toBe('tried')
})

test('a provider that is not reached is waited for, also after it had answered with failures', () => {
  const setting = setUp()
  const { clock, begin } = setting
  askFor(10 * circuitPatienceMs, setting, false)
  askFor(circuitPatienceMs / 2, setting, true)
  expect(begin()(failure(0, false))).toBe('waits')
  clock.ms += laneRestMaxMs
  askFor(circuitPatienceMs - 2 * laneRestMaxMs, setting, true)
  expect(begin()(failure(0, true))).toBe('waits')
})
