import { afterAll, describe, expect, test } from 'bun:test'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { join } from 'node:path'
import { readTestTls, testAuthority } from '../../test/support/test-tls.ts'
import type { UpstreamTarget } from '../canonical/credential.ts'
import { systemClock } from '../core/clock.ts'
import { GatewayError } from '../core/errors.ts'
import type { UpstreamResponse } from './exchange.ts'
import { createTransport } from './http-client.ts'

const stops: (() => void)[] = []
afterAll(() => {
  for (const stop of stops) stop()
})

/** A server that writes what a test says for each request, and counts its connections. */
async function rawServer(onRequest: (socket: Socket, request: number) => void) {
  const seen = { connections: 0, requests: 0, closed: 0 }
  const server = createServer((socket) => {
    seen.connections += 1
    let received = ''
    socket.on('error', () => undefined)
    socket.on('close', () => (seen.closed += 1))
    socket.on('data', (bytes) => {
      received += bytes.toString('latin1')
      if (!received.endsWith('{}')) return
      received = ''
      seen.requests += 1
      onRequest(socket, seen.requests)
    })
  })
  stops.push(() => server.close())
  const isListening = Promise.withResolvers<void>()
  server.listen(0, '127.0.0.1', isListening.resolve)
  await isListening.promise
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen }
}

function targetAt(baseUrl: string): UpstreamTarget {
  return { baseUrl, credential: { reference: { id: 'operator:d', isByok: false }, auth: { type: 'none' } } }
}

function createSender() {
  const transport = createTransport({ clock: systemClock })
  return (baseUrl: string): Promise<UpstreamResponse> =>
    transport.send({ method: 'POST', path: '/x', headers: {}, body: ['{}'] }, targetAt(baseUrl), {
      signal: new AbortController().signal,
      deadlineMs: 10_000,
      firstByteTimeoutMs: 10_000,
    })
}

async function textOf(sending: Promise<UpstreamResponse>): Promise<string> {
  return Buffer.from(await (await sending).readAll(1_000_000)).toString('latin1')
}

async function codeOf(promise: Promise<unknown>): Promise<string> {
  try {
    await promise
  } catch (thrown) {
    if (thrown instanceof GatewayError) return `${thrown.type} ${String(thrown.cause)}`
  }
  return 'it succeeded'
}

async function until(isSo: () => boolean): Promise<void> {
  for (let looks = 0; looks < 500 && !isSo(); looks += 1) await Bun.sleep(10)
  expect(isSo()).toBe(true)
}

const ok = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'

describe('a connection', () => {
  test('serves one request after the other', async () => {
    const { url, seen } = await rawServer((socket) => socket.write(ok))
    const send = createSender()
    for (let count = 0; count < 5; count += 1) expect(await textOf(send(url))).toBe('ok')
    expect(seen.connections).toBe(1)
  })

  test.each([
    ['the server says so', 'HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 2\r\n\r\nok'],
    ['the server speaks HTTP/1.0', 'HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\nok'],
    [
      'the server closes it after no time',
      'HTTP/1.1 200 OK\r\nkeep-alive: timeout=1\r\ncontent-length: 2\r\n\r\nok',
    ],
  ])('serves no second request when %s', async (_, answer) => {
    const { url, seen } = await rawServer((socket) => socket.write(answer))
    const send = createSender()
    expect(await textOf(send(url))).toBe('ok')
    expect(await textOf(send(url))).toBe('ok')
    expect(seen.connections).toBe(2)
    await until(() => seen.closed > 0)
  })

  test('serves no second request when the answer is followed by other bytes', async () => {
    const foreign = 'HTTP/1.1 200 OK\r\ncontent-length: 7\r\n\r\nforeign'
    const { url, seen } = await rawServer((socket) => socket.write(ok + foreign))
    const send = createSender()
    expect(await textOf(send(url))).toBe('ok')
    expect(await textOf(send(url))).toBe('ok')
    expect(seen.connections).toBe(2)
  })

  test('is closed when bytes come without a request', async () => {
    const { url, seen } = await rawServer((socket, request) => {
      socket.write(ok)
      if (request === 1) setTimeout(() => socket.write('HTTP/1.1 200 OK\r\n'), 20)
    })
    const send = createSender()
    expect(await textOf(send(url))).toBe('ok')
    await until(() => seen.closed === 1)
    expect(await textOf(send(url))).toBe('ok')
    expect(seen.connections).toBe(2)
  })

  test('that its server closed meanwhile gets no request', async () => {
    const { url, seen } = await rawServer((socket) => socket.end(ok))
    const send = createSender()
    expect(await textOf(send(url))).toBe('ok')
    await until(() => seen.closed === 1)
    expect(await textOf(send(url))).toBe('ok')
  })

  test('that closes as a request is sent on it again fails the attempt, and the request is not sent twice', async () => {
    const { url, seen } = await rawServer((socket, request) => {
      if (request === 2) socket.end()
      else socket.write(ok)
    })
    const send = createSender()
    expect(await textOf(send(url))).toBe('ok')
    expect(await codeOf(send(url))).toBe(
      'provider_failed Error: connection: closed while a request was sent on it again',
    )
    expect(seen.requests).toBe(2)
  })

  test('is closed after an answer that came before its request was sent', async () => {
    const server = createServer((socket) => {
      socket.on('error', () => undefined)
      socket.once('data', () => {
        socket.pause()
        socket.write('HTTP/1.1 413 Too Large\r\ncontent-length: 2\r\n\r\nno')
      })
    })
    stops.push(() => server.close())
    const isListening = Promise.withResolvers<void>()
    server.listen(0, '127.0.0.1', isListening.resolve)
    await isListening.promise
    const transport = createTransport({ clock: systemClock })
    const { port } = server.address() as AddressInfo
    const body = [Buffer.alloc(30_000_000)]
    const response = await transport.send(
      { method: 'POST', path: '/', headers: {}, body },
      targetAt(`http://127.0.0.1:${port}`),
      { signal: new AbortController().signal, deadlineMs: 10_000, firstByteTimeoutMs: 10_000 },
    )
    expect(response.status).toBe(413)
    expect(Buffer.from(await response.readAll(10)).toString()).toBe('no')
  })
})

test('two credentials never share the bytes of a head, even when all else is equal', async () => {
  const seen: string[] = []
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch({ headers }) {
      seen.push(headers.get('authorization') ?? 'none')
      return new Response('ok')
    },
  })
  stops.push(() => void server.stop(true))
  const transport = createTransport({ clock: systemClock })
  const secrets = ['first', 'second', 'first', 'third']
  for (const secret of secrets) {
    const { reference } = targetAt('').credential
    const auth = { type: 'header', name: 'authorization', prefix: '', secret } as const
    const target = { baseUrl: `http://127.0.0.1:${server.port}`, credential: { reference, auth } }
    const response = await transport.send({ method: 'GET', path: '/', headers: {}, body: null }, target, {
      signal: new AbortController().signal,
      deadlineMs: 10_000,
      firstByteTimeoutMs: 10_000,
    })
    await response.readAll(10)
  }
  expect(seen).toEqual(secrets)
})

test('a reader that stops lets its provider wait, and gets everything later', async () => {
  const total = 64_000_000
  let written = 0
  const { url } = await rawServer((socket) => {
    socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${total}\r\n\r\n`)
    const block = Buffer.alloc(64_000)
    const more = () => {
      while (written < total) {
        written += block.length
        if (!socket.write(block)) return void socket.once('drain', more)
      }
    }
    more()
  })
  const response = await createSender()(url)
  await response.body.read()
  // However busy the machine is: until the provider has written nothing more for a while.
  for (let before = -1; before !== written; await Bun.sleep(500)) before = written
  // The system's own buffers on both sides take some megabytes.
  expect(written).toBeLessThan(24_000_000)
  let bytes = 0
  for (;;) {
    const { done, value } = await response.body.read()
    if (done) break
    bytes += value.length
  }
  expect(bytes).toBeGreaterThan(total - 2_000_000)
  expect(written).toBe(total)
})

test.each(['gzip', 'br', 'zstd', 'deflate'] as const)(
  'a body that a provider compresses unasked, by %s, is unpacked',
  async (encoding) => {
    const text = 'data: {"a":1}\n\n'.repeat(5_000)
    const { gzipSync, brotliCompressSync, zstdCompressSync, deflateSync } = await import('node:zlib')
    const pack = { gzip: gzipSync, br: brotliCompressSync, zstd: zstdCompressSync, deflate: deflateSync }[
      encoding
    ]
    const packed = pack(Buffer.from(text))
    const head = `HTTP/1.1 200 OK\r\ncontent-encoding: ${encoding}\r\ncontent-length: ${packed.length}\r\n\r\n`
    const { url } = await rawServer((socket) => socket.write(Buffer.concat([Buffer.from(head), packed])))
    const send = createSender()
    expect(await textOf(send(url))).toBe(text)
    const broken = await rawServer((socket) =>
      socket.write(`HTTP/1.1 200 OK\r\ncontent-encoding: ${encoding}\r\ncontent-length: 5\r\n\r\nhello`),
    )
    expect(await codeOf(textOf(send(broken.url)))).toStartWith('provider_failed')
  },
)

describe('a certificate', () => {
  /** Asks in a process of its own, which trusts the authority or not; prints what it got, and whether the server got a request. */
  async function ask(name: 'loopback' | 'elsewhere', isTrusted: boolean): Promise<string> {
    let isAsked = false
    const server = Bun.listen({
      hostname: '127.0.0.1',
      port: 0,
      tls: readTestTls(name),
      socket: {
        data(socket) {
          isAsked = true
          socket.write(ok)
        },
      },
    })
    stops.push(() => server.stop(true))
    const program = `
      import { createTransport } from ${JSON.stringify(join(import.meta.dirname, 'http-client.ts'))}
      const transport = createTransport({ clock: { nowMs: Date.now, monotonicMs: () => performance.now() } })
      const target = { baseUrl: 'https://127.0.0.1:${server.port}', credential: { reference: {}, auth: { type: 'none' } } }
      const options = { signal: new AbortController().signal, deadlineMs: 5000, firstByteTimeoutMs: 5000 }
      const sending = transport.send({ method: 'GET', path: '/', headers: {}, body: null }, target, options)
      console.log(await sending.then(({ status }) => status, ({ cause }) => String(cause)))
      process.exit(0)`
    const process = Bun.spawn([Bun.argv[0] ?? '', '-e', program], {
      env: { ...Bun.env, ...(isTrusted ? { NODE_EXTRA_CA_CERTS: testAuthority } : {}) },
    })
    const said = (await new Response(process.stdout).text()).trim()
    return `${said}, ${isAsked ? 'asked' : 'not asked'}`
  }

  test('of a trusted authority and of this name is taken', async () => {
    expect(await ask('loopback', true)).toBe('200, asked')
  })

  test('of an unknown authority gets no byte of a request', async () => {
    expect(await ask('loopback', false)).toBe('Error: connection: UNABLE_TO_VERIFY_LEAF_SIGNATURE, not asked')
  })

  test('of another name gets no byte of a request', async () => {
    expect(await ask('elsewhere', true)).toBe('Error: connection: ERR_TLS_CERT_ALTNAME_INVALID, not asked')
  })
})
