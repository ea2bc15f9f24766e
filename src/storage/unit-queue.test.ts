import { expect, test } from 'bun:test'
import type { Unit } from './database.ts'
import { UnitQueue, writerBusyRows, writerQueueMax } from './unit-queue.ts'
import type { PendingUnit } from './unit-queue.ts'

const unit: Unit = { name: 'one', statements: [{ sql: 'select 1' }] }

/** A runner that holds each group until the test releases it. */
function createHeldRunner(): {
  groups: (readonly PendingUnit[])[]
  run: (group: readonly PendingUnit[]) => Promise<void>
  next: () => Promise<void>
} {
  const held: PromiseWithResolvers<void>[] = []
  const groups: (readonly PendingUnit[])[] = []
  let arrived = Promise.withResolvers<void>()
  return {
    groups,
    run: async (group) => {
      groups.push(group)
      const gate = Promise.withResolvers<void>()
      held.push(gate)
      arrived.resolve()
      await gate.promise
      for (const pending of group) pending.resolve([])
    },
    next: async () => {
      await arrived.promise
      arrived = Promise.withResolvers<void>()
      held.shift()?.resolve()
    },
  }
}

test('units of one turn of the loop are one group, and later ones wait for it', async () => {
  const runner = createHeldRunner()
  const queue = new UnitQueue({ run: runner.run, groupsMax: 1, rowsMax: 100, spacingMs: 0 })
  const first = [queue.add(unit), queue.add(unit), queue.add(unit)]
  const nextFirst = runner.next()
  await new Promise((resolve) => setImmediate(resolve))
  const second = [queue.add(unit), queue.add(unit)]
  await nextFirst
  await Promise.all(first)
  await runner.next()
  await Promise.all(second)
  expect(runner.groups.map((group) => group.length)).toEqual([3, 2])
  expect(queue.length).toBe(0)
})

test('a group is full at its rows, and a larger unit is a group of its own', async () => {
  const runner = createHeldRunner()
  const queue = new UnitQueue({ run: runner.run, groupsMax: 10, rowsMax: 10, spacingMs: 0 })
  const big: Unit = {
    name: 'big',
    statements: [{ sql: 'insert', rows: Array.from({ length: 50 }, () => [1]) }],
  }
  const all = [
    ...Array.from({ length: 15 }, () => queue.add(unit)),
    queue.add(big),
    queue.add({ ...unit, rowsEstimate: 9 }),
    queue.add(unit),
  ]
  // Those of the later groups are given up on after a while, when this test is long over.
  void Promise.allSettled(all)
  await runner.next()
  const sizes = runner.groups.map((group) => group.length)
  expect(sizes).toEqual([10, 5, 1, 2])
  expect(all.length).toBe(18)
})

test('only after a large group do later units gather for a while', async () => {
  const turn = () => new Promise((resolve) => setImmediate(resolve))
  const groups: number[] = []
  const run = (group: readonly PendingUnit[]) => {
    groups.push(group.length)
    for (const pending of group) pending.resolve([])
    return Promise.resolve()
  }
  const queue = new UnitQueue({ run, groupsMax: 1, rowsMax: 100, spacingMs: 3_600_000 })
  await queue.add({ ...unit, rowsEstimate: writerBusyRows - 1 })
  await turn()
  await queue.add({ ...unit, rowsEstimate: writerBusyRows })
  await turn()
  void queue.add(unit).catch(() => undefined)
  await turn()
  await turn()
  expect(groups).toEqual([1, 1])
  expect(queue.length).toBe(1)
})

test('a full queue refuses at once instead of filling memory', async () => {
  const queue = new UnitQueue({
    run: () => new Promise(() => undefined),
    groupsMax: 1,
    rowsMax: 1,
    spacingMs: 0,
  })
  // Given up on after a while, when this test is long over.
  const given = Array.from({ length: writerQueueMax }, () => queue.add(unit))
  void Promise.allSettled(given)
  const refused = await queue.add(unit).then(
    () => null,
    (error: unknown) => error,
  )
  expect(refused).toMatchObject({ type: 'storage_unavailable' })
  expect(queue.length).toBe(writerQueueMax)
})

test('drain waits for what was accepted, also for what is not yet running', async () => {
  const runner = createHeldRunner()
  const queue = new UnitQueue({ run: runner.run, groupsMax: 1, rowsMax: 1, spacingMs: 0 })
  const finished: number[] = []
  const all = [0, 1].map((index) => queue.add(unit).then(() => finished.push(index)))
  const drained = queue.drain().then(() => finished.length)
  await runner.next()
  await runner.next()
  expect(await drained).toBe(2)
  await Promise.all(all)
})

test('patient units let others go first, and after a while each group has one of them', async () => {
  const runner = createHeldRunner()
  const queue = new UnitQueue({ run: runner.run, groupsMax: 1, rowsMax: 2, spacingMs: 0 })
  const patient = (name: string) => queue.add({ ...unit, name, isPatient: true })
  const namesOf = () => runner.groups.map((group) => group.map(({ unit: { name } }) => name))
  const all = [patient('p1'), patient('p2'), patient('p3'), queue.add(unit), queue.add(unit), queue.add(unit)]
  await runner.next()
  await Bun.sleep(5)
  await runner.next()
  await Bun.sleep(5)
  expect(namesOf()).toEqual([['one', 'one'], ['one'], ['p1', 'p2']])
  all.push(queue.add(unit), queue.add(unit))
  await Bun.sleep(300)
  await runner.next()
  await Bun.sleep(5)
  expect(namesOf().at(-1)).toEqual(['one', 'one', 'p3'])
  await runner.next()
  await Promise.all(all)
  expect(queue.length).toBe(0)
})
