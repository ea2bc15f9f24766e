import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { at, customProvider, startTestGateway, toneWav, until, type Answer } from '../support/gateway.ts'

// How callers say who they are and how they want to be routed, in every operation. What is expected is written by hand after
// the public contract; the provider is a server of this file, which keeps what it is sent.

let sent: { path: string; headers: Headers; body: string }[] = []
/** What the provider answers with instead, by its deployment's path. */
const refusals = new Map<string, () => Response>()

const usage = { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 }
function answerOf(path: string): Response {
  if (path.endsWith('/embeddings'))
    return Response.json({
      object: 'list',
      model: 'm',
      data: [{ object: 'embedding', index: 0, embedding: [0.5] }],
      usage,
    })
  if (path.endsWith('/audio/transcriptions')) return Response.json({ text: 'hello', usage })
  if (path.endsWith('/audio/speech')) return new Response(new Uint8Array(4_800))
  return Response.json({
    id: 'c1',
    object: 'chat.completion',
    created: 1,
    model: 'm',
    choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'hello' } }],
    usage,
  })
}

const upstream = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  async fetch(request) {
    const path = new URL(request.url).pathname
    sent.push({ path, headers: request.headers, body: await request.text() })
    return (refusals.get(path.split('/')[1] ?? '') ?? (() => answerOf(path)))()
  },
})

const prices = {
  input_per_million: '1',
  output_per_million: '1',
  audio_per_minute: '1',
  characters_per_million: '1',
}
const models = [
  { id: 'acme/text', upstream: 'text', prices },
  { id: 'acme/vectors', upstream: 'vectors', modality: 'embedding' as const, prices },
  { id: 'acme/ears', upstream: 'ears', modality: 'transcription' as const, prices },
  { id: 'acme/voice', upstream: 'voice', modality: 'speech' as const, prices },
]
const gateway = await startTestGateway({
  providers: () =>
    ['one', 'two'].map((id) => ({
      ...customProvider(`${upstream.url.origin}/${id}/v1`, models),
      id,
      name: id,
    })),
})
afterAll(async () => {
  await gateway.stop()
  await upstream.stop(true)
})
beforeEach(() => {
  sent = []
  refusals.clear()
})

const messages = [{ role: 'user', content: 'hi' }]
const audio = { data: Buffer.from(toneWav(1)).toString('base64'), format: 'wav' }
const operations: readonly [string, string, Record<string, unknown>][] = [
  ['chat', '/chat/completions', { model: 'acme/text', messages }],
  ['responses', '/responses', { model: 'acme/text', input: 'hi' }],
  ['messages', '/messages', { model: 'acme/text', messages, max_tokens: 10 }],
  ['embeddings', '/embeddings', { model: 'acme/vectors', input: 'hi' }],
  ['transcription', '/audio/transcriptions', { model: 'acme/ears', input_audio: audio }],
  ['speech', '/audio/speech', { model: 'acme/voice', input: 'hi', voice: 'any' }],
]
const generationOf = async (answer: Answer | Response): Promise<Record<string, unknown>> => {
  const id = answer.headers.get('x-generation-id') ?? ''
  return (await gateway.get(`/generation?id=${id}`)).json['data'] as Record<string, unknown>
}
/** A whole answer, of whatever kind: what it cost is durable when it has ended. */
const call = async (path: string, body: unknown, headers: Record<string, string> = {}) => {
  const response = await gateway.request(path, { method: 'POST', body, headers })
  await response.arrayBuffer()
  return response
}

test('the session that Claude Code names in a header of its own keeps a conversation together', async () => {
  const path = '/messages'
  const base = { model: 'acme/text', messages, max_tokens: 10 }
  const own = { 'x-claude-code-session-id': 'of-the-agent' }
  expect((await generationOf(await call(path, base, own)))['session_id']).toBe('of-the-agent')
  const both = { ...own, 'x-session-id': 'of-header' }
  expect((await generationOf(await call(path, base, both)))['session_id']).toBe('of-header')
  // It is not the contract's, so that one which is too long is no mistake of anybody's.
  const long = await call(path, base, { 'x-claude-code-session-id': 'x'.repeat(257) })
  expect([long.status, (await generationOf(long))['session_id']]).toEqual([200, null])
})

describe.each(operations)('%s', (_name, path, base) => {
  test('the session of the body wins over the header, whose own is taken where the body has none', async () => {
    const headers = { 'x-session-id': 'of-header' }
    const both = await call(path, { ...base, session_id: 'of-body' }, headers)
    const one = await call(path, base, headers)
    expect([both.status, one.status]).toEqual([200, 200])
    expect((await generationOf(both))['session_id']).toBe('of-body')
    expect((await generationOf(one))['session_id']).toBe('of-header')
    // A header that does not count is not looked at; one that does is at most 256 characters long.
    const long = { 'x-session-id': 'x'.repeat(257) }
    expect((await call(path, { ...base, session_id: 'short' }, long)).status).toBe(200)
    expect((await call(path, base, long)).status).toBe(400)
    expect((await call(path, { ...base, session_id: 'x'.repeat(257) })).status).toBe(400)
    for (const { body, headers: given } of sent) {
      expect(body).not.toContain('of-body')
      expect(given.get('x-session-id')).toBeNull()
    }
  })

  test('the application that calls is written down, and no provider hears of it', async () => {
    const headers = {
      'http-referer': 'https://app.example/page?x=1',
      'x-title': 'My App',
      'user-agent': 'my-agent/1.0',
    }
    const generation = await generationOf(await call(path, base, headers))
    expect(generation).toMatchObject({
      http_referer: 'https://app.example/page?x=1',
      origin: 'https://app.example',
      user_agent: 'my-agent/1.0',
      headrace: { app_title: 'My App' },
    })
    const newer = { 'x-title': 'Old', 'x-openrouter-title': 'New' }
    expect(await generationOf(await call(path, base, newer))).toMatchObject({
      headrace: { app_title: 'New' },
    })
    expect(JSON.stringify(sent.map((one) => [...one.headers]))).not.toMatch(/app\.example|My App|my-agent/)
    const nobody = await generationOf(await call(path, base))
    expect([nobody['http_referer'], nobody['origin']]).toEqual([null, ''])
  })

  test('trace is accepted and goes to no provider; user is kept', async () => {
    const trace = { trace_id: 'trace-of-the-caller' }
    const user = path === '/messages' ? { metadata: { user_id: 'person-1' } } : { user: 'person-1' }
    const answer = await call(path, { ...base, ...user, trace })
    expect(answer.status).toBe(200)
    expect((await generationOf(answer))['external_user']).toBe('person-1')
    expect(sent.map(({ body }) => body).join()).not.toContain('trace-of-the-caller')
  })

  test('an unknown member of provider is 400 and named', async () => {
    for (const [provider, param] of [
      [{ onyl: ['acme'] }, 'provider.onyl'],
      [{ max_price: { promt: 1 } }, 'provider.max_price.promt'],
      [{ sort: { by: 'price', partitoin: 'none' } }, 'provider.sort.partitoin'],
    ] as const) {
      const answer = await gateway.post(path, { ...base, provider })
      expect([answer.status, at(answer.json, 'error.param')]).toEqual([400, param])
    }
    expect(sent).toEqual([])
  })

  test('a call that every provider limits tells when the first of them may answer', async () => {
    const limited = (seconds: number) => () =>
      Response.json(
        { error: { message: 'slow down' } },
        { status: 429, headers: { 'retry-after': `${seconds}` } },
      )
    refusals.set('one', limited(300))
    refusals.set('two', limited(100))
    const answer = await gateway.post(path, base)
    expect(answer.status).toBe(429)
    const seconds = Number(answer.headers.get('retry-after'))
    expect(seconds).toBeGreaterThan(90)
    expect(seconds).toBeLessThanOrEqual(100)
    expect(at(answer.json, 'error.metadata')).toMatchObject({
      error_type: 'rate_limit_exceeded',
      retry_after_seconds: seconds,
      is_byok: false,
    })
    expect(at(answer.json, 'error.availability')).toMatchObject({
      code: 'capacity_exhausted',
      retryable: true,
      requested_models: [base['model']],
      retry_after: seconds,
    })
    expect((at(answer.json, 'error.availability.affected_providers') as string[]).toSorted()).toEqual([
      'one',
      'two',
    ])
    // A provider's limit is none of the gateway's own.
    expect(answer.headers.get('x-ratelimit-limit')).toBeNull()
  })
})

test('a fallback is written down with every try', async () => {
  refusals.set('one', () => Response.json({ error: { message: 'no' } }, { status: 500 }))
  const order = { provider: { order: ['one', 'two'] } }
  const generation = await generationOf(
    await call('/chat/completions', { model: 'acme/text', messages, ...order }),
  )
  expect(generation['provider_responses']).toMatchObject([
    { provider_name: 'one', endpoint_id: 'one/text', status: 500 },
    { provider_name: 'two', endpoint_id: 'two/text', status: 200 },
  ])
})

test('metadata is pairs of texts, at most sixteen, in chat and responses', async () => {
  const pairs = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, 'v']))
  for (const [, path, base] of operations.slice(0, 2)) {
    expect((await call(path, { ...base, metadata: pairs(16) })).status).toBe(200)
    for (const metadata of [pairs(17), { k: 1 }, 'text']) {
      const answer = await gateway.post(path, { ...base, metadata })
      expect([path, answer.status, String(at(answer.json, 'error.param'))]).toEqual([
        path,
        400,
        expect.stringMatching(/^metadata/),
      ])
    }
  }
})

test('an item of a batch may choose its provider by no unknown member either', async () => {
  const created = await gateway.post('/batches', {
    endpoint: '/v1/chat/completions',
    model: 'acme/text',
    requests: [{ custom_id: 'a', body: { messages, provider: { onyl: ['one'] } } }],
  })
  const ended = await until(
    () => gateway.get(`/batches/${String(created.json['id'])}`),
    ({ json }) => json['status'] === 'completed',
  )
  expect(at(ended.json, 'results.0.error')).toMatchObject({
    param: 'provider.onyl',
    error_type: 'invalid_request',
  })
})

test('a limit of the gateway’s own tells itself in headers, and only when it refuses', async () => {
  const slow = await gateway.addOrganization({ requestsPerMinute: 1 })
  const ask = () => gateway.post('/chat/completions', { model: 'acme/text', messages }, { key: slow.key })
  const first = await ask()
  expect([first.status, first.headers.get('x-ratelimit-limit')]).toEqual([200, null])
  const second = await ask()
  expect([
    second.status,
    second.headers.get('x-ratelimit-limit'),
    second.headers.get('x-ratelimit-remaining'),
  ]).toEqual([429, '1', '0'])
  const waitMs = Number(second.headers.get('x-ratelimit-reset')) - Date.now()
  expect(waitMs).toBeGreaterThan(0)
  expect(waitMs).toBeLessThanOrEqual(60_000)
  expect(Number(second.headers.get('retry-after')) * 1000).toBeGreaterThanOrEqual(waitMs - 1_000)
})

test('a failure says why no model could be served', async () => {
  const unknown = await gateway.post('/chat/completions', {
    model: 'acme/none',
    models: ['acme/nil'],
    messages,
  })
  expect(at(unknown.json, 'error.availability')).toMatchObject({
    code: 'model_not_found',
    retryable: false,
    requested_models: ['acme/none', 'acme/nil'],
  })
  const kept = await gateway.post('/messages', {
    model: 'acme/text',
    max_tokens: 5,
    messages,
    provider: { zdr: true },
  })
  expect([
    kept.status,
    at(kept.json, 'error.availability.code'),
    at(kept.json, 'error.availability.excluded_by'),
  ]).toEqual([404, 'privacy_restricted', 'data_policy:zdr'])
  const dear = await gateway.post('/chat/completions', {
    model: 'acme/text',
    messages,
    provider: { max_price: { prompt: 0.1 } },
  })
  expect(at(dear.json, 'error.availability')).toMatchObject({
    code: 'constraint_filtered',
    excluded_by: 'max_price',
  })
})
