import { afterAll, describe, expect, test } from 'bun:test'
import { createServer, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { UpstreamTarget } from '../canonical/credential.ts'
import type { UpstreamRequest } from '../canonical/upstream.ts'
import { systemClock } from '../core/clock.ts'
import { GatewayError } from '../core/errors.ts'
import { testTls } from '../../test/support/test-tls.ts'
import { createTransport } from './http-client.ts'
import type { SendOptions, UpstreamResponse } from './exchange.ts'

/** Each must pass all of this. Under TLS the suite runs in a process of its own, which trusts the certificate. */
const clients = [
  { name: 'sockets', choice: {} },
  { name: 'fetch', choice: { client: 'fetch' } },
] as const
const tls = testTls()
const scheme = tls === null ? 'http' : 'https'
const underTls = tls === null ? {} : { tls }
const encoder = new TextEncoder()
const stops: (() => void)[] = []
afterAll(() => {
  for (const stop of stops) stop()
})

/** An upstream that speaks raw bytes, so that it can break the rules. */
function rawUpstream(
  onRequest: (socket: { write(data: string): number; terminate(): void; end(): void }) => void,
  lastBytes = '{}',
) {
  const closed = Promise.withResolvers<void>()
  const requests: string[] = []
  const server = Bun.listen({
    hostname: '127.0.0.1',
    port: 0,
    ...underTls,
    socket: {
      data(socket, data) {
        requests.push(data.toString())
        if (requests.join('').endsWith(lastBytes)) onRequest(socket)
      },
      close: () => closed.resolve(),
    },
  })
  stops.push(() => server.stop(true))
  return { url: `${scheme}://127.0.0.1:${server.port}/v1`, closed: closed.promise, requests }
}

function httpUpstream(fetch: (request: Request) => Response | Promise<Response>) {
  const server = Bun.serve({ hostname: '127.0.0.1', port: 0, idleTimeout: 0, ...underTls, fetch })
  stops.push(() => void server.stop(true))
  return `${scheme}://127.0.0.1:${server.port}/v1`
}

const request: UpstreamRequest = {
  method: 'POST',
  path: '/chat/completions',
  headers: { 'content-type': 'application/json' },
  body: ['{}'],
}

async function failureOf(promise: Promise<unknown>): Promise<GatewayError> {
  try {
    await promise
  } catch (thrown) {
    if (thrown instanceof GatewayError) return thrown
    throw thrown
  }
  throw new Error('it succeeded')
}

const within = (promise: Promise<unknown>, ms: number) =>
  Promise.race([promise.then(() => true), new Promise((resolve) => setTimeout(() => resolve(false), ms))])

const head = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n'

describe.each(clients)('by $name', ({ choice }) => {
  const transport = createTransport({ clock: systemClock })

  function targetAt(baseUrl: string): UpstreamTarget {
    const reference = { id: 'operator:d', isByok: false }
    return {
      baseUrl,
      ...choice,
      credential: {
        reference,
        auth: { type: 'header', name: 'authorization', prefix: 'Bearer ', secret: 'sk-secret' },
      },
    }
  }

  function send(
    baseUrl: string,
    options: Partial<SendOptions> = {},
    sent = request,
  ): Promise<UpstreamResponse> {
    return transport.send(sent, targetAt(baseUrl), {
      signal: new AbortController().signal,
      deadlineMs: 5_000,
      firstByteTimeoutMs: 5_000,
      ...options,
    })
  }

  describe('a request', () => {
    test('carries the credential, the body and its own headers, and asks for no compression', async () => {
      let seen: Request | null = null
      let body = ''
      const url = httpUpstream(async (received) => {
        seen = received
        body = await received.text()
        return new Response('{"ok":true}')
      })
      const response = await send(url, {}, { ...request, body: ['{"a":', encoder.encode('1'), '}'] })
      expect(response.status).toBe(200)
      expect(new TextDecoder().decode(await response.readAll(100))).toBe('{"ok":true}')
      const received = seen as unknown as Request
      expect(new URL(received.url).pathname).toBe('/v1/chat/completions')
      expect(received.headers.get('authorization')).toBe('Bearer sk-secret')
      expect(received.headers.get('accept-encoding')).toBe('identity')
      expect(received.headers.get('content-type')).toBe('application/json')
      expect(body).toBe('{"a":1}')
    })

    test.each([
      [{ type: 'header', name: 'authorization', prefix: 'Key ' } as const, 'Key hush 1', {}],
      [{ type: 'header', name: 'api-key', prefix: '' } as const, 'hush 1', {}],
      [{ type: 'query', name: 'key' } as const, null, { key: 'hush 1' }],
    ])(
      'carries its credential where %j says and nowhere else, and no refusal repeats it',
      async (auth, header, query) => {
        let seen: Request | null = null
        const url = httpUpstream((received) => {
          seen = received
          return Response.json(
            { said: [...received.headers.values(), received.url].join(' ') },
            { status: 400 },
          )
        })
        const credential = { ...targetAt(url).credential, auth: { ...auth, secret: 'hush 1' } }
        const target = { ...targetAt(url), credential }
        const options = { signal: new AbortController().signal, deadlineMs: 5_000, firstByteTimeoutMs: 5_000 }
        const response = await transport.send({ ...request, path: '/models/m?alt=sse' }, target, options)
        const told = new TextDecoder().decode(await response.readAll(10_000))
        const received = seen as unknown as Request
        const names = ['authorization', 'api-key'].filter((name) => received.headers.has(name))
        expect(names).toEqual(auth.type === 'header' ? [auth.name] : [])
        if (auth.type === 'header') expect(received.headers.get(auth.name)).toBe(header)
        expect(Object.fromEntries(new URL(received.url).searchParams)).toEqual({ alt: 'sse', ...query })
        expect(told).toContain('[secret]')
        expect(told).not.toContain('hush')
      },
    )

    test('may replace the ending of the base URL, and send the key in a separate header', async () => {
      let [path, key, bearer]: (string | null)[] = [null, null, null]
      const url = httpUpstream((received) => {
        path = new URL(received.url).pathname
        key = received.headers.get('x-api-key')
        bearer = received.headers.get('authorization')
        return Response.json({ said: key }, { status: 400 })
      })
      const own = { type: 'header', name: 'x-api-key', prefix: '' } as const
      const sent = {
        ...request,
        path: '/anthropic/v1/messages',
        inPlaceOf: '/openai/v1',
        auth: { authorization: own },
      }
      const response = await send(`${new URL(url).origin}/openai/v1`, {}, sent)
      expect<unknown>([path, key, bearer]).toEqual(['/anthropic/v1/messages', 'sk-secret', null])
      expect(new TextDecoder().decode(await response.readAll(100))).toBe('{"said":"[secret]"}')
    })

    test('carries the operator’s headers, which no refusal repeats', async () => {
      let seen: Request | null = null
      const url = httpUpstream((received) => {
        seen = received
        const { search } = new URL(received.url)
        const said = [...received.headers.values(), search, decodeURIComponent(search)].join(' ')
        return new Response(JSON.stringify({ error: { message: said } }), { status: 400 })
      })
      const additions = {
        headers: { authorization: 'Key hush-1', 'x-team': 'hush-"2"' },
        query: { 'api-version': 'hush 3', sig: 'hush/4' },
      }
      const options = { signal: new AbortController().signal, deadlineMs: 5_000, firstByteTimeoutMs: 5_000 }
      const sent = { ...request, path: '/chat/completions?a=b' }
      const response = await transport.send(
        sent,
        { ...targetAt(url), credential: { ...targetAt(url).credential, additions } },
        options,
      )
      const told = new TextDecoder().decode(await response.readAll(10_000))
      const received = seen as unknown as Request
      expect(received.headers.get('authorization')).toBe('Key hush-1')
      expect(received.headers.get('x-team')).toBe('hush-"2"')
      expect(Object.fromEntries(new URL(received.url).searchParams)).toEqual({ a: 'b', ...additions.query })
      expect(told).toContain('[secret]')
      expect(told).not.toContain('hush')
    })

    test('has its own body, whatever is sent after it from the same memory', async () => {
      const url = httpUpstream(async (received) => new Response(await received.bytes()))
      const sizes = [900_000, 10, 2_500_000, 300_000, 900_000, 0, 900_000, 70_000]
      const sent = sizes.map((size, index) => Buffer.alloc(size, index + 1))
      const answers = await Promise.all(
        sent.map(async (bytes) => {
          const response = await send(url, {}, { ...request, body: ['<é', bytes, '>'] })
          return Buffer.from(await response.readAll(10_000_000))
        }),
      )
      for (const [index, bytes] of sent.entries()) {
        const expected = Buffer.concat([Buffer.from('<é'), bytes, Buffer.from('>')])
        expect(answers[index]?.equals(expected)).toBe(true)
      }
    })

    test('streams a body with the length it was promised', async () => {
      const upstream = rawUpstream(
        (socket) => socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'),
        'hello',
      )
      const response = await send(
        upstream.url,
        {},
        {
          ...request,
          body: {
            contentLength: 5,
            open: () =>
              new ReadableStream({
                pull(controller) {
                  controller.enqueue(encoder.encode('hello'))
                  controller.close()
                },
              }),
          },
        },
      )
      await response.readAll(10)
      const received = upstream.requests.join('').toLowerCase()
      expect(received).toContain('content-length: 5')
      expect(received).not.toContain('transfer-encoding')
      expect(received.endsWith('hello')).toBe(true)
    })

    test('arrives intact, although each of its pieces is written over the one before', async () => {
      const pieces = 40
      const memory = new Uint8Array(262_144)
      const arrived: Buffer[] = []
      const url = httpUpstream(async ({ body }) => {
        for await (const bytes of body ?? []) {
          arrived.push(Buffer.from(bytes))
          // Slower than it is sent, so that pieces wait on the way.
          await Bun.sleep(2)
        }
        return Response.json({})
      })
      let piece = 0
      const open = () =>
        new ReadableStream<Uint8Array>(
          {
            pull(controller) {
              if (piece === pieces) return controller.close()
              piece += 1
              controller.enqueue(memory.fill(piece))
            },
          },
          { highWaterMark: 0 },
        )
      const response = await send(
        url,
        {},
        { ...request, body: { contentLength: pieces * memory.length, open } },
      )
      await response.readAll(10)
      const expected = Array.from({ length: pieces }, (_, index) => Buffer.alloc(memory.length, index + 1))
      expect(Buffer.concat(arrived).equals(Buffer.concat(expected))).toBe(true)
    })

    test('is not sent for a caller who has already left', async () => {
      const controller = new AbortController()
      controller.abort()
      expect((await failureOf(send('http://127.0.0.1:1', { signal: controller.signal }))).type).toBe(
        'deadline',
      )
    })
  })

  describe('an upstream that fails', () => {
    test('and cannot be reached is a failed provider whose message names no host', async () => {
      const error = await failureOf(send('http://127.0.0.1:1/v1'))
      expect(error.type).toBe('provider_failed')
      expect(`${error.message} ${String(error.cause)}`).not.toContain('127.0.0.1')
    })

    test('and is not reached because this process has no descriptors left has not failed', async () => {
      const short = createTransport({ clock: systemClock, descriptors: { areUsedUp: () => true } })
      const sending = short.send(request, targetAt('http://127.0.0.1:1/v1'), {
        signal: new AbortController().signal,
        deadlineMs: 5_000,
        firstByteTimeoutMs: 5_000,
      })
      expect((await failureOf(sending)).type).toBe('gateway_overloaded')
    })

    test('by never answering is timed out, and its connection is closed', async () => {
      const upstream = rawUpstream(() => undefined)
      const error = await failureOf(send(upstream.url, { firstByteTimeoutMs: 50 }))
      expect(error.type).toBe('provider_timeout')
      expect(error.status).toBe(524)
      expect(await within(upstream.closed, 10_000)).toBe(true)
    })

    test('by using up the whole deadline has its own error type', async () => {
      const upstream = rawUpstream(() => undefined)
      expect((await failureOf(send(upstream.url, { deadlineMs: 50 }))).type).toBe('deadline')
    })

    test('by stalling in the middle is given up after the silence allowed', async () => {
      const upstream = rawUpstream((socket) => socket.write(`${head}1\r\nx\r\n`))
      const response = await send(upstream.url, { idleTimeoutMs: 1_000 })
      expect((await response.body.read()).done).toBe(false)
      const error = await failureOf(response.body.read())
      expect(error.type).toBe('provider_failed')
      expect(error.message).toContain('stopped')
      expect(await within(upstream.closed, 10_000)).toBe(true)
    })

    test('by running past the deadline in the middle is ended there', async () => {
      const upstream = rawUpstream((socket) => socket.write(`${head}1\r\nx\r\n`))
      const response = await send(upstream.url, { deadlineMs: 1_000 })
      await response.body.read()
      expect((await failureOf(response.body.read())).type).toBe('deadline')
    })

    test('by cutting the connection in the middle is a failed provider', async () => {
      const upstream = rawUpstream((socket) => {
        socket.write(`${head}1\r\nx\r\n`)
        setTimeout(() => socket.terminate(), 20)
      })
      const response = await send(upstream.url)
      await response.body.read()
      expect((await failureOf(response.body.read())).type).toBe('provider_failed')
    })

    test('by ending a body before its stated length is a failed provider', async () => {
      const upstream = rawUpstream((socket) => {
        socket.write('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf')
        setTimeout(() => socket.end(), 20)
      })
      const response = await send(upstream.url)
      expect((await failureOf(response.readAll(1_000))).type).toBe('provider_failed')
    })

    test('by redirecting is refused, so that the credential goes nowhere else', async () => {
      let elsewhere = 0
      const target = httpUpstream(() => {
        elsewhere += 1
        return new Response('ok')
      })
      const url = httpUpstream(() => Response.redirect(target, 307))
      expect((await failureOf(send(url))).type).toBe('provider_failed')
      expect(elsewhere).toBe(0)
    })

    test('by sending headers without end is a failed provider', async () => {
      const upstream = rawUpstream((socket) =>
        socket.write(`HTTP/1.1 200 OK\r\nx: ${'a'.repeat(2_000_000)}\r\n\r\n`),
      )
      expect((await failureOf(send(upstream.url))).type).toBe('provider_failed')
    })
  })

  describe('a body', () => {
    test('larger than the limit is a failed provider on success and cut off on an error', async () => {
      const large = httpUpstream(() => new Response('x'.repeat(5_000)))
      expect((await failureOf((await send(large)).readAll(1_000))).type).toBe('provider_failed')
      const error = httpUpstream(() => new Response('x'.repeat(5_000), { status: 500 }))
      expect((await (await send(error)).readAll(1_000)).length).toBe(1_000)
    })

    test('that unpacks to more than the limit is refused as it grows', async () => {
      const bomb = Bun.gzipSync(new Uint8Array(20_000_000))
      const url = httpUpstream(() => new Response(bomb, { headers: { 'content-encoding': 'gzip' } }))
      expect((await failureOf((await send(url)).readAll(1_000_000))).type).toBe('provider_failed')
    })

    test('that is large and flows slowly but steadily is read to its end', async () => {
      const answerSlowly = (_: unknown, answer: ServerResponse) => {
        answer.writeHead(200, { 'content-length': 5_000_000 })
        let pieces = 0
        const timer = setInterval(() => {
          answer.write(Buffer.alloc(500_000))
          if (++pieces < 10) return
          clearInterval(timer)
          answer.end()
        }, 200)
      }
      const server = tls === null ? createServer(answerSlowly) : createTlsServer(tls, answerSlowly)
      stops.push(() => server.close())
      const listening = Promise.withResolvers<void>()
      server.listen(0, '127.0.0.1', listening.resolve)
      await listening.promise
      const { port } = server.address() as AddressInfo
      const response = await send(`${scheme}://127.0.0.1:${port}/v1`, { idleTimeoutMs: 1_500 })
      expect(response.headers.get('content-length')).toBe('5000000')
      expect((await response.readAll(10_000_000)).length).toBe(5_000_000)
    })

    test('without bytes is empty', async () => {
      const url = httpUpstream(() => new Response(null, { status: 204 }))
      expect((await (await send(url)).readAll(10)).length).toBe(0)
    })

    test('that a slow caller leaves unread does not count as silence', async () => {
      const written = Promise.withResolvers<void>()
      const upstream = rawUpstream((socket) => {
        socket.write(`${head}1\r\nx\r\n`)
        setTimeout(() => {
          socket.write('1\r\ny\r\n0\r\n\r\n')
          written.resolve()
        }, 1_500)
      })
      const response = await send(upstream.url, { idleTimeoutMs: 1_000 })
      await response.body.read()
      // Longer than the silence allowed, with no read under way: the timer must not blame the upstream.
      await written.promise
      expect((await response.body.read()).done).toBe(false)
      expect((await response.body.read()).done).toBe(true)
    })
  })

  describe('leaving', () => {
    test('closes the upstream, whether by cancel or by signal, before and after the first byte', async () => {
      const before = rawUpstream(() => undefined)
      const controller = new AbortController()
      const pending = failureOf(send(before.url, { signal: controller.signal }))
      setTimeout(() => controller.abort(), 20)
      expect((await pending).type).toBe('deadline')
      expect(await within(before.closed, 10_000)).toBe(true)

      const after = rawUpstream((socket) => socket.write(`${head}1\r\nx\r\n`))
      const response = await send(after.url)
      await response.body.read()
      response.body.cancel()
      response.body.cancel()
      expect((await response.body.read()).done).toBe(true)
      expect(await within(after.closed, 10_000)).toBe(true)

      const unread = rawUpstream((socket) => socket.write(`${head}1\r\nx\r\n`))
      const second = new AbortController()
      await send(unread.url, { signal: second.signal })
      second.abort()
      expect(await within(unread.closed, 10_000)).toBe(true)
    })

    test('a thousand times leaves no connection and no memory behind', async () => {
      const rounds = 1_300
      let closed = 0
      const allClosed = Promise.withResolvers<void>()
      const url = httpUpstream((received) => {
        received.signal.addEventListener('abort', () => {
          closed += 1
          if (closed === rounds) allClosed.resolve()
        })
        return new Response(
          new ReadableStream({
            start: (controller) => controller.enqueue(encoder.encode('x'.repeat(16_384))),
          }),
        )
      })
      const round = async () => {
        const response = await send(url)
        await response.body.read()
        response.body.cancel()
      }
      for (let count = 0; count < 300; count += 1) await round()
      Bun.gc(true)
      const residentBefore = process.memoryUsage.rss()
      for (let count = 0; count < rounds - 300; count += 1) await round()
      Bun.gc(true)
      expect(await within(allClosed.promise, 1_000)).toBe(true)
      expect(process.memoryUsage.rss() - residentBefore).toBeLessThan(64_000_000)
    }, 20_000)
  })
})
