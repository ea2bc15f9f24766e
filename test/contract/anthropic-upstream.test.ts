import Anthropic from '@anthropic-ai/sdk'
import { afterAll, expect, test } from 'bun:test'
import OpenAI from 'openai'
import { at, startTestGateway, until } from '../support/gateway.ts'

// The provider speaks Anthropic's messages; the callers are the official clients of all three formats.

const gateway = await startTestGateway({
  credits: '5',
  providers: (url) => [
    {
      preset: 'anthropic',
      base_url: `${url}/v1`,
      api_key: 'simulated-key',
      weight: 1,
      models: [{ id: 'anthropic/claude-sonnet-4-5' }],
      discover: false,
    },
  ],
})
afterAll(() => gateway.stop())

const address = gateway.listen()
const openai = new OpenAI({ baseURL: address, apiKey: gateway.key, maxRetries: 0 })
const anthropic = new Anthropic({
  baseURL: address.replace(/\/v1$/, ''),
  authToken: gateway.key,
  apiKey: null,
  maxRetries: 0,
})
const model = 'anthropic/claude-sonnet-4-5'
const newest = 'anthropic/claude-opus-5'
const city = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }

test('2.4.u1 chat completions: text, a stream and a tool loop, each charged', async () => {
  const messages = [
    { role: 'system' as const, content: 'Be brief.' },
    { role: 'user' as const, content: 'How is it in Oslo?' },
  ]
  const whole = await openai.chat.completions.create({ model, messages })
  expect(whole.choices[0]?.finish_reason).toBe('stop')
  expect(whole.choices[0]?.message.content?.length).toBeGreaterThan(0)
  expect(Number(at(whole, 'usage.cost'))).toBeGreaterThan(0)

  const tools = [{ type: 'function' as const, function: { name: 'weather', parameters: city } }]
  const stream = openai.chat.completions.stream({ model, messages, tools, tool_choice: 'required' })
  const called = await stream.finalChatCompletion()
  const message = called.choices[0]?.message
  const call = message?.tool_calls?.[0]
  expect([called.choices[0]?.finish_reason, call?.function.name]).toEqual(['tool_calls', 'weather'])
  const answered = await openai.chat.completions.create({
    model,
    tools,
    messages: [
      ...messages,
      { role: 'assistant', content: null, tool_calls: message?.tool_calls ?? [] },
      { role: 'tool', tool_call_id: call?.id ?? '', content: 'sunny' },
    ],
  })
  expect(answered.choices[0]?.finish_reason).toBe('stop')
})

test('2.4.u2 chat completions: an answer is held to its schema', async () => {
  const answer = await openai.chat.completions.create({
    model,
    messages: [{ role: 'user', content: 'Where is it sunny?' }],
    response_format: {
      type: 'json_schema',
      json_schema: { name: 'place', schema: { ...city, additionalProperties: false }, strict: true },
    },
  })
  expect(JSON.parse(answer.choices[0]?.message.content ?? '')).toEqual({ city: expect.any(String) })
})

test('2.4.u3 reasoning comes with its signature and goes back unchanged', async () => {
  const messages = [{ role: 'user' as const, content: 'Think about the weather in Oslo.' }]
  const first = await gateway.post('/chat/completions', {
    model: newest,
    messages,
    reasoning: { effort: 'high' },
  })
  expect(first.status).toBe(200)
  const details = at(first.json, 'choices.0.message.reasoning_details') as Record<string, unknown>[]
  expect(details[0]).toMatchObject({ type: 'reasoning.text', format: 'anthropic-claude-v1' })
  expect(typeof details[0]?.['signature']).toBe('string')
  // The simulated provider refuses a signature that is not its own, byte for byte.
  const second = await gateway.post('/chat/completions', {
    model: newest,
    messages: [...messages, at(first.json, 'choices.0.message'), { role: 'user', content: 'And now?' }],
    reasoning: { effort: 'high' },
  })
  expect([second.status, second.text.slice(0, 300)]).toEqual([200, expect.any(String)])
})

test('2.4.u4 responses: a thought goes out sealed, comes back, and reaches the provider as it was', async () => {
  const first = await openai.responses.create({
    model: newest,
    input: 'Think about the weather in Oslo.',
    reasoning: { effort: 'high', summary: 'auto' },
    include: ['reasoning.encrypted_content'],
    store: false,
  })
  const thought = first.output.find((entry) => entry.type === 'reasoning')
  expect(thought?.encrypted_content).toStartWith('hr1.messages.')
  const said = first.output.find((entry) => entry.type === 'message')
  const second = await openai.responses.create({
    model: newest,
    input: [
      { role: 'user', content: 'Think about the weather in Oslo.' },
      ...(thought ? [thought] : []),
      ...(said ? [said] : []),
      { role: 'user', content: 'And now?' },
    ],
    reasoning: { effort: 'high' },
    store: false,
  })
  expect([second.status, second.output_text.length > 0]).toEqual(['completed', true])
})

test('2.4.u5 messages: the official client streams, and cache marks reach the provider', async () => {
  const long = 'The headrace carries water from the gate to the turbines. '.repeat(400)
  const ask = () =>
    anthropic.messages
      .stream({
        model,
        max_tokens: 50,
        system: [{ type: 'text', text: long, cache_control: { type: 'ephemeral' } }],
        messages: [{ role: 'user', content: 'What does it carry?' }],
      })
      .finalMessage()
  const first = await ask()
  expect(first.stop_reason).toBe('end_turn')
  expect(first.usage.cache_creation_input_tokens).toBeGreaterThan(0)
  const second = await ask()
  expect(second.usage.cache_read_input_tokens).toBe(first.usage.cache_creation_input_tokens)
})

test('2.4.u6 a batch of each format ends with bodies of its own form', async () => {
  const bodies = {
    '/v1/chat/completions': [{ messages: [{ role: 'user', content: 'x' }] }, 'object', 'chat.completion'],
    '/v1/responses': [{ input: 'x' }, 'object', 'response'],
    '/v1/messages': [{ max_tokens: 9, messages: [{ role: 'user', content: 'x' }] }, 'type', 'message'],
  } as const
  for (const [endpoint, [body, member, value]] of Object.entries(bodies)) {
    const created = await gateway.post('/batches', {
      endpoint,
      model,
      requests: [{ custom_id: 'one', body }],
    })
    expect([endpoint, created.status]).toEqual([endpoint, 202])
    const ended = await until(
      async () => (await gateway.get(`/batches/${String(created.json['id'])}`)).json,
      ({ status }) => status === 'completed',
    )
    expect([endpoint, at(ended, `results.0.response.body.${member}`)]).toEqual([endpoint, value])
    expect(Number(at(ended, 'usage.cost'))).toBeGreaterThan(0)
  }
})

test('2.4.u7 messages: members that only the provider knows reach it and come back unchanged', async () => {
  const stream = await gateway.request('/messages', {
    method: 'POST',
    headers: { 'anthropic-beta': 'context-management-2025-06-27' },
    body: {
      model: newest,
      max_tokens: 2_000,
      thinking: { type: 'adaptive' },
      output_config: { effort: 'low' },
      context_management: { edits: [] },
      messages: [{ role: 'user', content: 'Think about the weather.' }],
      stream: true,
    },
  })
  const text = await stream.text()
  const types = [...text.matchAll(/^event: (\w+)$/gm)].map(([, type]) => type)
  expect([types[0], types.at(-2), types.at(-1)]).toEqual(['message_start', 'message_delta', 'message_stop'])
  const data = [...text.matchAll(/^data: (.*)$/gm)].map(([, json = '']) => JSON.parse(json))
  expect(data[0].message).toMatchObject({ id: expect.stringMatching(/^gen-/), model: newest })
  const delta = data.find(({ type }) => type === 'message_delta')
  expect(Number(at(delta, 'usage.cost'))).toBeGreaterThan(0)
  expect(Number(at(delta, 'usage.output_tokens'))).toBeGreaterThan(0)
  const asked = (await gateway.admin('counters?requests=1&bodies=1')) as { requests?: { body?: unknown }[] }
  expect(JSON.stringify(asked)).toContain('context_management')

  const { json } = await gateway.post('/messages', {
    model,
    max_tokens: 20,
    messages: [{ role: 'user', content: 'x' }],
  })
  expect(json).toMatchObject({ type: 'message', container: null, stop_details: null, model })
  expect(at(json, 'usage.cache_creation')).not.toBeUndefined()
})

test('2.4.u8 a thread that the provider cannot keep is refused with the text on which clients send the whole conversation', async () => {
  const chat = await startTestGateway()
  const { status, json } = await chat.post('/messages', {
    model: 'openai/gpt-4o-mini',
    max_tokens: 20,
    thread: { type: 'create' },
    messages: [{ role: 'user', content: 'x' }],
  })
  expect([status, at(json, 'error.details.error_code')]).toEqual([400, 'thread_unsupported_request'])
  await chat.stop()
})

test('2.4.u9 responses: tools in a namespace are called and come back under it', async () => {
  const tools = [
    {
      type: 'namespace',
      name: 'places',
      description: 'About places.',
      tools: [{ type: 'function', name: 'weather', description: 'The weather.', parameters: city }],
    },
  ]
  const input = [{ role: 'user', content: 'How is it in Oslo?' }]
  const asked = await gateway.post('/responses', { model, input, tools, tool_choice: 'required' })
  const call = at(asked.json, 'output.0')
  expect(call).toMatchObject({ type: 'function_call', namespace: 'places', name: 'weather' })
  const sent = { type: 'function_call_output', call_id: at(call, 'call_id'), output: 'sunny' }
  const answered = await gateway.post('/responses', { model, input: [...input, call, sent], tools })
  expect(at(answered.json, 'output.0.content.0.text')).toBe('The tool answered: sunny')
  expect([asked, answered].map(({ json }) => at(json, 'headrace_metadata.dropped'))).toEqual([
    undefined,
    undefined,
  ])
  const counters = await gateway.admin('counters')
  const last = JSON.parse(String(at((counters['last_requests'] as unknown[]).at(-1), 'body')))
  expect(last.tools[0]).toMatchObject({
    name: 'places__weather',
    description: 'About places.\n\nThe weather.',
  })
  expect(at(last, 'messages.1.content.0')).toMatchObject({ type: 'tool_use', name: 'places__weather' })

  const stream = await gateway.request('/responses', {
    method: 'POST',
    body: { model, input, tools, tool_choice: 'required', stream: true },
  })
  const data = [...(await stream.text()).matchAll(/^data: (.*)$/gm)].map(([, json = '']) => JSON.parse(json))
  const items = data.filter(({ type }) => type.startsWith('response.output_item.')).map(({ item }) => item)
  const named = { namespace: 'places', name: 'weather' }
  expect(items).toMatchObject([named, named])
  expect(at(data.at(-1), 'response.output.0')).toMatchObject(named)
})

test('2.4.u10 responses: a tool that only its own provider runs is refused by its name', async () => {
  const { status, json } = await gateway.post('/responses', {
    model,
    input: 'x',
    tools: [{ type: 'web_search' }],
  })
  expect([status, at(json, 'error.param')]).toEqual([400, 'tools'])
  expect(String(at(json, 'error.message'))).toContain('"web_search"')
})

test('2.4.u11 chat completions: a streamed call without arguments has an empty object', async () => {
  await gateway.admin('scripts', [
    { match: { marker: 'TASK-EMPTY' }, turns: [{ tool_calls: [{ name: 'note', arguments: {} }] }] },
  ])
  const stream = openai.chat.completions.stream({
    model,
    messages: [{ role: 'user', content: 'TASK-EMPTY' }],
    tools: [{ type: 'function', function: { name: 'note', parameters: { type: 'object', properties: {} } } }],
  })
  const { choices } = await stream.finalChatCompletion()
  expect(choices[0]?.message.tool_calls?.[0]).toMatchObject({ function: { name: 'note', arguments: '{}' } })
})

test('2.4.u12 responses: a thought whose text the client does not keep reaches the provider as it was', async () => {
  const reasoning = { effort: 'high' }
  const input = [{ role: 'user', content: 'Think about the weather in Zürich.' }]
  const first = await gateway.post('/responses', { model: newest, input, reasoning })
  const { content, ...thought } = at(first.json, 'output.0') as Record<string, unknown>
  expect(content).toMatchObject([{ type: 'reasoning_text' }])
  const next = { role: 'user', content: 'And now?' }
  // The simulated provider refuses a signature whose words have changed.
  const second = await gateway.post('/responses', {
    model: newest,
    input: [...input, thought, at(first.json, 'output.1'), next],
    reasoning,
  })
  expect([second.status, second.json['status']]).toEqual([200, 'completed'])
})

test('2.4.u13 answers have the tier in words that clients of their format know, and all counts', async () => {
  const messages = [{ role: 'user' as const, content: 'x' }]
  const chat = await gateway.post('/chat/completions', { model, messages })
  expect(chat.json['service_tier']).toBe('default')
  const responses = await gateway.post('/responses', { model, input: 'x' })
  expect(responses.json['service_tier']).toBe('default')
  expect(at(responses.json, 'usage.input_tokens_details')).toEqual({
    cached_tokens: 0,
    cache_write_tokens: 0,
  })
  const onChat = await startTestGateway()
  const { json } = await onChat.post('/messages', { model: 'openai/gpt-4o-mini', max_tokens: 20, messages })
  expect(at(json, 'usage.service_tier')).toBe('standard')
  await onChat.stop()
})
