import { expect, test } from 'bun:test'
import { createSharedRates } from './shared-rates.ts'

const [id, perMinute, burstMs] = ['tokens', 6_000, 3_000]

/** Two processes that report to one table, on a clock that only the test moves. */
function world() {
  let nowMs = 1_000_000
  const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs }
  const table = new Map<string, number>()
  const processes = ['a', 'b'].map((ownerId) =>
    createSharedRates({
      ownerId,
      clock,
      repository: {
        exchangeUses: async (uses) => {
          for (const { count } of uses) table.set(ownerId, count)
          return new Map([[id, table]])
        },
        removeOld: async () => undefined,
      },
    }),
  )
  const [one, other] = processes
  if (one === undefined || other === undefined) throw new Error('there are two')
  const second = async () => {
    nowMs += 1_000
    for (const each of processes) await each.divide()
  }
  return { one, other, second, stop: () => processes.forEach((each) => each.stop()) }
}

test('what was used while a share was small does not take its time to run off once the share is large', async () => {
  const { one, other, second, stop } = world()
  await one.look(id, perMinute, burstMs)
  other.spend(id, perMinute, 10_000)
  await second()
  await second()
  // Nearly no share: 100 tokens would take a minute and more.
  one.spend(id, perMinute, 100)
  expect(await one.look(id, perMinute, burstMs)).toBeGreaterThan(30_000)
  for (let count = 0; count < 60; count += 1) {
    one.want(id, perMinute, 10_000)
    await second()
  }
  expect(await one.look(id, perMinute, burstMs)).toBe(0)
  one.spend(id, perMinute, 10_000)
  await second()
  const waitMs = await one.look(id, perMinute, burstMs)
  // 10,000 of 6,000 a minute.
  expect(waitMs).toBeGreaterThan(80_000)
  stop()
})

test('a second without a request leaves most of a share', async () => {
  const { one, other, second, stop } = world()
  for (let count = 0; count < 10; count += 1) {
    for (const each of [one, other]) each.want(id, perMinute, 100)
    await second()
  }
  other.want(id, perMinute, 100)
  await second()
  one.spend(id, perMinute, 150)
  // A share of two fifths has a burst of 120, and the rest of 30 runs off in three quarters of a second.
  expect(await one.look(id, perMinute, burstMs)).toBeLessThan(2_000)
  stop()
})

test('what was refused counts when shares are divided', async () => {
  const { one, other, second, stop } = world()
  await one.look(id, perMinute, burstMs)
  for (let count = 0; count < 20; count += 1) {
    one.want(id, perMinute, 1_000)
    other.spend(id, perMinute, 1_000)
    await second()
  }
  one.spend(id, perMinute, 150)
  expect(await one.look(id, perMinute, burstMs)).toBeLessThan(2_000)
  stop()
})
