import { afterAll, expect, test } from 'bun:test'
import { connect, type Socket } from 'node:net'
import { unknownKeyRefusalsMax } from '../../src/access/unknown-keys.ts'
import { startTestGateway } from '../support/gateway.ts'
import { isEnvelope } from './judge.ts'

// What no HTTP client would send: each is answered or its connection closed, soon, and others do not notice.

const lines: Record<string, unknown>[] = []
const gateway = await startTestGateway({
  logLevel: 'info',
  hooks: { writeLog: (line) => void lines.push(JSON.parse(line) as Record<string, unknown>) },
})
const port = Number(new URL(gateway.listen()).port)
afterAll(() => gateway.stop())

const answerMsMax = 2_000
const body = JSON.stringify({ model: 'openai/gpt-4o-mini', messages: [{ role: 'user', content: 'hi' }] })

interface Exchange {
  /** All that came back. */
  text: string
  isClosed: boolean
}

/** Sends bytes and listens until the connection closes or an answer is whole. */
async function exchange(sent: string | Uint8Array, { half = false } = {}): Promise<Exchange> {
  const socket = connect(port, '127.0.0.1')
  const done = Promise.withResolvers<boolean>()
  let text = ''
  socket.on('data', (chunk) => {
    text += chunk.toString('latin1')
    if (isWhole(text)) done.resolve(false)
  })
  socket.on('error', () => done.resolve(true))
  socket.on('close', () => done.resolve(true))
  const timer = setTimeout(() => done.resolve(false), answerMsMax)
  socket.write(sent)
  if (half) socket.end()
  const isClosed = await done.promise
  clearTimeout(timer)
  socket.destroy()
  return { text, isClosed }
}

function isWhole(text: string): boolean {
  const end = text.indexOf('\r\n\r\n')
  if (end === -1) return false
  const length = /^content-length: (\d+)/im.exec(text.slice(0, end))?.[1]
  return length !== undefined && text.length - end - 4 >= Number(length)
}

const statusOf = (text: string) => Number(/^HTTP\/1\.[01] (\d{3})/.exec(text)?.[1] ?? 0)
const bodyOf = (text: string) => text.slice(text.indexOf('\r\n\r\n') + 4)

/** The head of a chat request, with more headers. */
const head = (...more: string[]) =>
  [
    'POST /v1/chat/completions HTTP/1.1',
    'Host: gateway',
    `Authorization: Bearer ${gateway.key}`,
    'Content-Type: application/json',
    ...more,
    '',
    '',
  ].join('\r\n')

/** Answered below 500, with the envelope or with no body of HTTP's own making; or closed. */
function expectCalm(label: string, { text, isClosed }: Exchange): void {
  const status = statusOf(text)
  if (status === 0) return expect([label, isClosed]).toEqual([label, true])
  const answered = bodyOf(text)
  // The server's own word for a request line it cannot read; nothing of ours was reached.
  if (status === 505 && answered === '') return
  expect([label, status < 500]).toEqual([label, true])
  if (status < 400) return
  expect([label, answered === '' || isEnvelope(answered, status)]).toEqual([label, true])
}

const garbage: readonly [label: string, sent: string | Uint8Array][] = [
  ['no HTTP at all', 'hello\r\n\r\n'],
  ['bytes', new Uint8Array([0, 255, 1, 254, 13, 10, 13, 10])],
  ['a TLS greeting', new Uint8Array([0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3, 13, 10, 13, 10])],
  ['an unknown method', `FROB /v1/models HTTP/1.1\r\nHost: a\r\n\r\n`],
  ['TRACE', `TRACE /v1/models HTTP/1.1\r\nHost: a\r\n\r\n`],
  ['an unknown version', 'GET /v1/models HTTP/9.9\r\nHost: a\r\n\r\n'],
  ['no host', 'GET /v1/models HTTP/1.1\r\n\r\n'],
  ['two hosts', 'GET /v1/models HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n'],
  ['a hostile host', 'GET /v1/models HTTP/1.1\r\nHost: [::1\r\n\r\n'],
  ['a host with a path', 'GET /v1/models HTTP/1.1\r\nHost: a/../b?c#d\r\n\r\n'],
  ['an absolute address', 'GET http://elsewhere.test/v1/models HTTP/1.1\r\nHost: a\r\n\r\n'],
  ['an asterisk', 'OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n'],
  ['a path of dots', 'GET /v1/../../etc/passwd HTTP/1.1\r\nHost: a\r\n\r\n'],
  ['a broken percent sign', 'GET /v1/batches/%E0%A4%A HTTP/1.1\r\nHost: a\r\n\r\n'],
  ['a null in the path', 'GET /v1/batches/%00 HTTP/1.1\r\nHost: a\r\n\r\n'],
  ['a real null in the path', 'GET /v1/\u0000 HTTP/1.1\r\nHost: a\r\n\r\n'],
  ['a path of 10 kB', `GET /v1/${'a'.repeat(10_000)} HTTP/1.1\r\nHost: a\r\n\r\n`],
  ['a path of 1 MB', `GET /v1/${'a'.repeat(1_000_000)} HTTP/1.1\r\nHost: a\r\n\r\n`],
  ['a header of 15 kB', head(`X-Session-Id: ${'a'.repeat(15_000)}`, `Content-Length: ${body.length}`) + body],
  ['a header of 1 MB', head(`X-Long: ${'a'.repeat(1_000_000)}`, `Content-Length: ${body.length}`) + body],
  [
    'a thousand headers',
    head(...Array.from({ length: 1_000 }, (_, index) => `X-${index}: 1`), `Content-Length: ${body.length}`) +
      body,
  ],
  ['a header without a colon', head('nonsense', `Content-Length: ${body.length}`) + body],
  ['a header with a blank in its name', head('X Y: 1', `Content-Length: ${body.length}`) + body],
  ['a folded header', head('X-A: 1\r\n  2', `Content-Length: ${body.length}`) + body],
  ['a null in a header', head('X-A: \u0000', `Content-Length: ${body.length}`) + body],
  ['a length below zero', head('Content-Length: -1') + body],
  ['a length that is no number', head('Content-Length: abc') + body],
  ['a length with a sign', head(`Content-Length: +${body.length}`) + body],
  ['a length beyond all', head('Content-Length: 99999999999999999999999') + body],
  ['two lengths', head(`Content-Length: ${body.length}`, 'Content-Length: 3') + body],
  [
    'length and chunks',
    head(`Content-Length: 3`, 'Transfer-Encoding: chunked') +
      `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`,
  ],
  ['an unknown transfer encoding', head('Transfer-Encoding: frob') + body],
  ['chunks of garbage', head('Transfer-Encoding: chunked') + 'zz\r\nhello\r\n'],
  ['a chunk longer than all', head('Transfer-Encoding: chunked') + 'ffffffffffffffffff\r\nhello\r\n'],
  ['a chunk below zero', head('Transfer-Encoding: chunked') + '-5\r\nhello\r\n'],
  [
    'a chunk without its end',
    head('Transfer-Encoding: chunked') + `${body.length.toString(16)}\r\n${body}XX0\r\n\r\n`,
  ],
  ['no body where one is due', head()],
  ['an empty body', head('Content-Length: 0')],
]

for (const [label, sent] of garbage) {
  test(`${label}: refused or closed, and nobody else notices`, async () => {
    // Half closed, so that a server which waits for more learns that there is none.
    expectCalm(label, await exchange(sent, { half: true }))
    expect((await fetch(`http://127.0.0.1:${port}/healthz`)).status).toBe(200)
  })
}

test('HTTP/1.0 is answered, also without a Host, as health checks of load balancers send it', async () => {
  for (const more of ['', 'Host: gateway\r\n']) {
    const { text } = await exchange(`GET /v1/models?limit=1 HTTP/1.0\r\n${more}\r\n`)
    expect([statusOf(text), bodyOf(text).startsWith('{"data":[')]).toEqual([200, true])
  }
})

test('callers who guess keys without a Host are delayed as others, and the log has their address', async () => {
  const guess = (count: number) =>
    exchange(`GET /v1/credits HTTP/1.0\r\nAuthorization: Bearer not-a-key-${count}\r\n\r\n`)
  const answers = await Promise.all(
    Array.from({ length: unknownKeyRefusalsMax + 1 }, (_, count) => guess(count)),
  )
  // The last one is told later than `exchange` listens.
  expect(answers.map(({ text }) => statusOf(text)).toSorted((left, right) => left - right)).toEqual([
    0,
    ...Array.from({ length: unknownKeyRefusalsMax }, () => 401),
  ])
  const refused = lines.filter(({ status, route }) => status === 401 && route === 'credits')
  expect(refused.length).toBeGreaterThanOrEqual(unknownKeyRefusalsMax)
  for (const line of refused) expect(String(line['client_address'])).toEndWith('127.0.0.1')
})

test('a Host that is none is 400 with the envelope', async () => {
  const { text } = await exchange('GET /v1/models HTTP/1.1\r\nHost: [::1\r\n\r\n')
  expect([statusOf(text), isEnvelope(bodyOf(text), 400)]).toEqual([400, true])
})

test('two Hosts, the same Host twice and a Host with two names are 400 with the envelope', async () => {
  for (const hosts of ['Host: a\r\nHost: b', 'Host: a\r\nhost: a', 'Host: a,b']) {
    for (const target of ['/v1/models?limit=1', 'http://a/v1/models?limit=1']) {
      const { text } = await exchange(`GET ${target} HTTP/1.1\r\n${hosts}\r\n\r\n`)
      const answered = [statusOf(text), isEnvelope(bodyOf(text), 400)]
      expect([hosts, target, ...answered]).toEqual([hosts, target, 400, true])
    }
  }
})

/** Sends pieces with pauses between them; the milliseconds from the last one until the connection is closed. */
async function closedAfterMs(pieces: readonly string[]): Promise<number> {
  const socket = connect(port, '127.0.0.1').on('error', () => undefined)
  socket.resume()
  const closed = Promise.withResolvers<void>()
  socket.on('close', () => closed.resolve())
  for (const piece of pieces) {
    socket.write(piece)
    await Bun.sleep(200)
  }
  const sentMs = performance.now()
  await closed.promise
  return performance.now() - sentMs
}

// The runtime ends both, which docs/adr/0005 tells; what matters is that nobody waits and that nothing stays held.
test('a second request behind a POST on one connection ends it within a second, and the first settles once as a hang-up', async () => {
  await gateway.admin('faults', [{ match: {}, fault: 'latency=3000..3000' }])
  const post = head(`Content-Length: ${body.length}`) + body
  const get = 'GET /v1/models?limit=1 HTTP/1.1\r\nHost: a\r\n\r\n'
  for (const pieces of [[post + get], [post, get], [post + post], [post, post.slice(0, -3)]]) {
    const before = lines.length
    expect(await closedAfterMs(pieces)).toBeLessThan(1_000)
    const ended = () => lines.slice(before).filter(({ route }) => route === 'chat_completions')
    for (let looks = 0; looks < 100 && ended().length === 0; looks += 1) await Bun.sleep(20)
    expect(ended().map(({ status, cancelled }) => [status, cancelled])).toEqual([[499, true]])
  }
  await gateway.admin('faults', [])
  const { json } = await gateway.get('/credits', { key: gateway.managementKey })
  expect(json).toMatchObject({ data: { total_usage: 0 } })
})

test('a head of 16 kB, or of 199 headers, is 431 without a body; what is just shorter is answered', async () => {
  const get = (more: string) => `GET /v1/models?limit=1 HTTP/1.1\r\nHost: a\r\n${more}\r\n`
  const spare = 16_384 - get('X-A: \r\n').length
  const many = (count: number) => Array.from({ length: count }, (_, index) => `X-${index}: 1\r\n`).join('')
  for (const [more, status] of [
    [`X-A: ${'a'.repeat(spare - 100)}\r\n`, 200],
    [`X-A: ${'a'.repeat(spare + 100)}\r\n`, 431],
    [many(197), 200],
    [many(198), 431],
  ] as const) {
    const { text } = await exchange(get(more))
    expect([more.length, statusOf(text)]).toEqual([more.length, status])
    if (status === 431) expect(bodyOf(text)).toBe('')
  }
  const { text } = await exchange(`GET /v1/${'a'.repeat(16_384)} HTTP/1.1\r\nHost: a\r\n\r\n`)
  expect([statusOf(text), bodyOf(text)]).toEqual([431, ''])
})

test('chunks of every size make the same body', async () => {
  const pieces: string[] = []
  for (let from = 0; from < body.length; from = 2 * from + 1) pieces.push(body.slice(from, 2 * from + 1))
  const chunks = pieces.map((piece) => `${piece.length.toString(16)};ext=1\r\n${piece}\r\n`).join('')
  const { text } = await exchange(`${head('Transfer-Encoding: chunked')}${chunks}0\r\n\r\n`)
  expect(statusOf(text)).toBe(200)
})

test('a body shorter than it said ends without a call to a provider', async () => {
  const count = async () => Number((await gateway.admin('counters?requests=0'))['requests'])
  const before = await count()
  expectCalm('short', await exchange(head('Content-Length: 5000') + body, { half: true }))
  expect(await count()).toBe(before)
})

test('requests after one another on one connection get answers in order', async () => {
  const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`
  const socket = connect(port, '127.0.0.1')
  let text = ''
  const done = Promise.withResolvers<void>()
  socket.on('data', (chunk) => {
    text += chunk.toString('latin1')
    if ((text.match(/HTTP\/1\.1 \d/g) ?? []).length === 3) done.resolve()
  })
  socket.write(get('/healthz') + get('/nothing') + get('/healthz'))
  const timer = setTimeout(() => done.reject(new Error(text)), answerMsMax)
  await done.promise
  clearTimeout(timer)
  socket.destroy()
  expect([...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => status)).toEqual(['200', '404', '200'])
})

test('a hundred callers who write a byte at a time hold nobody else up', async () => {
  const slow: Socket[] = Array.from({ length: 100 }, () =>
    connect(port, '127.0.0.1').on('error', () => undefined),
  )
  const text = head(`Content-Length: ${body.length}`)
  for (let turn = 0; turn < 20; turn += 1) {
    for (const socket of slow) socket.write(text.slice(turn, turn + 1))
    const started = performance.now()
    const response = await fetch(`http://127.0.0.1:${port}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
      body,
    })
    await response.bytes()
    expect([response.status, performance.now() - started < answerMsMax]).toEqual([200, true])
  }
  for (const socket of slow) socket.destroy()
})

test('a caller who never finishes the headers is cut off', async () => {
  const socket = connect(port, '127.0.0.1').on('error', () => undefined)
  const closed = Promise.withResolvers<boolean>()
  socket.on('close', () => closed.resolve(true))
  socket.write('POST /v1/chat/completions HTTP/1.1\r\nHost: gateway\r\n')
  const timer = setTimeout(() => closed.resolve(false), 20_000)
  expect(await closed.promise).toBe(true)
  clearTimeout(timer)
}, 25_000)

test('calls with two Hosts or an invalid one are 400, also after calls with a good one', async () => {
  const call = (host: string, { target = '/v1/chat/completions', version = '1.1' } = {}) =>
    exchange(
      head(`Content-Length: ${body.length}`)
        .replace('/v1/chat/completions HTTP/1.1', `${target} HTTP/${version}`)
        .replace('Host: gateway\r\n', host) + body,
    )
  for (let times = 0; times < 2; times += 1)
    for (const [host, status] of [
      ['Host: gateway\r\n', 200],
      ['Host: gateway\r\nHost: gateway\r\n', 400],
      ['Host: gateway\r\nHost: b\r\n', 400],
      ['Host: gateway,b\r\n', 400],
      ['Host: [::1\r\n', 400],
      ['Host: a b\r\n', 400],
    ] as const) {
      const { text } = await call(host)
      expect([host, statusOf(text), status === 200 || isEnvelope(bodyOf(text), 400)]).toEqual([
        host,
        status,
        true,
      ])
    }
  for (const target of [
    '/v1/chat/completions/',
    '/v1/chat/completions?a=1',
    'http://gateway/v1/chat/completions',
  ])
    expect([target, statusOf((await call('Host: gateway\r\n', { target })).text)]).toEqual([target, 200])
  for (const host of ['', 'Host: \r\n'])
    expect([host, statusOf((await call(host, { version: '1.0' })).text)]).toEqual([host, 200])
})
