import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { createConnection } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { at, eventsOf, readAnswer, say, simulatorForTests } from './testing.ts'
import type { JsonObject } from './json.ts'

const simulator = simulatorForTests()
const path = '/chat/completions'
const streamed = say('Say hello', { stream: true })

/** Reads a socket to its end, or until a given text has arrived. */
async function rawExchange(head: string, until: string): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>()
  let received = ''
  const socket = await Bun.connect({
    hostname: '127.0.0.1',
    port: simulator.port(),
    socket: {
      data(_, bytes) {
        received += bytes.toString()
        if (received.includes(until)) resolve(received)
      },
      close: () => resolve(`${received}[closed]`),
    },
  })
  const body = JSON.stringify(streamed)
  socket.write(
    `POST /v1${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer k\r\n${head}Content-Length: ${body.length}\r\n\r\n${body}`,
  )
  const text = await promise
  socket.end()
  return text
}

/** Asks for the counters until they meet the condition. */
async function countersWith(mount: string, isThere: (counters: JsonObject) => boolean): Promise<JsonObject> {
  for (const untilMs = performance.now() + 4_000; performance.now() < untilMs; await Bun.sleep(2)) {
    const counters = await simulator.admin(`counters?mount=${mount}&requests=0`)
    if (isThere(counters)) return counters
  }
  throw new Error('The counters never showed what was waited for.')
}

// A folder of our own: other tests on the machine may be uploading too.
const folder = mkdtempSync(join(tmpdir(), 'wire-test-'))
const usualFolder = process.env['TMPDIR']
beforeAll(() => {
  process.env['TMPDIR'] = folder
})
afterAll(() => {
  if (usualFolder === undefined) delete process.env['TMPDIR']
  else process.env['TMPDIR'] = usualFolder
  rmSync(folder, { recursive: true })
})

describe('an error fault', () => {
  test('answers with its status, headers and OpenAI’s envelope', async () => {
    const answer = await simulator.post(path, {
      body: streamed,
      fault: 'status=429;retry_after=2;retry_after_ms=1500',
    })
    expect(answer.status).toBe(429)
    expect(answer.headers.get('retry-after')).toBe('2')
    expect(answer.headers.get('retry-after-ms')).toBe('1500')
    expect(answer.headers.get('x-ratelimit-remaining-requests')).toBe('0')
    expect(answer.json).toEqual({
      error: { message: expect.any(String), type: 'requests', param: null, code: 'rate_limit_exceeded' },
    })
  })

  test.each([
    ['insufficient_quota', 429, 'error.code', 'insufficient_quota'],
    ['overloaded', 503, 'error.type', 'server_error'],
    ['context_length', 400, 'error.code', 'context_length_exceeded'],
    ['status=529', 529, 'error.type', 'overloaded_error'],
    ['status=500,fault_body=string', 500, 'error', 'The server had an error while processing the request.'],
    ['status=422,fault_body=detail', 422, 'detail', 'The request was refused with status 422.'],
    ['status=422;message=No,fault_body=detail_list', 422, 'detail.0.msg', 'No'],
    ['status=429;message=No;code=quota,fault_body=flat', 429, 'code', 'quota'],
    ['status=429;message=No;code=quota,fault_body=reason', 429, 'reason', 'QUOTA'],
    ['status=403;message=No,fault_body=message', 403, 'message', 'No'],
    ['status=500;message=No,fault_body=fault', 500, 'fault.faultstring', 'No'],
    ['status=429,fault_body=google', 429, 'error.status', 'RESOURCE_EXHAUSTED'],
    ['bad_key_400', 400, 'code', 'invalid-argument'],
    ['bad_key_400=gemini', 400, 'error.details.0.reason', 'API_KEY_INVALID'],
  ])('%s has the right status and body', async (fault, status, member, value) => {
    const answer = await simulator.post(path, { body: streamed, fault })
    expect(answer.status).toBe(status)
    expect(at(answer.json, member)).toBe(value)
  })

  test('can be HTML, plain text, or JSON with another content type', async () => {
    const html = await simulator.post(path, { body: streamed, fault: 'html_error' })
    expect([html.status, html.headers.get('content-type'), html.text.startsWith('<html>')]).toEqual([
      502,
      'text/html',
      true,
    ])
    const text = await simulator.post(path, { body: streamed, fault: 'status=503,fault_body=text' })
    expect(text.headers.get('content-type')).toStartWith('text/plain')
    const octets = await simulator.post(path, { body: streamed, fault: 'octet_stream_error' })
    expect(octets.headers.get('content-type')).toBe('application/octet-stream')
    expect(at(octets.json, 'error.type')).toBe('invalid_request_error')
  })

  test('can refuse one member as a compatible host would', async () => {
    const fault = 'reject=stream_options'
    expect((await simulator.post(path, { body: streamed, fault })).status).toBe(200)
    const refused = await simulator.post(path, { body: { ...streamed, stream_options: {} }, fault })
    expect(at(refused.json, 'error.param')).toBe('stream_options')
  })

  test('that cannot be read is refused and says why', async () => {
    const answer = await simulator.post(path, { body: streamed, fault: 'explode' })
    expect(answer.status).toBe(400)
    expect(at(answer.json, 'error.code')).toBe('invalid_fault')
  })
})

describe('a broken body', () => {
  test('can be empty, malformed or truncated', async () => {
    const body = say('hi')
    expect((await simulator.post(path, { body, fault: 'empty_body' })).text).toBe('')
    for (const fault of ['malformed_json', 'truncate_json']) {
      const { text, status } = await simulator.post(path, { body, fault })
      expect(status).toBe(200)
      expect(() => JSON.parse(text)).toThrow(SyntaxError)
    }
  })

  test('can have the wrong content type', async () => {
    const plain = await simulator.post(path, { body: say('hi'), fault: 'wrong_content_type' })
    expect(plain.headers.get('content-type')).toStartWith('text/plain')
    const events = await simulator.post(path, { body: streamed, fault: 'wrong_content_type' })
    expect(events.headers.get('content-type')).toBe('application/json')
  })

  test('can be cut after a given number of bytes of its stated length', async () => {
    const response = await simulator.fetch(path, { body: say('hi'), fault: 'cut_after=10' })
    expect(Number(response.headers.get('content-length'))).toBeGreaterThan(10)
    await expect(response.text()).rejects.toThrow()
  })
})

describe('a broken stream', () => {
  test('can lack its end mark', async () => {
    const { text } = await simulator.post(path, { body: streamed, fault: 'no_done' })
    expect(text).not.toContain('[DONE]')
    expect(text).toContain('"finish_reason":"stop"')
  })

  test('can end in an error after a given number of chunks', async () => {
    const { text } = await simulator.post(path, { body: streamed, fault: 'error_chunk=2' })
    const events = eventsOf(text)
    expect(events).toHaveLength(3)
    expect(at(events[2], 'error.type')).toBe('server_error')
  })

  test('can have one chunk that is not JSON, and go on', async () => {
    const { text } = await simulator.post(path, { body: streamed, fault: 'malformed_json' })
    expect(() => eventsOf(text)).toThrow(SyntaxError)
    expect(text).toEndWith('data: [DONE]\n\n')
  })

  test('can have comments and other line ends', async () => {
    const { text } = await simulator.post(path, { body: streamed, fault: 'comments,crlf' })
    expect(text).toStartWith(': waiting for the model\r\n\r\n')
    expect(text).toEndWith('data: [DONE]\r\n\r\n')
    expect(eventsOf(text).length).toBeGreaterThan(3)
  })

  test('split anywhere has the same bytes', async () => {
    const fault = 'text=n%C3%A9%F0%9F%98%80'
    const whole = eventsOf((await simulator.post(path, { body: streamed, fault })).text)
    const split = eventsOf((await simulator.post(path, { body: streamed, fault: `${fault},split=7` })).text)
    expect(split.map((event) => at(event, 'choices.0'))).toEqual(whole.map((event) => at(event, 'choices.0')))
  })

  test('can be cut after a given number of chunks', async () => {
    const text = await rawExchange('x-simulator-fault: cut_after=2\r\n', 'never')
    expect(text.match(/data: /g)).toHaveLength(2)
    expect(text).toEndWith('[closed]')
    expect(text).not.toContain('\r\n0\r\n')
  })

  test('can stall after its headers, which are complete', async () => {
    const text = await rawExchange('x-simulator-fault: stall\r\n', '\r\n\r\n')
    expect(text).toStartWith('HTTP/1.1 200 OK\r\n')
    expect(text).toEndWith('\r\n\r\n')
  })

  test('can stall after a given number of chunks', async () => {
    const text = await rawExchange('x-simulator-fault: stall_after=1\r\n', '"content":""')
    expect(text.match(/data: /g)).toHaveLength(1)
  })

  test('can be reset before anything is sent', async () => {
    expect(await rawExchange('x-simulator-fault: reset\r\n', 'never')).toBe('[closed]')
  })
})

describe('latency', () => {
  test('is spent before the headers, before the first byte, or between chunks', async () => {
    const leaving = new AbortController()
    const { signal } = leaving
    const isHereSoon = (what: Promise<unknown> | undefined) =>
      Promise.race([what?.then(() => true), Bun.sleep(100).then(() => false)])

    const late = simulator.fetch(path, { body: say('hi'), fault: 'latency=5000', signal })
    expect(await isHereSoon(late.catch(() => null))).toBe(false)

    const response = await simulator.fetch(path, { body: streamed, fault: 'first_byte=5000', signal })
    const first = response.body?.getReader().read()
    expect(await isHereSoon(first?.catch(() => null))).toBe(false)

    const paced = await simulator.fetch(path, { body: streamed, fault: 'chunk_delay=5000', signal })
    const reader = paced.body?.getReader()
    await reader?.read()
    expect(await isHereSoon(reader?.read().catch(() => null))).toBe(false)
    leaving.abort()
  })
})

describe('a caller who leaves', () => {
  test('during the wait is counted with the time of the wait', async () => {
    const leaving = new AbortController()
    const request = simulator.fetch(path, {
      body: streamed,
      fault: 'hang',
      mount: 'left-early',
      signal: leaving.signal,
    })
    await countersWith('left-early', (counters) => at(counters, 'by_fault.hang') === 1)
    leaving.abort()
    await expect(request).rejects.toThrow()
    const counters = await countersWith('left-early', (now) => at(now, 'hang_ups.count') === 1)
    expect(at(counters, 'hang_ups.last.0')).toMatchObject({ path: '/v1/chat/completions', phase: 'waiting' })
    expect(Number(at(counters, 'hang_ups.last.0.elapsed_ms'))).toBeGreaterThan(0)
    expect(at(counters, 'in_flight')).toBe(0)
  })

  test('in the middle of a stream is counted as such', async () => {
    const leaving = new AbortController()
    const fault = 'stall_after=2'
    const response = await simulator.fetch(path, {
      body: streamed,
      fault,
      mount: 'left-late',
      signal: leaving.signal,
    })
    await response.body?.getReader().read()
    leaving.abort()
    const counters = await countersWith('left-late', (now) => at(now, 'hang_ups.count') === 1)
    expect(at(counters, 'hang_ups.last.0.phase')).toBe('body')
    expect(at(counters, 'by_status')).toEqual({})
  })

  test('in the middle of an upload is counted, and leaves no file behind', async () => {
    const mount = 'left-uploading'
    const socket = createConnection({ host: '127.0.0.1', port: simulator.port() })
    const head = `POST /p/${mount}/v1/audio/transcriptions HTTP/1.1\r\nHost: x\r\nContent-Length: 9000000`
    socket.write(`${head}\r\nContent-Type: multipart/form-data; boundary=b\r\n\r\n`)
    socket.write('--b\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\n\r\n')
    // More than is kept in memory, so that a file has been begun.
    await new Promise((resolve) => socket.write(Buffer.alloc(3_000_000), resolve))
    await countersWith(mount, (now) => at(now, 'requests') === 1 && readdirSync(folder).length > 0)
    socket.destroy()
    const counters = await countersWith(mount, (now) => at(now, 'hang_ups.count') === 1)
    expect(at(counters, 'hang_ups.last.0.phase')).toBe('request')
    await countersWith(mount, () => readdirSync(folder).length === 0)
  })

  test('does not count when the answer was complete', async () => {
    await simulator.post(path, { body: streamed, mount: 'stayed' })
    const counters = await simulator.admin('counters?mount=stayed')
    expect(at(counters, 'hang_ups.count')).toBe(0)
    expect(at(counters, 'by_status')).toEqual({ '200': 1 })
  })
})

test('a stalled reader holds the stream back instead of filling memory', async () => {
  // About 80 MB of answer, of which the sockets' own buffers take a few.
  const body = JSON.stringify({ ...streamed, model: 'gpt-4.1-mini', n: 8 })
  const socket = createConnection({ host: '127.0.0.1', port: simulator.port() })
  const head = `POST /p/slow/v1${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer k\r\nx-simulator-fault: tokens=30000`
  socket.write(`${head}\r\nContent-Length: ${body.length}\r\n\r\n${body}`)
  await once(socket, 'data')
  socket.pause()
  let before = -1
  const held = await countersWith('slow', (counters) => {
    const now = Number(counters['bytes_out'])
    const isHeld = now > 0 && now === before
    before = now
    return isHeld
  })
  expect(held['in_flight']).toBe(1)
  expect(Number(held['bytes_out'])).toBeLessThan(30_000_000)
  socket.destroy()
  await countersWith('slow', (counters) => at(counters, 'hang_ups.count') === 1)
})

test('two mounts have separate faults and counters', async () => {
  await simulator.admin('faults', { mount: 'broken', rules: [{ fault: 'status=503' }] })
  const broken = await simulator.post(path, { body: streamed, mount: 'broken' })
  const healthy = await simulator.post(path, { body: streamed, mount: 'healthy' })
  expect([broken.status, healthy.status]).toEqual([503, 200])
  expect(at(await simulator.admin('counters?mount=broken'), 'by_status')).toEqual({ '503': 1 })
  expect(at(await simulator.admin('counters?mount=healthy'), 'by_status')).toEqual({ '200': 1 })
})

test('a request too large to read is refused while its caller still writes', async () => {
  const body = new FormData()
  body.set('model', 'whisper-1')
  body.set('file', new File([Buffer.alloc(27 * 1024 * 1024)], 'a.wav'))
  const answer = await readAnswer(await simulator.fetch('/audio/transcriptions', { body }))
  expect(answer.status).toBe(413)
  expect(at(answer.json, 'error.type')).toBe('invalid_request_error')
})
