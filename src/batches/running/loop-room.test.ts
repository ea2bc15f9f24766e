import { expect, test } from 'bun:test'
import { itemsBesideMin, loopLookMs, LoopRoom } from './loop-room.ts'

function setUp({ running = 256, liveRunning = 1 } = {}) {
  const state = { ms: 0, running, live: { begun: 0, running: liveRunning }, rooms: 0, isWatched: false }
  let look: () => void = () => undefined
  const room = new LoopRoom(
    {
      itemsMax: 256,
      live: state.live,
      clock: { monotonicMs: () => state.ms },
      tick: (_everyMs, own) => {
        look = own
        state.isWatched = true
        return () => (state.isWatched = false)
      },
    },
    () => state.running,
  )
  room.watch(() => (state.rooms += 1))
  /** Turns of the event loop that are late by so much. */
  const turns = (count: number, lateMs: number) => {
    for (let turn = 0; turn < count; turn += 1) {
      state.ms += loopLookMs + lateMs
      look()
    }
  }
  return { state, room, turns }
}

test('items give places up while turns of the event loop are long and live calls run, and never all of them', () => {
  const { room, turns } = setUp()
  turns(2, 20)
  expect(room.itemsMax).toBeLessThan(256)
  turns(50, 20)
  expect(room.itemsMax).toBe(itemsBesideMin)
})

test('the places come back when turns are short again, and the limiter is called back for each', () => {
  const { state, room, turns } = setUp()
  turns(50, 20)
  turns(60, 0)
  expect(room.itemsMax).toBe(256)
  expect(state.rooms).toBeGreaterThan(10)
})

test('turns of a middle length change nothing', () => {
  const { room, turns } = setUp()
  turns(3, 20)
  turns(20, 3)
  const before = room.itemsMax
  turns(20, 3)
  expect(room.itemsMax).toBe(before)
  expect(before).toBeLessThan(256)
})

test('without a live call for two seconds long turns take no places away', () => {
  const { state, room, turns } = setUp()
  turns(50, 20)
  state.live.running = 0
  turns(40, 20)
  expect(room.itemsMax).toBe(itemsBesideMin)
  turns(12, 20)
  expect(room.itemsMax).toBe(256)
  // A call that began and ended between two looks counts too.
  state.live.begun += 1
  turns(2, 20)
  expect(room.itemsMax).toBeLessThan(256)
})

test('nothing is measured while no item runs', () => {
  const { state, room, turns } = setUp()
  turns(20, 20)
  state.running = 0
  turns(1, 20)
  expect([state.isWatched, room.itemsMax]).toEqual([false, 256])
})
