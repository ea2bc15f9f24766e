import { expect, test } from 'bun:test'
import { createUploadPlaces, uploadPlaceRetrySeconds, uploadPlaceWaitMs } from './upload-places.ts'

/** Upload places whose waits end when the test ends them. */
function setUp(max: number) {
  const stopping = new AbortController()
  const waits: { ms: number; end(): void }[] = []
  const places = createUploadPlaces(max, (ms, signal) => {
    const { promise, resolve } = Promise.withResolvers<void>()
    waits.push({ ms, end: resolve })
    signal?.addEventListener('abort', () => resolve(), { once: true })
    return promise
  })
  const entered: string[] = []
  const ask = (organizationId: string) => {
    const asked = places.acquire(organizationId, stopping.signal).then((leave) => {
      entered.push(organizationId)
      return leave
    })
    asked.catch(() => undefined)
    return asked
  }
  return { places, stopping, waits, ask, inside: () => entered.join('') }
}

const turn = () => Bun.sleep(0)

test('a single organization gets half of the places, so that other organizations find some', async () => {
  const { ask, inside, places } = setUp(8)
  for (let count = 0; count < 6; count += 1) void ask('a')
  await turn()
  expect(inside()).toBe('aaaa')
  for (let count = 0; count < 6; count += 1) void ask('b')
  await turn()
  expect(inside()).toBe('aaaabb')
  void ask('c')
  await turn()
  expect(inside()).toBe('aaaabbc')
  expect(places.running).toBe(7)
})

test('a free place goes to the first upload that may have it', async () => {
  const { ask, inside } = setUp(4)
  const [first] = [await ask('a'), await ask('a')]
  const other = await ask('b')
  await ask('c')
  for (const organizationId of ['a', 'd', 'b']) void ask(organizationId)
  await turn()
  expect(inside()).toBe('aabc')
  other()
  await turn()
  expect(inside()).toBe('aabcd')
  first()
  await turn()
  expect(inside()).toBe('aabcdb')
})

test('a caller who waits too long is told whose uploads are in the way, and when to try again', async () => {
  const { ask, waits, places } = setUp(2)
  await ask('a')
  const again = ask('a')
  await ask('b')
  const others = ask('c')
  await turn()
  expect(waits.map(({ ms }) => ms)).toEqual([uploadPlaceWaitMs, uploadPlaceWaitMs])
  for (const { end } of waits) end()
  await expect(again).rejects.toMatchObject({
    type: 'rate_limit_exceeded',
    message:
      'Your organization is uploading a batch already, which is its share now. Send this one when one of them has arrived.',
    retryAfterSeconds: uploadPlaceRetrySeconds,
  })
  await expect(others).rejects.toMatchObject({
    type: 'batch_unavailable',
    retryAfterSeconds: uploadPlaceRetrySeconds,
  })
  expect(places.running).toBe(2)
})

test('an upload that got its place at the moment when its wait ended keeps it, and no place is lost', async () => {
  const { ask, waits, places } = setUp(2)
  const leave = await ask('a')
  const next = ask('a')
  waits[0]?.end()
  leave()
  ;(await next)()
  expect(places.running).toBe(0)
})

test('a gateway that stops admits no upload', async () => {
  const { ask, stopping, places } = setUp(2)
  await ask('a')
  const waiting = ask('a')
  stopping.abort()
  await expect(waiting).rejects.toMatchObject({ type: 'batch_unavailable' })
  expect(places.running).toBe(1)
})
