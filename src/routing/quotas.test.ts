import { expect, test } from 'bun:test'
import type { Endpoint } from '../canonical/endpoint.ts'
import { createSharedRates, type SharedRates } from '../access/shared-rates.ts'
import { createQuotas } from './quotas.ts'

const minute = 60_000

function endpoint(requestsPerMinute: number | null, tokensPerMinute: number | null = null): Endpoint {
  return { id: 'd/m', deployment: { id: 'd', quota: { requestsPerMinute, tokensPerMinute } } } as Endpoint
}

/** Processes on one database, on a clock that only the test moves. */
function world(count = 1) {
  let nowMs = 1_000_000
  const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs }
  const table = new Map<string, Map<string, number>>()
  const rates: SharedRates[] = Array.from({ length: count }, (_, process) =>
    createSharedRates({
      ownerId: `p${process}`,
      clock,
      repository: {
        exchangeUses: async (uses) => {
          for (const { limitId, count: used } of uses) {
            const owners = table.get(limitId) ?? new Map<string, number>()
            table.set(limitId, owners.set(`p${process}`, used))
          }
          return table
        },
        removeOld: async () => undefined,
      },
    }),
  )
  for (const each of rates) each.stop()
  return {
    quotas: rates.map((each) => createQuotas(each)),
    divide: () => Promise.all(rates.map((each) => each.divide())),
    pass: (ms: number) => void (nowMs += ms),
    now: () => nowMs,
    stop: () => rates.forEach((each) => each.stop()),
  }
}

/** The most that came within any minute. */
function mostInAMinute(times: readonly number[], sizes: readonly number[] = []): number {
  let most = 0
  let sum = 0
  let first = 0
  for (const [at, time] of times.entries()) {
    sum += sizes[at] ?? 1
    while ((times[first] ?? 0) <= time - minute) {
      sum -= sizes[first] ?? 1
      first += 1
    }
    most = Math.max(most, sum)
  }
  return most
}

test('no minute has more requests than the quota, and calls without end use nine tenths of it', async () => {
  for (const quota of [1, 2, 5, 10, 60, 600, 6_000]) {
    const { quotas, pass, now, stop } = world()
    const times: number[] = []
    const place = endpoint(quota)
    for (let step = 0; step < 4 * minute; step += 50) {
      while ((await quotas[0]?.take(place, 0)) === 0) times.push(now())
      pass(50)
    }
    stop()
    expect([quota, mostInAMinute(times) <= Math.max(quota, 1)]).toEqual([quota, true])
    if (quota >= 60) expect(times.length / 4 / quota).toBeGreaterThan(0.9)
  }
})

test('two processes together stay within it, also when the work moves from one to the other', async () => {
  const { quotas, divide, pass, now, stop } = world(2)
  const times: number[] = []
  const place = endpoint(600)
  // Calls of the two in each tenth of a second, first mostly of one and then of the other.
  const phases: (readonly number[])[] = [
    [30, 2],
    [2, 30],
    [15, 15],
  ]
  const demands = phases.flatMap((demand) => Array.from({ length: 80 }, () => demand))
  for (const demand of demands) {
    for (let step = 0; step < 10; step += 1) {
      const calls = demand.flatMap((count, process) => Array.from({ length: count }, () => quotas[process]))
      const waits = await Promise.all(calls.map((own) => own?.take(place, 0)))
      times.push(...waits.filter((waitMs) => waitMs === 0).map(() => now()))
      pass(100)
    }
    await divide()
  }
  stop()
  expect(mostInAMinute(times)).toBeLessThanOrEqual(600)
  expect(times.length / 4 / 600).toBeGreaterThan(0.85)
})

test('nobody is refused while two processes send one and a half times the quota of one of two deployments', async () => {
  const { quotas, divide, pass, stop } = world(2)
  const quota = { requestsPerMinute: 600, tokensPerMinute: 100_000 }
  const places = ['d/0', 'd/1'].map((id) => ({ ...endpoint(null), id, quota }))
  const random = randomFrom(7)
  const call = async (own: (typeof quotas)[number]): Promise<boolean> => {
    const inTurn = random() < 0.5 ? places : places.toReversed()
    for (const place of inTurn) if ((await own.take(place, 110)) === 0) return true
    return false
  }
  let refused = 0
  for (let second = 0; second < 600; second += 1) {
    for (let step = 0; step < 50; step += 1) {
      const asking = quotas.filter(() => random() < 7.5 / 50)
      const answers = await Promise.all(asking.map(call))
      refused += answers.filter((isServed) => !isServed).length
      pass(20)
    }
    await divide()
  }
  stop()
  expect(refused).toBe(0)
})

/** A small generator, so that every run has the same arrivals. */
function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    return state / 2_147_483_648
  }
}

test('a call counts with the tokens that it is expected to use, and then with those that it used', async () => {
  const { quotas, pass, now, stop } = world()
  const [own] = quotas
  const place = endpoint(null, 100_000)
  const times: number[] = []
  const sizes: number[] = []
  for (let step = 0; step < 4 * minute; step += 50) {
    while ((await own?.take(place, 900)) === 0) {
      times.push(now())
      sizes.push(1_100)
      own?.correct(place, 900, 1_100)
    }
    pass(50)
  }
  stop()
  expect(mostInAMinute(times, sizes)).toBeLessThanOrEqual(100_000)
  expect(sizes.reduce((sum, size) => sum + size, 0) / 4 / 100_000).toBeGreaterThan(0.88)
})

test('calls that come at once before the first look is over do not all pass', async () => {
  const { quotas, stop } = world()
  const place = endpoint(null, 2_000)
  const waits = await Promise.all(Array.from({ length: 40 }, () => quotas[0]?.take(place, 495)))
  expect(waits.filter((waitMs) => waitMs === 0).length).toBeLessThanOrEqual(2)
  stop()
})

test('a call that its provider refused gives its tokens back', async () => {
  const { quotas, stop } = world()
  const [own] = quotas
  const place = endpoint(null, 1_000)
  expect(await own?.take(place, 900)).toBe(0)
  expect(await own?.take(place, 900)).toBeGreaterThan(0)
  own?.correct(place, 900, 0)
  expect(await own?.take(place, 900)).toBe(0)
  stop()
})

test('the wait is the true one', async () => {
  const { quotas, pass, stop } = world()
  const [own] = quotas
  const place = endpoint(60)
  while ((await own?.take(place, 0)) === 0);
  const waitMs = Number(await own?.take(place, 0))
  pass(waitMs - 1)
  expect(await own?.take(place, 0)).toBeGreaterThan(0)
  pass(1)
  expect(await own?.take(place, 0)).toBe(0)
  stop()
})

test('a deployment without a quota always has room', () => {
  const { quotas, stop } = world()
  expect(quotas[0]?.take({ id: 'd/m', deployment: { id: 'd' } } as Endpoint, 1e9)).toBe(0)
  stop()
})

test('a quota of a model counts that model alone, and in the place of its deployment’s', async () => {
  const { quotas, stop } = world()
  const [own] = quotas
  const deployment = { id: 'd', quota: { requestsPerMinute: 1, tokensPerMinute: null } }
  const at = (id: string, requestsPerMinute: number | null): Endpoint =>
    ({
      id,
      deployment,
      ...(requestsPerMinute === null ? {} : { quota: { requestsPerMinute, tokensPerMinute: null } }),
    }) as Endpoint
  expect([await own?.take(at('d/a', null), 0), Number(await own?.take(at('d/b', null), 0)) > 0]).toEqual([
    0,
    true,
  ])
  expect([await own?.take(at('d/c', 1), 0), Number(await own?.take(at('d/c', 1), 0)) > 0]).toEqual([0, true])
  expect(await own?.take(at('d/e', 1), 0)).toBe(0)
  stop()
})

test('a call that has room for only a part of its tokens waits, so that no minute has more than pace and burst', async () => {
  const { quotas, pass, now, stop } = world()
  const [own] = quotas
  const place = endpoint(null, 100_000)
  const times: number[] = []
  for (let step = 0; step < 3 * minute; step += 20) {
    while ((await own?.take(place, 900)) === 0) times.push(now())
    pass(20)
  }
  stop()
  // 92,000 at an even pace and 4,000 at once.
  const most = mostInAMinute(
    times,
    times.map(() => 900),
  )
  expect(most).toBeLessThanOrEqual(96_000)
  expect(most).toBeGreaterThan(90_000)
})

test('a call larger than a burst is let through once nothing is used up', async () => {
  const { quotas, pass, stop } = world()
  const [own] = quotas
  const place = endpoint(null, 100_000)
  expect(await own?.take(place, 30_000)).toBe(0)
  const waitMs = (await own?.take(place, 30_000)) ?? 0
  expect(waitMs).toBeGreaterThan(19_000)
  pass(waitMs + 1)
  expect(await own?.take(place, 30_000)).toBe(0)
  stop()
})
