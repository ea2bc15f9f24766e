import { expect, test } from 'bun:test'
import { createItemLimiter } from './item-limiter.ts'
import {
  Ramp,
  durablePerItemAtRisk,
  itemsAtRiskStart,
  partGatherMinMs,
  provenMs,
  partGatherMs,
} from './ramp.ts'

function manualClock() {
  let monotonicMs = 5_000
  return {
    nowMs: () => monotonicMs,
    monotonicMs: () => monotonicMs,
    advance: (ms: number) => void (monotonicMs += ms),
  }
}

function makeDurable(ramp: Ramp, count: number): void {
  for (let item = 0; item < count; item += 1) ramp.gather()
  ramp.settle(count, true)
}

test('begins with few items at risk, and allows more as results become durable', () => {
  const ramp = new Ramp(manualClock())
  expect(ramp.itemsMax).toBe(itemsAtRiskStart)
  makeDurable(ramp, durablePerItemAtRisk * 10)
  expect(ramp.itemsMax).toBe(itemsAtRiskStart + 10)
  ramp.gather()
  ramp.settle(1, false)
  expect([ramp.itemsMax, ramp.gathered]).toEqual([itemsAtRiskStart + 10, 0])
})

test('lets results gather for longer, and all items run, once the process has run for long', () => {
  const clock = manualClock()
  const ramp = new Ramp(clock)
  expect(ramp.gatherMs).toBe(partGatherMinMs)
  clock.advance(provenMs / 2)
  expect([ramp.gatherMs, ramp.isProven]).toEqual([partGatherMs / 2, false])
  expect(ramp.itemsMax).toBeWithin(itemsAtRiskStart * 5, itemsAtRiskStart * 10)
  clock.advance(provenMs / 2)
  expect([ramp.gatherMs, ramp.isProven, ramp.itemsMax]).toEqual([
    partGatherMs,
    true,
    Number.POSITIVE_INFINITY,
  ])
})

test('a segment that was taken over begins with few items even in a process that has run for long', () => {
  const clock = manualClock()
  const whole = new Ramp(clock)
  clock.advance(provenMs)
  const segment = new Ramp(clock, whole)
  expect([segment.itemsMax, segment.gatherMs, segment.isProven]).toEqual([
    itemsAtRiskStart,
    partGatherMinMs,
    false,
  ])
  segment.gather()
  expect(whole.gathered).toBe(1)
  segment.settle(1, true)
  expect(whole.gathered).toBe(0)
})

/** Only a few items begin in one turn of the event loop. */
async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await new Promise((resolve) => setImmediate(resolve))
}

test('items that run and results that are gathered are bounded together', async () => {
  const clock = manualClock()
  const ramp = new Ramp(clock)
  const limiter = createItemLimiter(256, ramp, { clock, live: { begun: 0, running: 0 } })
  const { signal } = new AbortController()
  const releases: ((() => void) | null)[] = []
  const askAll = Array.from({ length: 60 }, async () =>
    releases.push(await limiter.acquire({ ownerId: 'a', workId: 'b', deadlineMs: 0 }, signal)),
  )
  await Promise.all(askAll.slice(0, itemsAtRiskStart))
  expect(limiter.running).toBe(itemsAtRiskStart)
  // Each item that ends leaves a result, which takes its place until it is durable.
  for (const release of releases.slice(0, itemsAtRiskStart / 2)) {
    ramp.gather()
    release?.()
  }
  expect([limiter.running, ramp.gathered, ramp.isTight]).toEqual([8, 8, true])
  ramp.settle(8, true)
  await turns(3)
  expect([limiter.running, ramp.gathered]).toEqual([itemsAtRiskStart + 1, 0])
  clock.advance(provenMs)
  limiter.admit()
  await turns(10)
  expect(limiter.running).toBe(60 - 8)
})
