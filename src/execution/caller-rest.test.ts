import { expect, test } from 'bun:test'
import { CallerRest } from './caller-rest.ts'

const longMs = 200

async function restFor(rest: CallerRest, ms: number): Promise<void> {
  rest.begin()
  await Bun.sleep(ms)
  rest.end()
}

test('a long rest counts while the provider’s giving up may still be on its way, and no longer', async () => {
  const rest = new CallerRest(longMs)
  await restFor(rest, longMs + 10)
  expect(rest.wasJustLong).toBe(true)
  await Bun.sleep(longMs + 10)
  expect(rest.wasJustLong).toBe(false)
  await restFor(rest, 10)
  expect(rest.wasJustLong).toBe(false)
})

test('small bites after a long rest do not let it be forgotten', async () => {
  const rest = new CallerRest(longMs)
  await restFor(rest, longMs + 10)
  for (let bite = 0; bite < 5; bite += 1) {
    await Bun.sleep(10)
    await restFor(rest, longMs / 4)
  }
  expect(rest.wasJustLong).toBe(true)
})

test('a caller who takes all in time never rests, however long the whole takes', async () => {
  const rest = new CallerRest(longMs)
  rest.end()
  for (let piece = 0; piece < 12; piece += 1) {
    rest.begin()
    rest.end()
    await Bun.sleep(longMs / 10)
  }
  expect(rest.wasJustLong).toBe(false)
})
