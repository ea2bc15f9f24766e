import { afterAll, beforeEach, expect, test } from 'bun:test'
import OpenAI from 'openai'
import { at, customProvider, startTestGateway, until } from '../support/gateway.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'

// `debug.echo_upstream_body` shows a caller who asks for it the body that the provider was sent, and
// `debug.timings` the times of the answer.

const upstream = startScriptedUpstream()
const failing = startScriptedUpstream()
const operatorSecret = 'team-secret-77'
const gateway = await startTestGateway({
  providers: () => [
    {
      ...customProvider(upstream.url, [
        { id: 'acme/large', upstream: 'large-2' },
        { id: 'acme/both', upstream: 'second-2' },
      ]),
      api_key: 'key-of-the-operator',
      headers: { 'x-team': operatorSecret },
      query: { tenant: 'tenant-of-the-operator' },
    },
    {
      ...customProvider(failing.url, [{ id: 'acme/both', upstream: 'first-1' }]),
      id: 'failing',
    },
    {
      preset: 'anthropic',
      base_url: `${upstream.url}/v1`,
      api_key: 'key-of-the-operator',
      weight: 1,
      discover: false,
      models: [{ id: 'anthropic/claude-sonnet-4-5' }],
    },
  ],
})
afterAll(async () => {
  await gateway.stop()
  await upstream.stop()
  await failing.stop()
})

const chatChunks = [
  { choices: [{ index: 0, delta: { role: 'assistant', content: 'Of ' } }] },
  { choices: [{ index: 0, delta: { content: 'course.' } }] },
  { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
  { choices: [], usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 } },
]
const messageEvents = [
  {
    type: 'message_start',
    message: { id: 'm', model: 'claude-sonnet-4-5', usage: { input_tokens: 3, output_tokens: 1 } },
  },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Of course.' } },
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 2 } },
  { type: 'message_stop' },
]
const wholeMessage = {
  id: 'm',
  type: 'message',
  role: 'assistant',
  model: 'claude-sonnet-4-5',
  content: [{ type: 'text', text: 'Of course.' }],
  stop_reason: 'end_turn',
  usage: { input_tokens: 3, output_tokens: 2 },
}
const wholeChat = {
  id: 'c',
  model: 'large-2',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Of course.' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
}

beforeEach(() => {
  upstream.seen.length = 0
  upstream.answer(({ path, body }) => {
    const isMessages = path.endsWith('/messages')
    if (!body.includes('"stream":true')) return Response.json(isMessages ? wholeMessage : wholeChat)
    const frames = isMessages
      ? messageEvents.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
      : [...chatChunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`), 'data: [DONE]\n\n']
    return new Response(frames.join(''), { headers: { 'content-type': 'text/event-stream' } })
  })
})

const debug = { echo_upstream_body: true }
const messages = [{ role: 'user', content: 'Wie spät ist es?' }]

/** The body that the provider received. */
function lastSent(): unknown {
  return JSON.parse(Buffer.from(upstream.seen.at(-1)?.body ?? '', 'latin1').toString('utf8'))
}

function eventsOf(text: string): Record<string, unknown>[] {
  return text
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .map((line) => JSON.parse(line.slice('data: '.length)) as Record<string, unknown>)
}

function debugsOf(events: readonly Record<string, unknown>[]): unknown[] {
  return events.map((event) => at(event, 'debug') ?? at(event, 'response.debug')).filter(Boolean)
}

const stages = ['adapter_request', 'upstream_headers_received', 'first_token_received', 'upstream_body_ended']

function expectTimings(debugs: readonly unknown[], startedMs: number): void {
  const timings = debugs.map((shown) => at(shown, 'timings')) as Record<string, number>[]
  const starts = timings.map(({ start_ms }) => Number(start_ms))
  expect(starts).toEqual(starts.toSorted((left, right) => left - right))
  for (const timing of timings) {
    expect(Object.keys(timing).toSorted()).toEqual(['epoch_ms', 'event', 'start_ms'])
    expect([timing['start_ms'], timing['epoch_ms']].every(Number.isInteger)).toBe(true)
    expect(Number(timing['epoch_ms'])).toBeGreaterThanOrEqual(Math.floor(startedMs))
    expect(Number(timing['epoch_ms'])).toBeLessThanOrEqual(Date.now() + 1)
  }
}

test('2.4.c12 a whole chat answer has the body that was sent and the time when the answer had ended', async () => {
  const startedMs = Date.now()
  const { json } = await gateway.post('/chat/completions', { model: 'acme/large', messages, debug })
  expect(at(json, 'debug.echo_upstream_body')).toEqual(lastSent())
  expect(lastSent()).toEqual({ model: 'large-2', messages })
  expect(at(json, 'debug.timings.event')).toBe('upstream_body_ended')
  expectTimings([at(json, 'debug')], startedMs)
})

test('a chat stream begins with a chunk of the body that was sent, and has each stage', async () => {
  const startedMs = Date.now()
  for (const model of ['acme/large', 'anthropic/claude-sonnet-4-5']) {
    const { text } = await gateway.post('/chat/completions', { model, messages, debug, stream: true })
    const events = eventsOf(text)
    expect(events[0]).toMatchObject({
      object: 'chat.completion.chunk',
      choices: [],
      model,
      debug: { echo_upstream_body: lastSent(), timings: { event: 'adapter_request' } },
    })
    expect(lastSent()).toMatchObject({ stream: true })
    const debugs = debugsOf(events)
    expect(debugs.map((shown) => at(shown, 'timings.event'))).toEqual(stages)
    expect(debugs.filter((shown) => at(shown, 'echo_upstream_body') !== undefined)).toHaveLength(1)
    expectTimings(debugs, startedMs)
    expect(new Set(events.map(({ id }) => id)).size).toBe(1)
    const said = events.map((event) => at(event, 'choices.0.delta.content') ?? '').join('')
    expect(said).toBe('Of course.')
    expect(text.trimEnd().endsWith('data: [DONE]')).toBe(true)
  }
})

test('a caller of another format sees the body in the format of the provider', async () => {
  const { json } = await gateway.post('/chat/completions', {
    model: 'anthropic/claude-sonnet-4-5',
    max_tokens: 20,
    messages,
    debug,
  })
  expect(upstream.seen.at(-1)?.path).toBe('/v1/messages')
  expect(at(json, 'debug.echo_upstream_body')).toEqual(lastSent())
  expect(at(json, 'debug.echo_upstream_body.max_tokens')).toBe(20)
})

test('a whole response has the body that was sent', async () => {
  const { json } = await gateway.post('/responses', { model: 'acme/large', input: 'x', debug })
  expect(json['object']).toBe('response')
  expect(at(json, 'debug.echo_upstream_body')).toEqual(lastSent())
  expect(at(json, 'debug.timings.event')).toBe('upstream_body_ended')
})

test('a streamed response has it in separate events after its beginning, and the sequence numbers go on', async () => {
  const { text } = await gateway.post('/responses', { model: 'acme/large', input: 'x', debug, stream: true })
  const events = eventsOf(text)
  expect(events.slice(0, 5).map(({ type }) => type)).toEqual([
    'response.created',
    'response.in_progress',
    'response.debug',
    'response.debug',
    'response.debug',
  ])
  expect(at(events[2], 'debug.echo_upstream_body')).toEqual(lastSent())
  expect(debugsOf(events).map((shown) => at(shown, 'timings.event'))).toEqual(stages)
  expect(events.map((event) => event['sequence_number'])).toEqual(events.map((_, index) => index))
  expect(events.at(-1)?.['type']).toBe('response.completed')
})

test('the official client reads both kinds of stream with debug in them', async () => {
  const openai = new OpenAI({ baseURL: gateway.listen(), apiKey: gateway.key, maxRetries: 0 })
  // The client's types do not know the member, and the client sends what it is given.
  const extra = { debug } as object
  // Its helper `responses.stream` refuses every event that it does not know; the events themselves can be read.
  const stream = await openai.responses.create({ model: 'acme/large', input: 'x', stream: true, ...extra })
  let said = ''
  for await (const event of stream) if (event.type === 'response.output_text.delta') said += event.delta
  expect(said).toBe('Of course.')
  const chat = openai.chat.completions.stream({
    model: 'acme/large',
    messages: [{ role: 'user', content: 'x' }],
    ...extra,
  })
  expect((await chat.finalChatCompletion()).choices[0]?.message.content).toBe('Of course.')
})

test('2.4.c13 an item of a batch has it in its body', async () => {
  for (const [endpoint, body] of [
    ['/v1/chat/completions', { messages, debug }],
    ['/v1/responses', { input: 'x', debug }],
  ] as const) {
    const created = await gateway.post('/batches', {
      endpoint,
      model: 'acme/large',
      requests: [
        { custom_id: 'asked', body },
        { custom_id: 'not', body: { ...body, debug: { echo_upstream_body: false } } },
      ],
    })
    expect(created.status).toBe(202)
    const path = `/batches/${String(created.json['id'])}`
    const { json } = await until(
      () => gateway.get(path),
      (answer) => answer.json['status'] === 'completed',
    )
    const bodyOf = (id: string) =>
      at(
        (json['results'] as Record<string, unknown>[]).find((result) => result['custom_id'] === id),
        'response.body',
      )
    expect(at(bodyOf('asked'), 'debug')).toMatchObject({
      echo_upstream_body: { model: 'large-2' },
      timings: { event: 'upstream_body_ended' },
    })
    expect(bodyOf('not')).not.toHaveProperty('debug')
  }
})

test('the body for the endpoint that answered is shown, and not one that an earlier endpoint refused', async () => {
  failing.answer(() => Response.json({ error: { message: 'down' } }, { status: 503 }))
  const { json } = await gateway.post('/chat/completions', {
    model: 'acme/both',
    messages,
    debug,
    provider: { order: ['failing', 'acme'] },
  })
  expect(failing.seen.length).toBeGreaterThan(0)
  expect(at(json, 'debug.echo_upstream_body.model')).toBe('second-2')
})

test('a caller who did not ask is shown nothing of it', async () => {
  const bodies = [{}, { debug: {} }, { debug: { echo_upstream_body: false } }, { debug: null }]
  for (const more of bodies) {
    for (const stream of [false, true]) {
      const { text } = await gateway.post('/chat/completions', {
        model: 'acme/large',
        messages,
        stream,
        ...more,
      })
      expect(text).toContain('course.')
      expect(text).not.toContain('"debug"')
    }
  }
  expect(upstream.seen.every(({ body }) => !body.includes('debug'))).toBe(true)
})

test('a wrong type is refused by name, and an unknown member of debug is listed as dropped', async () => {
  for (const [path, body] of [
    ['/chat/completions', { messages }],
    ['/responses', { input: 'x' }],
  ] as const) {
    const wrong = await gateway.post(path, {
      model: 'acme/large',
      ...body,
      debug: { echo_upstream_body: 'yes' },
    })
    expect([wrong.status, at(wrong.json, 'error.message')]).toEqual([
      400,
      expect.stringContaining('debug.echo_upstream_body'),
    ])
    const other = await gateway.post(path, {
      model: 'acme/large',
      ...body,
      debug: { ...debug, colour: 'red' },
    })
    expect(at(other.json, 'headrace_metadata.dropped')).toEqual(['debug.colour'])
  }
})

test('headers and secrets of the operator are not shown, not even to a caller who writes them', async () => {
  const words = `key-of-the-operator, ${operatorSecret} and tenant-of-the-operator`
  for (const stream of [false, true]) {
    const { text } = await gateway.post('/chat/completions', {
      model: 'acme/large',
      messages: [{ role: 'user', content: words }],
      debug,
      stream,
    })
    expect(upstream.seen.at(-1)?.body).toContain(operatorSecret)
    expect(text).toContain('[secret], [secret] and [secret]')
    for (const secret of ['key-of-the-operator', operatorSecret, 'tenant-of-the-operator'])
      expect(text).not.toContain(secret)
  }
})

test('a body too large to be looked into is not shown, and the answer says so', async () => {
  const { json } = await gateway.post('/chat/completions', {
    model: 'acme/large',
    messages: [{ role: 'user', content: 'x'.repeat(600_000) }],
    debug,
  })
  expect(at(json, 'debug')).not.toHaveProperty('echo_upstream_body')
  expect(at(json, 'debug.timings.event')).toBe('upstream_body_ended')
  expect(at(json, 'headrace_metadata.dropped')).toEqual(['debug.echo_upstream_body'])
})
