import { expect, test } from 'bun:test'
import { BodyMemory, usualBodyMemory, bodiesWaitingMax } from './body-memory.ts'

const { signal } = new AbortController()

/** Whether a wait has ended, after all other tasks ran. */
async function isOver(wait: Promise<void> | null): Promise<boolean> {
  await Bun.sleep(0)
  return wait === null || Bun.peek.status(wait) === 'fulfilled'
}

test('bodies that fit are taken at once, and further ones wait in order until others are given back', async () => {
  const memory = new BodyMemory(100)
  const [first, second, third, fourth] = Array.from({ length: 4 }, () => memory.open(signal))
  expect([first?.grow(60), second?.grow(40)]).toEqual([null, null])
  const waits = [third?.grow(50) ?? null, fourth?.grow(10) ?? null]
  expect(await Promise.all(waits.map(isOver))).toEqual([false, false])
  // This body would fit, but it may not pass one that came first.
  second?.release()
  expect(await Promise.all(waits.map(isOver))).toEqual([false, false])
  first?.release()
  first?.release()
  expect(await Promise.all(waits.map(isOver))).toEqual([true, true])
})

test('one body alone is taken, however large, and goes on growing', () => {
  const memory = new BodyMemory(100)
  const large = memory.open(signal)
  expect([large.grow(90), large.grow(90)]).toEqual([null, null])
  large.release()
  expect(memory.open(signal).grow(100)).toBeNull()
})

test('a caller who leaves while its body waits makes way for those behind it', async () => {
  const memory = new BodyMemory(100)
  expect(memory.open(signal).grow(50)).toBeNull()
  const leaving = new AbortController()
  const waits = memory.open(leaving.signal).grow(80)
  const behind = memory.open(signal).grow(50)
  leaving.abort(new Error('left'))
  expect(await waits?.catch(String)).toBe('Error: left')
  expect(await isOver(behind)).toBe(true)
})

test('when too many wait the next is refused at once', async () => {
  const memory = new BodyMemory(100)
  expect(memory.open(signal).grow(100)).toBeNull()
  for (let count = 0; count < bodiesWaitingMax; count += 1)
    memory
      .open(signal)
      .grow(1)
      ?.catch(() => undefined)
  const refusal: unknown = await memory
    .open(signal)
    .grow(1)
    ?.catch((error: unknown) => error)
  expect(refusal).toMatchObject({ type: 'gateway_overloaded', status: 503, retryAfterSeconds: 2 })
})

test('a caller who waits in vain is told when to try again', async () => {
  const memory = new BodyMemory(100, 20)
  expect(memory.open(signal).grow(100)).toBeNull()
  const refusal: unknown = await memory
    .open(signal)
    .grow(1)
    ?.catch((error: unknown) => error)
  expect(refusal).toMatchObject({ type: 'gateway_overloaded', status: 503, retryAfterSeconds: 2 })
})

test('by default bodies have a quarter of the available memory', () => {
  expect(usualBodyMemory()).toBeGreaterThan(16_000_000)
  expect(usualBodyMemory()).toBeLessThan(1e13)
})
