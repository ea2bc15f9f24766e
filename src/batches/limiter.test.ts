import { expect, test } from 'bun:test'
import { createItemLimiter } from './limiter.ts'

test('lets so many through and no more, in the order in which they asked', async () => {
  const limiter = createItemLimiter(2)
  const { signal } = new AbortController()
  const through: number[] = []
  const releases: (() => void)[] = []
  const asks = [0, 1, 2, 3].map(async (ask) => {
    const release = await limiter.acquire(signal)
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

test('who gives up waiting takes no place', async () => {
  const limiter = createItemLimiter(1)
  const release = await limiter.acquire(new AbortController().signal)
  const leaving = new AbortController()
  const waiting = limiter.acquire(leaving.signal)
  leaving.abort()
  expect(await waiting).toBeNull()
  release?.()
  expect(limiter.running).toBe(0)
  expect(await limiter.acquire(leaving.signal)).toBeNull()
})

test('a turn is not lost with who left while being given it', async () => {
  const limiter = createItemLimiter(1)
  const release = await limiter.acquire(new AbortController().signal)
  const leaving = new AbortController()
  const left = limiter.acquire(leaving.signal)
  const next = limiter.acquire(new AbortController().signal)
  release?.()
  leaving.abort()
  expect(await left).toBeNull()
  expect(await next).not.toBeNull()
})
