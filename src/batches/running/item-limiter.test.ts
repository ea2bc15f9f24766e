import { expect, test } from 'bun:test'
import type { PlaceClaim } from '../../core/fair-queue.ts'
import { createItemLimiter, itemsPerTurn } from './item-limiter.ts'
import { Ramp, provenMs } from './ramp.ts'

const clock = { nowMs: () => 0, monotonicMs: () => 0 }
const live = { begun: 0, running: 0 }

function claim(ownerId: string): PlaceClaim {
  return { ownerId, workId: 'batch', deadlineMs: 86_400_000 }
}

/** The limits of a process that has run long enough. */
function proven(): Ramp {
  let nowMs = 0
  const ramp = new Ramp({ nowMs: () => nowMs, monotonicMs: () => nowMs })
  nowMs = provenMs
  return ramp
}

test('admits the allowed number of items, in the order in which they asked', async () => {
  const limiter = createItemLimiter(2, proven(), { clock, live })
  const names = ['a', 'b', 'c', 'd']
  const { signal } = new AbortController()
  const through: number[] = []
  const releases: (() => void)[] = []
  const asks = [0, 1, 2, 3].map(async (ask) => {
    const release = await limiter.acquire(claim(names[ask] ?? ''), signal)
    through.push(ask)
    if (release) releases.push(release)
  })
  await Promise.all(asks.slice(0, 2))
  expect(through).toEqual([0, 1])
  releases[0]?.()
  await asks[2]
  expect(through).toEqual([0, 1, 2])
  expect(limiter.running).toBe(2)
  releases[1]?.()
  await asks[3]
  expect(through).toEqual([0, 1, 2, 3])
})

test('an item that gives up waiting takes no place', async () => {
  const limiter = createItemLimiter(1, proven(), { clock, live })
  const release = await limiter.acquire(claim('a'), new AbortController().signal)
  const leaving = new AbortController()
  const waiting = limiter.acquire(claim('a'), leaving.signal)
  leaving.abort()
  expect(await waiting).toBeNull()
  release?.()
  expect(limiter.running).toBe(0)
  expect(await limiter.acquire(claim('a'), leaving.signal)).toBeNull()
})

test('a turn is not lost when the item that gets it gives up at that moment', async () => {
  const limiter = createItemLimiter(1, proven(), { clock, live })
  const release = await limiter.acquire(claim('a'), new AbortController().signal)
  const leaving = new AbortController()
  const left = limiter.acquire(claim('a'), leaving.signal)
  const next = limiter.acquire(claim('a'), new AbortController().signal)
  release?.()
  leaving.abort()
  expect(await left).toBeNull()
  expect(await next).not.toBeNull()
})

test('one organization leaves an eighth of the places free, which another finds at once', async () => {
  const { signal } = new AbortController()
  const limiter = createItemLimiter(16, proven(), { clock, live })
  const releases: ((() => void) | null)[] = []
  const asks = Array.from({ length: 20 }, async () =>
    releases.push(await limiter.acquire(claim('a'), signal)),
  )
  await Promise.all(asks.slice(0, 14))
  await new Promise((resolve) => setTimeout(resolve, 1))
  expect(limiter.running).toBe(14)
  const other = await limiter.acquire(claim('b'), signal)
  expect(limiter.running).toBe(15)
  other?.()
  for (let round = 0; round < 20; round += 1) {
    expect(limiter.running).toBe(Math.min(14, 20 - round))
    releases[round]?.()
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
  expect(limiter.running).toBe(0)
})

test('a freed place goes to the organization with the fewest', async () => {
  const { signal } = new AbortController()
  const limiter = createItemLimiter(3, proven(), { clock, live })
  const releases = [await limiter.acquire(claim('a'), signal), await limiter.acquire(claim('a'), signal)]
  await limiter.acquire(claim('b'), signal)
  const through: string[] = []
  for (const name of ['b', 'a', 'c', 'c']) {
    void (async () => {
      releases.push(await limiter.acquire(claim(name), signal))
      through.push(name)
    })()
  }
  for (const release of releases.splice(0)) {
    release?.()
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
  expect(through).toEqual(['c', 'a'])
})

test('a few items begin in one turn of the event loop, so that live calls get between them', async () => {
  const limiter = createItemLimiter(256, proven(), { clock, live })
  const { signal } = new AbortController()
  const asks = ['a', 'b', 'c', 'd'].flatMap((name) =>
    Array.from({ length: 25 }, () => limiter.acquire(claim(name), signal)),
  )
  const seen: number[] = []
  while (limiter.running < 100) {
    seen.push(limiter.running)
    await new Promise((resolve) => setImmediate(resolve))
  }
  expect(seen[0]).toBe(itemsPerTurn)
  for (const [index, running] of seen.entries())
    expect(running - (seen[index - 1] ?? 0)).toBeLessThanOrEqual(itemsPerTurn)
  expect((await Promise.all(asks)).length).toBe(100)
})
