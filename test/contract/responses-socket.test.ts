import { afterAll, expect, test } from 'bun:test'
import { at, startTestGateway, until } from '../support/gateway.ts'
import { connectSocket, type SocketClient, type SocketEvent } from '../support/socket-client.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'

// Turns of the responses format over a WebSocket, as OpenAI documents them: one text message an event, the history of a
// connection in memory, errors as events.

const upstream = startScriptedUpstream()
const prices = { input_per_million: '1', output_per_million: '1' }
const gateway = await startTestGateway({
  credits: '5',
  providers: (simulator) => [
    {
      preset: 'sandbox',
      base_url: `${simulator}/v1`,
      api_key: 'sandbox',
      weight: 1,
      discover: false,
      models: [],
    },
    {
      preset: 'custom',
      id: 'own',
      base_url: upstream.url,
      api_key: 'key-of-a-test',
      weight: 1,
      discover: false,
      models: [{ id: 'own/model', upstream: 'model', prices }],
    },
  ],
})
const base = gateway.listen()
afterAll(async () => {
  await gateway.stop()
  await upstream.stop()
})

const model = 'openai/gpt-4o-mini'
const open = (key: string = gateway.key, url = `${base}/responses`): Promise<SocketClient> =>
  connectSocket(url, { authorization: `Bearer ${key}` })
const ends = ['response.completed', 'response.failed', 'response.incomplete', 'error']
const create = (more: Record<string, unknown>) => ({ type: 'response.create', model, ...more })

test('a turn is answered with the events of a stream, one message each, and is billed like a call', async () => {
  const client = await open()
  client.send(create({ input: 'Say hello.' }))
  const events = await client.until(...ends)
  expect(events[0]?.type).toBe('response.created')
  expect(events.map(({ sequence_number: number }) => number)).toEqual(events.map((_, index) => index))
  const last = events.at(-1)
  expect(last?.type).toBe('response.completed')
  expect(Number(at(last, 'response.usage.cost'))).toBeGreaterThan(0)
  const row = await gateway.readUsage(String(at(last, 'response.id')))
  expect(row?.['status']).toBe('completed')
  client.close()
})

test('a turn goes on from the answer before it and sends only what is new', async () => {
  answerChat('Blue.')
  const client = await open()
  client.send(create({ model: 'own/model', instructions: 'Be short.', input: 'My colour is blue.' }))
  const first = (await client.until(...ends)).at(-1)
  client.send(
    create({ model: 'own/model', previous_response_id: at(first, 'response.id'), input: [said('Which?')] }),
  )
  const second = (await client.until(...ends)).at(-1)
  expect(second?.type).toBe('response.completed')
  // The instructions of the turn before are not carried over.
  expect(textsSent()).toEqual(['user: My colour is blue.', 'assistant: Blue.', 'user: Which?'])
  client.send(create({ model: 'own/model', previous_response_id: at(second, 'response.id'), input: 'Sure?' }))
  await client.until(...ends)
  expect(textsSent()).toEqual([
    'user: My colour is blue.',
    'assistant: Blue.',
    'user: Which?',
    'assistant: Blue.',
    'user: Sure?',
  ])
  // Going back to an earlier answer is possible too.
  client.send(create({ model: 'own/model', previous_response_id: at(first, 'response.id'), input: 'Again?' }))
  await client.until(...ends)
  expect(textsSent()).toEqual(['user: My colour is blue.', 'assistant: Blue.', 'user: Again?'])
  client.close()
})

test('a warm-up asks no provider, costs nothing, and a turn goes on from it', async () => {
  answerChat('Yes.')
  const client = await open()
  const asked = upstream.seen.length
  client.send(create({ model: 'own/model', generate: false, input: [said('Read this.')] }))
  const events = await client.until(...ends)
  expect(events.map(({ type }) => type)).toEqual(['response.created', 'response.completed'])
  const response = events[1]?.['response'] as Record<string, unknown>
  expect(response).toMatchObject({ status: 'completed', output: [], model: 'own/model' })
  expect(at(response, 'usage.total_tokens')).toBe(0)
  expect(upstream.seen.length).toBe(asked)
  expect(await gateway.readUsage(String(response['id']))).toBeUndefined()
  client.send(create({ model: 'own/model', previous_response_id: response['id'], input: 'Did you?' }))
  await client.until(...ends)
  expect(textsSent()).toEqual(['user: Read this.', 'user: Did you?'])
  client.close()
})

test('an answer of another connection is not found, in words that clients know', async () => {
  const first = await open()
  first.send(create({ input: 'Say hello.' }))
  const id = at((await first.until(...ends)).at(-1), 'response.id')
  const second = await open()
  second.send(create({ previous_response_id: id, input: 'Go on.' }))
  const refusal = await second.next()
  expect(refusal).toMatchObject({
    type: 'error',
    status: 400,
    error: {
      type: 'invalid_request_error',
      code: 'previous_response_not_found',
      param: 'previous_response_id',
    },
  })
  // The connection goes on.
  second.send(create({ input: 'Say hello.' }))
  expect((await second.until(...ends)).at(-1)?.type).toBe('response.completed')
  first.close()
  second.close()
})

test.each([
  ['not JSON', '{"type":', 'invalid_request_error', null],
  ['another event', '{"type":"response.steer","input":"x"}', 'invalid_request_error', 'type'],
  ['no input', create({}), 'invalid_request_error', 'input'],
  ['a stored answer', create({ input: 'x', store: true }), 'invalid_request_error', 'store'],
  ['a background answer', create({ input: 'x', background: true }), 'invalid_request_error', 'background'],
  ['a lane that is no text', create({ input: 'x', stream_id: 3 }), 'invalid_request_error', 'stream_id'],
  [
    'an id that is no text',
    create({ input: 'x', previous_response_id: {} }),
    'invalid_request_error',
    'previous_response_id',
  ],
] as const)(
  '%s is an error that names the member, and the connection goes on',
  async (_, message, type, param) => {
    const client = await open()
    client.send(message)
    const refusal = await client.next()
    expect(refusal).toMatchObject({ type: 'error', status: 400, error: { type } })
    expect(at(refusal, 'error.param')).toBe(param)
    client.send(create({ input: 'Say hello.' }))
    expect((await client.until(...ends)).at(-1)?.type).toBe('response.completed')
    client.close()
  },
)

test('an error names the lane of its turn, and an input that is none is refused beside a history too', async () => {
  const client = await open()
  client.send(create({ input: 'x', generate: 'no', stream_id: 'a' }))
  expect(await client.next()).toMatchObject({ type: 'error', stream_id: 'a', error: { param: 'generate' } })
  client.send(create({ input: 'Say hello.' }))
  const id = at((await client.until(...ends)).at(-1), 'response.id')
  client.send(create({ input: 5, previous_response_id: id }))
  expect(await client.next()).toMatchObject({ type: 'error', status: 400, error: { param: 'input' } })
  client.close()
})

test('an unknown model, and an account without credits, are errors with their status', async () => {
  const client = await open()
  client.send(create({ model: 'nobody/nothing', input: 'x' }))
  expect(await client.next()).toMatchObject({
    type: 'error',
    status: 400,
    error: { code: 'model_not_found' },
  })
  client.close()
  const poor = await gateway.addOrganization({ credits: '0.0000001' })
  const without = await open(poor.key)
  without.send(create({ input: 'x' }))
  expect(await without.next()).toMatchObject({
    type: 'error',
    status: 402,
    error: { code: 'insufficient_quota' },
  })
  without.close()
})

test('turns of one lane run one after the other, those of two lanes at once, and events name their lane', async () => {
  const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  let asked = 0
  upstream.answer(async () => {
    await gates[Math.min(asked++, 1)]?.promise
    return chatStream('Yes.')
  })
  const client = await open()
  for (const lane of ['a', 'a', 'b']) client.send(create({ model: 'own/model', stream_id: lane, input: 'x' }))
  await until(
    async () => asked,
    (count) => count === 2,
  )
  await Bun.sleep(50)
  expect(asked).toBe(2)
  gates[1]?.resolve()
  const ofB = await client.until(...ends)
  expect(new Set(ofB.map(({ stream_id: lane }) => lane))).toEqual(new Set(['b']))
  expect(asked).toBe(2)
  gates[0]?.resolve()
  const ofA = [...(await client.until(...ends)), ...(await client.until(...ends))]
  expect(new Set(ofA.map(({ stream_id: lane }) => lane))).toEqual(new Set(['a']))
  expect(asked).toBe(3)
  client.close()
})

test('a client that leaves ends its call, which is settled like a stream that a caller left', async () => {
  let left: AbortSignal | null = null
  upstream.answer(({ signal }) => {
    left = signal
    return chatStream('Ye', { isOpen: true })
  })
  const client = await open()
  client.send(create({ model: 'own/model', input: 'x' }))
  const id = String(at(await client.next(), 'response.id'))
  client.close()
  await until(
    async () => left?.aborted,
    (is) => is === true,
  )
  await until(
    async () => (await gateway.readUsage(id))?.['status'],
    (status) => status === 'cancelled',
  )
})

test('a connection needs a key for inference, and a key that ends meanwhile ends it', async () => {
  await expect(connectSocket(`${base}/responses`, {})).rejects.toThrow()
  await expect(open('sk-hr-v1-unknown')).rejects.toThrow()
  await expect(open(gateway.managementKey)).rejects.toThrow()
  const other = await gateway.addOrganization({ credits: '1' })
  const client = await open(other.key)
  client.send(create({ input: 'Say hello.' }))
  expect((await client.until(...ends)).at(-1)?.type).toBe('response.completed')
  await gateway.deleteOrganization(other.organizationId)
  const again = async (): Promise<SocketEvent | undefined> => {
    client.send(create({ input: 'Say hello.' }))
    return (await client.until(...ends)).at(-1)
  }
  expect(await until(again, (last) => last?.type === 'error')).toMatchObject({
    status: 401,
    error: { code: 'invalid_api_key' },
  })
  expect((await client.closed).code).toBe(1008)
})

test('bytes end a connection, and a message beyond the largest body ends it as too large', async () => {
  const client = await open()
  client.socket.send(new Uint8Array([1, 2, 3]))
  expect((await client.closed).code).toBe(1003)
  const large = await open()
  large.send(`"${'x'.repeat(64_000_000)}"`)
  expect((await large.closed).code).toBe(1009)
})

test('a message of 20 MB is a turn', async () => {
  answerChat('Long.')
  const client = await open()
  client.send(create({ model: 'own/model', input: 'x'.repeat(20_000_000) }))
  const last = (await client.until(...ends)).at(-1)
  // More than any balance covers; what matters is that it was read.
  expect(last).toMatchObject({ type: 'error', status: 402 })
  client.close()
})

test('a socket is served at every base address of responses, and elsewhere 426 says what to do', async () => {
  const root = base.replace(/\/v1$/, '')
  for (const path of ['/v1/responses', '/api/v1/responses', '/openai/v1/responses']) {
    const client = await open(gateway.key, `${root}${path}`)
    client.send(create({ input: 'Say hello.' }))
    expect((await client.until(...ends)).at(-1)?.type).toBe('response.completed')
    client.close()
  }
  const offer = { connection: 'Upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' }
  for (const path of ['/chat/completions', '/models', '/nowhere']) {
    const { status, json, headers } = await gateway.get(path, { headers: offer })
    expect(status).toBe(426)
    expect(headers.get('upgrade')).toBe('websocket')
    expect(String(at(json, 'error.message'))).toContain('Send the same request as HTTP')
  }
})

test('other protocols that a client offers are ignored', async () => {
  const headers = {
    connection: 'Upgrade, HTTP2-Settings',
    upgrade: 'h2c',
    'http2-settings': 'AAMAAABkAAQCAAAAAAIAAAAA',
  }
  expect((await gateway.get('/models', { headers })).status).toBe(200)
  expect((await gateway.post('/responses', { model, input: 'x' }, { headers })).status).toBe(200)
})

function said(text: string): unknown {
  return { type: 'message', role: 'user', content: [{ type: 'input_text', text }] }
}

/** The texts that the provider was sent last, with their roles. */
function textsSent(): string[] {
  const { messages } = JSON.parse(Buffer.from(upstream.seen.at(-1)?.body ?? '', 'latin1').toString()) as {
    messages: { role: string; content: string | { text: string }[] }[]
  }
  return messages.map(
    ({ role, content }) =>
      `${role}: ${typeof content === 'string' ? content : content.map(({ text }) => text).join('')}`,
  )
}

function answerChat(text: string): void {
  upstream.answer(() => chatStream(text))
}

function chatStream(text: string, { isOpen = false } = {}): Response {
  const chunk = (delta: unknown, finish: string | null, usage?: unknown) =>
    `data: ${JSON.stringify({
      id: 'chatcmpl-1',
      object: 'chat.completion.chunk',
      created: 1,
      model: 'model',
      choices: [{ index: 0, delta, finish_reason: finish }],
      ...(usage === undefined ? {} : { usage }),
    })}\n\n`
  const usage = { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 }
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(Buffer.from(chunk({ role: 'assistant', content: text }, null)))
      if (isOpen) return
      controller.enqueue(Buffer.from(`${chunk({}, 'stop', usage)}data: [DONE]\n\n`))
      controller.close()
    },
  })
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
}
