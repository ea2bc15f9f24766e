import { expect, test } from 'bun:test'
import { clientAddress } from './client-address.ts'

test('a client that is not a trusted proxy cannot state its address', () => {
  expect(clientAddress('203.0.113.9', '198.51.100.1', [])).toBe('203.0.113.9')
})

test('behind trusted proxies the nearest address that is not one of them counts', () => {
  const trusted = ['10.0.0.0/8', '192.0.2.7']
  expect(clientAddress('10.1.2.3', '1.1.1.1, 198.51.100.1, 192.0.2.7', trusted)).toBe('198.51.100.1')
  expect(clientAddress('::ffff:10.1.2.3', '198.51.100.1', trusted)).toBe('198.51.100.1')
  expect(clientAddress('10.1.2.3', '10.9.9.9', trusted)).toBe('10.1.2.3')
})

test('the port that a proxy adds to an address is no part of it', () => {
  const trusted = ['10.0.0.0/8']
  expect(clientAddress('10.1.2.3', '198.51.100.1:50123', trusted)).toBe('198.51.100.1')
  expect(clientAddress('10.1.2.3', '198.51.100.1:50123, 10.9.9.9:443', trusted)).toBe('198.51.100.1')
  expect(clientAddress('10.1.2.3', '[2001:db8::7]:443', trusted)).toBe('2001:db8::7')
  expect(clientAddress('10.1.2.3', '2001:db8::7', trusted)).toBe('2001:db8::7')
})
