import { expect, test } from 'bun:test'
import type { Deployment } from '../canonical/endpoint.ts'
import { createLimiter, concurrencyQueueMax, concurrencyStart } from './limiter.ts'
import type { Permit } from './limiter.ts'

const answered = { type: 'answered', latencyMs: 100 } as const
const refused = { type: 'refused', retryAfterMs: 5_000 } as const

const admissionOf = (priority: 'live' | 'batch') =>
  priority === 'live' ? priority : { ownerId: 'a', workId: 'b', deadlineMs: 86_400_000 }

function setUp(concurrencyMax: number | null = null) {
  const clock = { ms: 0, nowMs: () => 0, monotonicMs: () => clock.ms }
  const wakes: { atMs: number; wake: () => void }[] = []
  const limiter = createLimiter({
    clock,
    wakeAfter: (delayMs, wake) => wakes.push({ atMs: clock.ms + delayMs, wake }),
  })
  const deployment = { id: 'd', concurrencyMax } as Deployment
  const advance = (ms: number) => {
    clock.ms += ms
    // Real timers count whole milliseconds of another clock, so they may fire a fraction early.
    const due = wakes.filter(({ atMs }) => Math.floor(atMs) <= Math.ceil(clock.ms))
    for (const each of due) {
      wakes.splice(wakes.indexOf(each), 1)
      each.wake()
    }
  }
  const now = (priority: 'live' | 'batch'): Permit => {
    const permit = limiter.acquire(deployment, admissionOf(priority))
    if (permit instanceof Promise) throw new Error('there was no place')
    return permit
  }
  const later = (
    priority: 'live' | 'batch',
    signal?: AbortSignal,
  ): { permit: Permit | null; failure: unknown } => {
    const result: { permit: Permit | null; failure: unknown } = { permit: null, failure: null }
    void Promise.resolve(limiter.acquire(deployment, admissionOf(priority), signal)).then(
      (permit) => (result.permit = permit),
      (failure: unknown) => (result.failure = failure),
    )
    return result
  }
  return { limiter, deployment, advance, now, later }
}

const settle = () => new Promise<void>((resolve) => setImmediate(resolve))

test('batch items wait where live calls do not', async () => {
  const { limiter, deployment, now, later } = setUp()
  const permits = Array.from({ length: concurrencyStart }, () => now('batch'))
  expect(limiter.freeFor(deployment)).toBe(0)
  const waiting = later('batch')
  now('live')
  await settle()
  expect(waiting.permit).toBeNull()
  for (const permit of permits.slice(0, 2)) permit.release(answered)
  await settle()
  expect(waiting.permit).not.toBeNull()
})

test("the operator's limit holds for all calls, and live calls pass waiting batch items", async () => {
  const { now, later } = setUp(1)
  const first = now('live')
  const batch = later('batch')
  const live = later('live')
  first.release(answered)
  await settle()
  expect(live.permit).not.toBeNull()
  expect(batch.permit).toBeNull()
  live.permit?.release(answered)
  await settle()
  expect(batch.permit).not.toBeNull()
})

test('a refusal halves the limit once however many calls it met, and batch items rest as long as it said', async () => {
  const { limiter, now, later, advance } = setUp()
  const permits = Array.from({ length: 4 }, () => now('batch'))
  for (const permit of permits) permit.release(refused)
  expect(limiter.states()[0]).toMatchObject({ limit: concurrencyStart / 2, running: 0 })
  const waiting = later('batch')
  advance(4_999)
  await settle()
  expect(waiting.permit).toBeNull()
  advance(1)
  const another = later('batch')
  await settle()
  expect([waiting.permit, another.permit]).not.toContain(null)
})

test('a call that waits for the end of a pause is woken although the timer fires a fraction early', async () => {
  const { advance, now, later } = setUp()
  now('batch').release({ type: 'refused', retryAfterMs: 1_000 })
  const waiting = later('batch')
  advance(999.6)
  await settle()
  expect(waiting.permit).toBeNull()
  advance(1)
  await settle()
  expect(waiting.permit).not.toBeNull()
})

test('a call that waits for the end of a pause is woken once after the pause was prolonged', async () => {
  const { advance, now, later } = setUp()
  const [first, second] = [now('batch'), now('batch')]
  first.release({ type: 'refused', retryAfterMs: 1_000 })
  const waiting = later('batch')
  advance(500)
  second.release({ type: 'refused', retryAfterMs: 2_000 })
  advance(1_000)
  await settle()
  expect(waiting.permit).toBeNull()
  advance(1_000)
  await settle()
  expect(waiting.permit).not.toBeNull()
})

test('a limit that is used grows while answers are as fast as usual', () => {
  const { limiter, now } = setUp()
  const round = (count: number, latencyMs: number) => {
    const permits = Array.from({ length: count }, () => now('batch'))
    for (const permit of permits) permit.release({ type: 'answered', latencyMs })
  }
  for (let i = 0; i < 20; i++) round(concurrencyStart, 100)
  const grown = limiter.states()[0]?.limit ?? 0
  expect(grown).toBeGreaterThan(concurrencyStart)
  for (let i = 0; i < 5; i++) round(concurrencyStart, 100_000)
  for (let i = 0; i < 20; i++) round(1, 100)
  expect(limiter.states()[0]?.limit).toBe(grown)
})

test('the limit doubles in each round until the first refusal or slow answer, and then grows by one', () => {
  const ends = {
    refusal: (permit: Permit) => permit.release(refused),
    'slow answer': (permit: Permit) => permit.release({ type: 'answered', latencyMs: 1_000 }),
  }
  for (const end of Object.values(ends)) {
    const { limiter, deployment, now, advance } = setUp()
    const round = () => {
      const permits = Array.from({ length: limiter.freeFor(deployment) }, () => now('batch'))
      for (const permit of permits) permit.release(answered)
      return permits.length
    }
    // The last places of a round are given back while less than half of the limit is in use, and say nothing.
    expect(round()).toBe(concurrencyStart)
    const doubled = limiter.freeFor(deployment)
    expect(doubled).toBeGreaterThanOrEqual(concurrencyStart + 6)
    end(now('batch'))
    advance(10_000)
    const before = round()
    expect(limiter.freeFor(deployment) - before).toBeLessThanOrEqual(1)
  }
})

test('a place given back twice is one place', () => {
  const { limiter, now } = setUp()
  now('batch')
  const permit = now('batch')
  permit.release(answered)
  permit.release(answered)
  expect(limiter.states()[0]?.running).toBe(1)
})

test('a call that leaves while it waits takes no place, and calls beyond the bound of waiting ones are refused', async () => {
  const { limiter, deployment, now, later } = setUp(1)
  const first = now('live')
  const controller = new AbortController()
  const leaving = later('live', controller.signal)
  controller.abort(new Error('left'))
  await settle()
  expect(leaving.failure).toMatchObject({ message: 'left' })
  expect(later('live', AbortSignal.abort(new Error('gone'))).permit).toBeNull()
  for (let i = 0; i < concurrencyQueueMax; i++) later('batch')
  const refusedWaiter = later('batch')
  await settle()
  expect(refusedWaiter.failure).toMatchObject({ type: 'no_healthy_endpoint' })
  first.release(answered)
  expect(limiter.states()[0]?.running).toBe(1)
  expect(limiter.freeFor(deployment)).toBe(0)
})

test('short places are shared among organizations and their batches, however much one of them asks for', async () => {
  const { limiter, deployment } = setUp(4)
  const acquire = (ownerId: string, workId: string) =>
    limiter.acquire(deployment, { ownerId, workId, deadlineMs: 86_400_000 })
  const through: string[] = []
  const later = (ownerId: string, workId = 'batch') =>
    void Promise.resolve(acquire(ownerId, workId)).then(() => through.push(`${ownerId}/${workId}`))
  const running = [1, 2, 3, 4].map(() => acquire('large', 'batch') as Permit)
  for (let count = 0; count < 20; count += 1) later('large')
  later('small')
  later('small')
  later('large', 'second')
  for (const permit of running) permit.release(answered)
  await settle()
  expect(through).toEqual(['small/batch', 'small/batch', 'large/second', 'large/batch'])
})
