import { expect, test } from 'bun:test'
import { isInsideHost, isPublicAddress } from './public-address.ts'

test('addresses of the public internet are public', () => {
  for (const address of [
    '1.1.1.1',
    '93.184.216.34',
    '172.32.0.1',
    '100.128.0.1',
    '2606:4700::1111',
    '::ffff:8.8.8.8',
  ]) {
    expect([address, isPublicAddress(address)]).toEqual([address, true])
  }
})

test('loopback, private, link-local, shared, reserved and multicast addresses are not, however they are written', () => {
  const refused = [
    '127.0.0.1',
    '127.9.9.9',
    '0.0.0.0',
    '10.1.2.3',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.1.1',
    '169.254.169.254',
    '100.64.0.1',
    '198.18.0.1',
    '224.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    'fe80::1',
    'fe80::1%eth0',
    'fc00::1',
    'fd12::1',
    'ff02::1',
    '::ffff:127.0.0.1',
    '::ffff:10.0.0.1',
    '64:ff9b::7f00:1',
    '2002:7f00:1::',
    '2001:db8::1',
    'not an address',
    '',
  ]
  for (const address of refused) expect([address, isPublicAddress(address)]).toEqual([address, false])
})

test('a private host is recognised by its name', () => {
  const inside = ['localhost', 'vllm', 'a.internal', 'a.svc.cluster.local', '10.0.0.1', '[::1]', '127.0.0.1']
  expect(inside.filter((host) => !isInsideHost(host))).toEqual([])
  const outside = ['api.openai.com', '1.1.1.1', '[2606:4700::1111]', 'local.example']
  expect(outside.filter(isInsideHost)).toEqual([])
})
