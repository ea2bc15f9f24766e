import { expect, test } from 'bun:test'
import { FairQueue, urgentBeforeMs } from './fair-queue.ts'

const dayMs = 86_400_000

/** A queue of so many places, and the order in which those who wait get one. */
function setUp(places: number) {
  const queue = new FairQueue(() => 0)
  const through: string[] = []
  const mayTake = () => queue.running < places
  const ask = (ownerId: string, workId: string, deadlineMs = dayMs) => {
    const claim = { ownerId, workId, deadlineMs }
    const held: { leave: () => void; stopWaiting: () => boolean } = {
      leave: () => undefined,
      stopWaiting: () => false,
    }
    held.stopWaiting = queue.wait(claim, () => {
      through.push(`${ownerId}${workId}`)
      held.leave = queue.take(claim)
    })
    queue.admit(mayTake)
    return {
      stopWaiting: () => held.stopWaiting(),
      leave: () => {
        held.leave()
        queue.admit(mayTake)
      },
    }
  }
  return { queue, ask, through }
}

test('a free place goes to the owner with the fewest, and among equals to who asked first', () => {
  const { ask, through } = setUp(3)
  const first = [ask('a', '1'), ask('a', '1'), ask('b', '1')]
  for (const owner of ['a', 'b', 'c', 'd']) ask(owner, '2')
  for (const each of first) each.leave()
  expect(through.slice(3)).toEqual(['c2', 'a2', 'b2'])
})

test("an owner's work has equally many places, whatever it asks for", () => {
  const { ask, through } = setUp(4)
  const first = Array.from({ length: 4 }, () => ask('a', 'large'))
  for (let count = 0; count < 8; count += 1) ask('a', 'large')
  for (let count = 0; count < 8; count += 1) ask('a', 'small')
  for (const each of first) each.leave()
  expect(through.slice(4)).toEqual(['asmall', 'asmall', 'alarge', 'alarge'])
})

test('work near its deadline comes before other work of its owner, and not before other owners', () => {
  const { ask, through } = setUp(2)
  const first = [ask('a', 'urgent', urgentBeforeMs - 1), ask('a', 'urgent', urgentBeforeMs - 1)]
  ask('a', 'calm')
  ask('a', 'urgent', urgentBeforeMs - 1)
  ask('a', 'most urgent', 1)
  ask('b', 'calm')
  for (const each of first) each.leave()
  expect(through.slice(2)).toEqual(['bcalm', 'amost urgent'])
})

test('of equal work the nearest deadline comes first', () => {
  const { ask, through } = setUp(1)
  const first = ask('a', 'x')
  ask('b', 'late', 3 * dayMs)
  ask('b', 'soon', 2 * dayMs)
  first.leave()
  expect(through).toEqual(['ax', 'bsoon'])
})

test('whoever stops waiting gets no place, and nothing is remembered of those that are gone', () => {
  const { queue, ask, through } = setUp(1)
  const first = ask('a', '1')
  const second = ask('b', '1')
  expect(second.stopWaiting()).toBe(true)
  expect(second.stopWaiting()).toBe(false)
  first.leave()
  first.leave()
  expect([through, queue.running, queue.waiting, queue.heldBy('a')]).toEqual([['a1'], 0, 0, 0])
})
