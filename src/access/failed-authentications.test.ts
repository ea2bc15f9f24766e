import { expect, test } from 'bun:test'
import { authenticationFailuresPerMinuteMax } from '../core/limits.ts'
import { createFailedAuthentications } from './failed-authentications.ts'

const clock = { nowMs: () => 0, monotonicMs: () => 0 }

test('whoever changes addresses within a network of IPv6 is slowed like one address', () => {
  const failures = createFailedAuthentications(clock)
  for (let count = 0; count < authenticationFailuresPerMinuteMax; count++)
    failures.record(`2001:db8:0:7::${count.toString(16)}`)
  const isRefused = (address: string) => failures.refusalFor(address) !== null
  expect(['2001:db8:0:7::ffff', '2001:db8::7:1:2:3:4', '2001:0db8:0000:0007:0:0:0:9'].map(isRefused)).toEqual(
    [true, true, true],
  )
  expect(
    ['2001:db8:0:8::1', '2001:db8::7', '::1', '198.51.100.1', '::ffff:198.51.100.1'].map(isRefused),
  ).toEqual([false, false, false, false, false])
})

test('addresses of IPv4 are counted one by one, also where they are written as IPv6', () => {
  const failures = createFailedAuthentications(clock)
  for (let count = 0; count < authenticationFailuresPerMinuteMax; count++)
    failures.record('::ffff:198.51.100.1')
  expect(failures.refusalFor('::ffff:198.51.100.1')).not.toBeNull()
  expect(failures.refusalFor('::ffff:198.51.100.2')).toBeNull()
})
