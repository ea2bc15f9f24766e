import { expect, test } from 'bun:test'
import { systemClock } from '../core/clock.ts'
import type { Connection } from './connection.ts'
import type { Connections } from './connections.ts'
import { SocketExchange } from './socket-exchange.ts'

test('a caller who keeps half a megabyte and asks for no more holds no second one', async () => {
  let isPaused = false
  const connection = { pause: () => (isPaused = true), resume: () => (isPaused = false) }
  const connections = { lease: (_origin: unknown, exchange: SocketExchange) => lend(exchange) }
  const lend = (exchange: SocketExchange): void => exchange.onConnection(connection as unknown as Connection)
  const request = { head: 'GET / HTTP/1.1\r\n\r\n', body: null, bodyBytes: 0 }
  const reference = { id: 'operator:x', isByok: false }
  const target = { baseUrl: 'http://127.0.0.1', credential: { reference, auth: { type: 'none' as const } } }
  const options = { signal: new AbortController().signal, deadlineMs: 60_000, firstByteTimeoutMs: 60_000 }
  const exchange = new SocketExchange(request, target, {
    options,
    parts: { clock: systemClock, connections: connections as unknown as Connections, descriptors: null },
  })
  void exchange.send({ hostname: '127.0.0.1', port: 80, isTls: false, resting: [] })
  const first = exchange.read()
  expect(isPaused).toBe(false)
  exchange.onBody(Buffer.alloc(524_288))
  expect((await first).value?.length).toBe(524_288)
  expect(isPaused).toBe(true)

  const second = exchange.read()
  expect(isPaused).toBe(false)
  exchange.onBody(Buffer.from('little'))
  await second
  expect(isPaused).toBe(false)
  exchange.onEnd()
})
