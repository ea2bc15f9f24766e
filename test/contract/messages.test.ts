import { afterAll, expect, test } from 'bun:test'
import { at, startTestGateway, until } from '../support/gateway.ts'

// The provider behind it speaks chat completions; expectations are the contract's, section 2.4 of the specification.

const gateway = await startTestGateway({ credits: '5' })
afterAll(() => gateway.stop())

const message = {
  model: 'openai/gpt-4o-mini',
  max_tokens: 50,
  messages: [{ role: 'user', content: 'Say hello.' }],
}

test('2.4.w1 a message has every member that its body requires', async () => {
  const { status, json } = await gateway.post('/messages', message)
  expect(status).toBe(200)
  expect(json).toMatchObject({
    type: 'message',
    role: 'assistant',
    model: 'openai/gpt-4o-mini',
    container: null,
    stop_details: null,
    stop_sequence: null,
  })
  expect(typeof json['id']).toBe('string')
  expect(['end_turn', 'max_tokens']).toContain(String(json['stop_reason']))
  expect(at(json, 'content.0.type')).toBe('text')
  expect(Number(at(json, 'usage.input_tokens'))).toBeGreaterThan(0)
  expect(Number(at(json, 'usage.output_tokens'))).toBeGreaterThan(0)
  expect(Number(at(json, 'usage.cost'))).toBeGreaterThan(0)
})

test('2.4.w2 a streamed message has its events in order, ends with its usage, and is charged', async () => {
  const response = await gateway.request('/messages', { method: 'POST', body: { ...message, stream: true } })
  expect(response.headers.get('content-type')).toStartWith('text/event-stream')
  const text = await response.text()
  const types = [...text.matchAll(/^event: (\w+)$/gm)].map(([, type]) => type)
  expect(types[0]).toBe('message_start')
  expect(types.slice(-3)).toEqual(['content_block_stop', 'message_delta', 'message_stop'])
  const data = [...text.matchAll(/^data: (.*)$/gm)].map(([, json = '']) => JSON.parse(json))
  const end = data.find(({ type }) => type === 'message_delta')
  expect(Number(at(end, 'usage.cost'))).toBeGreaterThan(0)
  const id = response.headers.get('x-generation-id') ?? ''
  const { json } = await gateway.get(`/generation?id=${id}`)
  expect(Number(at(json, 'data.total_cost'))).toBe(Number(at(end, 'usage.cost')))
})

test('2.4.w3 the key may stand in x-api-key, and errors are in both envelopes', async () => {
  const accepted = await gateway.request('/messages', {
    method: 'POST',
    key: null,
    headers: { 'x-api-key': gateway.key },
    body: message,
  })
  expect(accepted.status).toBe(200)
  const refused = await gateway.post('/messages', { ...message, max_tokens: 0 })
  expect(refused.status).toBe(400)
  expect(refused.json['type']).toBe('error')
  expect(refused.json['error']).toMatchObject({ type: 'invalid_request_error', code: 400 })
  expect(String(at(refused.json, 'error.message'))).toContain('max_tokens')
  const unknown = await gateway.post('/messages', message, { key: 'no-such-key-0000000000' })
  expect([unknown.status, at(unknown.json, 'error.type')]).toEqual([401, 'authentication_error'])
})

test('2.4.w4 a tool is called with its arguments as an object, and its result goes back', async () => {
  const tools = [
    {
      name: 'weather',
      description: 'The weather of a city',
      input_schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
    },
  ]
  const asked = await gateway.post('/messages', { ...message, tools, tool_choice: { type: 'any' } })
  expect(asked.json['stop_reason']).toBe('tool_use')
  const content = asked.json['content'] as { type: string; id: string; name: string; input: unknown }[]
  const call = content.find(({ type }) => type === 'tool_use')
  expect(call?.name).toBe('weather')
  expect(typeof call?.input).toBe('object')
  const answered = await gateway.post('/messages', {
    ...message,
    tools,
    messages: [
      ...message.messages,
      { role: 'assistant', content },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: call?.id, content: 'sunny' }] },
    ],
  })
  expect([answered.status, answered.json['stop_reason']]).toEqual([200, 'end_turn'])
})

test('2.4.w5 what the provider cannot be sent is refused by name, and tuning is dropped and listed', async () => {
  const refused = await gateway.post('/messages', {
    ...message,
    tools: [{ type: 'web_search_20260209', name: 'web_search' }],
  })
  expect([refused.status, String(at(refused.json, 'error.message')).includes('tools')]).toEqual([400, true])
  const { json } = await gateway.post('/messages', { ...message, top_k: 5 })
  expect(at(json, 'headrace_metadata.dropped')).toEqual(['top_k'])
})

test('2.4.w6 tokens are counted without a call', async () => {
  const { status, json } = await gateway.post('/messages/count_tokens', message)
  expect(status).toBe(200)
  expect(Number(json['input_tokens'])).toBeGreaterThan(0)
})

test('2.4.w7 a batch of messages ends with bodies of this form', async () => {
  const created = await gateway.post('/batches', {
    endpoint: '/v1/messages',
    model: 'openai/gpt-4o-mini',
    requests: [
      { custom_id: 'good', body: { max_tokens: 20, messages: message.messages } },
      { custom_id: 'bad', body: { max_tokens: 20, messages: [] } },
    ],
  })
  expect(created.status).toBe(202)
  const ended = await until(
    async () => (await gateway.get(`/batches/${String(created.json['id'])}`)).json,
    ({ status }) => status === 'completed',
  )
  const results = ended['results'] as { custom_id: string; response: unknown; error: unknown }[]
  expect(at(results[0], 'response.body')).toMatchObject({
    type: 'message',
    role: 'assistant',
    container: null,
  })
  expect(at(results[1], 'error.message')).toContain('messages')
  expect(Number(at(ended, 'usage.cost'))).toBe(Number(at(results[0], 'response.body.usage.cost')))
})
