import { afterAll, beforeEach, expect, test } from 'bun:test'
import { at, startTestGateway, until, type TestGateway } from '../support/gateway.ts'

const running = await startTestGateway({
  hooks: { writeLog: () => undefined, keepAliveMs: 1_000 },
  providers: (url) => [
    {
      preset: 'custom',
      id: 'first',
      base_url: `${url}/p/first/v1`,
      api_key: 'a',
      weight: 1,
      discover: false,
      models: models(),
    },
    {
      preset: 'custom',
      id: 'second',
      base_url: `${url}/p/second/v1`,
      api_key: 'b',
      weight: 1,
      discover: false,
      models: models(),
    },
  ],
})
afterAll(() => running.stop())
beforeEach(() => running.admin('reset', {}))

function models() {
  const prices = { input_per_million: '1', output_per_million: '2' }
  return [{ id: 'openai/gpt-4o-mini', upstream: 'gpt-4o-mini', modality: 'language' as const, prices }]
}

/** Only the first provider, so that what it does is what happens. */
const first = { order: ['first'], allow_fallbacks: false }

function chat(extra: Record<string, unknown> = {}) {
  return {
    model: 'openai/gpt-4o-mini',
    stream: true,
    provider: first,
    messages: [{ role: 'user', content: 'Tell me of water.' }],
    ...extra,
  }
}

async function withFault(fault: string, gateway: TestGateway = running): Promise<void> {
  await gateway.admin('faults', { mount: 'first', rules: [{ fault }] })
}

interface BodyReader {
  read(): Promise<{ done: boolean; value?: Uint8Array | undefined }>
  cancel(): Promise<void>
}

async function open(body: unknown): Promise<{ response: Response; reader: BodyReader }> {
  const response = await running.request('/chat/completions', { method: 'POST', body })
  expect(response.status).toBe(200)
  const { body: stream } = response
  if (!stream) throw new Error('no body')
  return { response, reader: stream.getReader() }
}

async function readUntil(reader: BodyReader, text: string): Promise<string> {
  const decoder = new TextDecoder()
  const pieces: string[] = []
  // The text may be cut between two reads.
  for (let end = ''; !end.includes(text);) {
    const { done, value } = await reader.read()
    if (done) break
    const piece = decoder.decode(value)
    pieces.push(piece)
    end = end.slice(-text.length) + piece
  }
  return pieces.join('')
}

function framesOf(text: string): Record<string, unknown>[] {
  return text
    .split('\n\n')
    .filter((frame) => frame.startsWith('data: {'))
    .map((frame) => JSON.parse(frame.slice(6)) as Record<string, unknown>)
}

async function generationOf(response: Response) {
  const id = response.headers.get('x-generation-id') ?? ''
  const answer = await running.get(`/generation?id=${id}`)
  return answer.status === 200 ? answer.json : null
}

test('a stream that comes piece by piece is shown piece by piece, and ends with its usage and its cost', async () => {
  await withFault('tokens=8,chunk_delay=20')
  const { response, reader } = await open(chat())
  expect(response.headers.get('content-length')).toBeNull()
  const beginning = await readUntil(reader, '"content":')
  expect(beginning).not.toContain('[DONE]')
  const rest = await readUntil(reader, '[DONE]')
  const frames = framesOf(beginning + rest)
  const last = frames.at(-1)
  expect(at(last, 'usage.completion_tokens')).toBe(8)
  expect(at(last, 'usage.cost')).toBeGreaterThan(0)
  expect(new Set(frames.map((frame) => frame['id']))).toEqual(
    new Set([response.headers.get('x-generation-id')]),
  )
  expect(at(await generationOf(response), 'data.total_cost')).toBe(at(last, 'usage.cost'))
})

test('an answer that is whole already goes out with the same frames', async () => {
  await withFault('tokens=8')
  const whole = await running.post('/chat/completions', chat())
  expect(framesOf(whole.text).at(-1)).toMatchObject({ usage: { completion_tokens: 8 } })
  expect(whole.text.endsWith('data: [DONE]\n\n')).toBe(true)
  const contents = framesOf(whole.text).map((frame) => at(frame, 'choices.0.delta.content') ?? '')
  expect(contents.join('').length).toBeGreaterThan(8)
  expect(at(await generationOf(new Response(null, { headers: whole.headers })), 'data.cancelled')).toBe(false)
})

test('a caller who stops reading for a while gets everything all the same, once', async () => {
  await withFault('tokens=16000')
  const { reader } = await open(chat())
  const beginning = await readUntil(reader, '"content":')
  await Bun.sleep(300)
  const frames = framesOf(beginning + (await readUntil(reader, '[DONE]')))
  expect(at(frames.at(-1), 'usage.completion_tokens')).toBe(16_000)
  expect(frames.filter((frame) => at(frame, 'choices.0.delta.content')).length).toBe(16_000)
})

test('a caller who hangs up pays for what was streamed, and the provider is closed', async () => {
  await withFault('tokens=400,chunk_delay=20')
  const { response, reader } = await open(chat())
  // The first frame only says who speaks; the next ones have words.
  for (let reads = 0; reads < 5; reads += 1) await reader.read()
  const leftAt = performance.now()
  await reader.cancel()
  const counters = await until(
    () => running.admin('counters?mount=first'),
    (found) => at(found, 'hang_ups.count') === 1,
  )
  expect(performance.now() - leftAt).toBeLessThan(5_000)
  expect(at(counters, 'in_flight')).toBe(0)
  const generation = await until(
    () => generationOf(response),
    (found) => found !== null,
  )
  expect(at(generation, 'data.cancelled')).toBe(true)
  expect(at(generation, 'data.headrace.is_estimated')).toBe(true)
  expect(at(generation, 'data.total_cost')).toBeGreaterThan(0)
  expect(at(generation, 'data.tokens_completion')).toBeLessThan(400)
})

test('a caller who leaves before the first byte pays nothing', async () => {
  await withFault('first_byte=5000')
  const leaving = new AbortController()
  const request = new Request('http://gateway.test/v1/chat/completions', {
    method: 'POST',
    signal: leaving.signal,
    headers: { authorization: `Bearer ${running.key}`, 'content-type': 'application/json' },
    body: JSON.stringify(chat({ stream: false })),
  })
  const before = await running.get('/credits')
  const answering = running.gateway.fetch(request)
  await until(
    () => running.admin('counters?mount=first'),
    (found) => at(found, 'in_flight') === 1,
  )
  leaving.abort()
  await answering
  await until(
    () => running.admin('counters?mount=first'),
    (found) => at(found, 'hang_ups.count') === 1,
  )
  expect((await running.get('/credits')).json).toEqual(before.json)
})

test('an error inside a stream is told inside the stream, and nothing is charged', async () => {
  await withFault('tokens=20,chunk_delay=5,error_chunk=5')
  const { response, reader } = await open(chat())
  const frames = framesOf(await readUntil(reader, '"finish_reason":"error"'))
  const last = frames.at(-1)
  expect(at(last, 'choices.0.finish_reason')).toBe('error')
  expect(at(last, 'error.code')).toBe(502)
  expect((await reader.read()).done).toBe(true)
  expect(await generationOf(response)).toBeNull()
})

test('a stream that is cut off ends with an error event, never as if it were whole', async () => {
  await withFault('tokens=20,chunk_delay=5,cut_after=6')
  const { reader } = await open(chat())
  const text = await readUntil(reader, 'never there')
  expect(framesOf(text).at(-1)).toMatchObject({ choices: [{ finish_reason: 'error' }], error: { code: 502 } })
  expect(text).not.toContain('[DONE]')
})

test('a provider that keeps silent is covered by comments, and its late answer follows them', async () => {
  await withFault('first_byte=2500,tokens=3')
  const { reader } = await open(chat())
  const text = await readUntil(reader, '[DONE]')
  expect(text.startsWith(': HEADRACE PROCESSING\n\n')).toBe(true)
  expect(framesOf(text).at(-1)).toMatchObject({ usage: { completion_tokens: 3 } })
})

test('a failure after the first comment becomes an error event', async () => {
  await withFault('latency=2500,status=400')
  const { reader } = await open(chat())
  const text = await readUntil(reader, 'never there')
  expect(framesOf(text).at(-1)).toMatchObject({ error: { code: 400 }, choices: [{ finish_reason: 'error' }] })
})

test('the next provider answers when the first fails before anything was shown, and the metadata tells of both', async () => {
  await withFault('status=503')
  const answer = await running.post(
    '/chat/completions',
    chat({ stream: false, provider: { order: ['first', 'second'] } }),
    {
      headers: { 'x-headrace-metadata': 'enabled' },
    },
  )
  expect(answer.status).toBe(200)
  expect(answer.json['provider']).toBe('second')
  const attempts = at(answer.json, 'headrace_metadata.attempts')
  expect(attempts).toMatchObject([
    { provider: 'first', status: 503 },
    { provider: 'second', status: 200 },
  ])
})

test('fallback goes on to the next model when every endpoint of the first failed', async () => {
  const answer = await running.post('/chat/completions', {
    ...chat({ stream: false, provider: null }),
    model: 'openai/not-here',
    models: ['openai/gpt-4o-mini'],
  })
  expect([answer.status, answer.json['model']]).toEqual([200, 'openai/gpt-4o-mini'])
})

test('what the gateway itself understands never reaches a provider', async () => {
  await running.post('/chat/completions', {
    ...chat({ stream: false }),
    session_id: 's-1',
    trace: { trace_id: 't' },
    models: [],
    transforms: [],
    usage: { include: true },
  })
  const counters = await running.admin('counters?mount=first')
  const sent = String(at(counters, 'last_requests.0.body'))
  for (const name of ['provider', 'session_id', 'trace', 'models', 'transforms', '"usage"']) {
    expect(sent).not.toContain(name)
  }
})
