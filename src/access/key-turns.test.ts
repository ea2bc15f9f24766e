import { expect, test } from 'bun:test'
import { unknownKeyRefusalEveryMs } from '../core/limits/access.ts'
import { createTurns } from './key-turns.ts'
import { unknownKeyRefusalsMax } from './unknown-keys.ts'

const clock = { nowMs: () => 0, monotonicMs: () => 0 }

/** Uses up the turns of some addresses, and returns which other addresses have to wait. */
function setUp(addressOf: (count: number) => string) {
  const turns = createTurns({
    turnsMax: unknownKeyRefusalsMax,
    everyMs: unknownKeyRefusalEveryMs,
    tooMany: 'Too many.',
    clock,
    wakeAfter: () => undefined,
  })
  const enter = (address: string) => turns.enter(address, false)
  for (let count = 0; count < unknownKeyRefusalsMax; count++) enter(addressOf(count))
  return (address: string) => enter(address).ready !== null
}

test('all addresses of one IPv6 network are slowed like one address', () => {
  const waits = setUp((count) => `2001:db8:0:7::${count.toString(16)}`)
  expect(['2001:db8:0:7::ffff', '2001:db8::7:1:2:3:4', '2001:0db8:0000:0007:0:0:0:9'].map(waits)).toEqual([
    true,
    true,
    true,
  ])
  expect(['2001:db8:0:8::1', '2001:db8::7', '::1', '198.51.100.1', '::ffff:198.51.100.1'].map(waits)).toEqual(
    [false, false, false, false, false],
  )
})

test('addresses of IPv4 are slowed one by one, also where they are written as IPv6', () => {
  const waits = setUp(() => '::ffff:198.51.100.1')
  expect(waits('::ffff:198.51.100.1')).toBe(true)
  expect(waits('::ffff:198.51.100.2')).toBe(false)
})

test('requests whose address is unknown are slowed together, never free', () => {
  const waits = setUp(() => '')
  expect(waits('')).toBe(true)
  expect(waits('198.51.100.1')).toBe(false)
})

test('a request that does not get its turn is told what there are too many of', async () => {
  const tooMany = 'Too many sign-ins come from this address.'
  const turns = createTurns({ turnsMax: 1, everyMs: 1_000, tooMany, clock, wakeAfter: () => undefined })
  turns.enter('198.51.100.1', false)
  const waiting = turns.enter('198.51.100.1', false)
  // The oldest makes room when a thousand wait.
  for (let count = 0; count < 1_000; count++) turns.enter('198.51.100.1', false)
  await expect(waiting.ready).rejects.toThrow(tooMany)
})
