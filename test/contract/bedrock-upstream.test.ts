import Anthropic from '@anthropic-ai/sdk'
import { afterAll, expect, test } from 'bun:test'
import OpenAI from 'openai'
import { at, startTestGateway } from '../support/gateway.ts'

// The provider speaks Converse and binary events, and Claude’s own format inside them; requests are signed with the keys of the
// configuration.

/** A profile of the account's own, whose ARN names no model. */
const profile = 'arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/a1b2c3d4e5f6'
const prices = { input_per_million: '1', output_per_million: '2', cached_input_per_million: '0.1' }
const gateway = await startTestGateway({
  credits: '50',
  providers: (url) => [
    {
      preset: 'amazon-bedrock',
      base_url: `${url}/p/bedrock`,
      region: 'us-east-1',
      identity: {
        access_key_id: 'AKIASIMULATED',
        secret_access_key: 'simulated-secret-key',
        session_token: 'simulated-session',
      },
      weight: 1,
      models: [
        {
          id: 'anthropic/claude-sonnet-4-5',
          upstream: 'us.anthropic.claude-sonnet-4-5-20250929-v1:0',
          prices,
        },
        { id: 'amazon/nova-2-lite-v1', upstream: 'us.amazon.nova-2-lite-v1:0', prices },
        {
          id: 'amazon/titan-embed-text-v2',
          upstream: 'amazon.titan-embed-text-v2:0',
          prices: { input_per_million: '1' },
        },
        {
          id: 'amazon/nova-2-multimodal-embeddings-v1',
          upstream: 'amazon.nova-2-multimodal-embeddings-v1:0',
          prices: { input_per_million: '1' },
        },
        { id: 'cohere/embed-v4', upstream: 'cohere.embed-v4:0', prices: { input_per_million: '1' } },
        { id: 'anthropic/claude-opus-4.6', upstream: profile },
      ],
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
const dot = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const city = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }

async function lastAsked(): Promise<{
  path: string
  headers: Record<string, string>
  body: Record<string, unknown>
}> {
  const { last_requests: requests } = (await gateway.admin('counters?mount=bedrock')) as {
    last_requests: { path: string; headers: Record<string, string>; body: string }[]
  }
  const last = requests.at(-1)
  if (last === undefined) throw new Error('nothing was asked')
  return { ...last, body: JSON.parse(last.body) as Record<string, unknown> }
}

test('chat completions: text, a stream and a tool loop, each charged', async () => {
  const messages = [
    { role: 'system' as const, content: 'Be brief.' },
    { role: 'user' as const, content: 'How is it in Oslo?' },
  ]
  const whole = await openai.chat.completions.create({ model, messages })
  expect(whole.choices[0]?.finish_reason).toBe('stop')
  expect(Number(at(whole, 'usage.cost'))).toBe(
    ((whole.usage?.prompt_tokens ?? 0) + 2 * (whole.usage?.completion_tokens ?? 0)) / 1e6,
  )
  const asked = await lastAsked()
  expect(asked.path).toBe('/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse')
  expect(asked.headers['authorization']).toMatch(
    /^AWS4-HMAC-SHA256 Credential=AKIASIMULATED\/\d{8}\/us-east-1\/bedrock\/aws4_request, /,
  )
  expect(asked.headers['x-amz-security-token']).toBe('simulated-session')
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
  expect(answered.choices[0]?.message.content).toContain('sunny')
})

test('a profile by its ARN is known as the model of its public id: cache marks, images, thoughts and price', async () => {
  const answer = await openai.chat.completions.create({
    model: 'anthropic/claude-opus-4.6',
    reasoning_effort: 'low',
    messages: [
      {
        role: 'user',
        content: [
          { type: 'image_url', image_url: { url: `data:image/png;base64,${dot}` } },
          { type: 'text', text: 'Hi.', cache_control: { type: 'ephemeral' } } as {
            type: 'text'
            text: string
          },
        ],
      },
    ],
  })
  const { path, body } = await lastAsked()
  expect(path).toBe(`/model/${encodeURIComponent(profile)}/converse`)
  expect(at(body, 'messages.0.content')).toEqual([
    { image: { format: 'png', source: { bytes: dot } } },
    { text: 'Hi.' },
    { cachePoint: { type: 'default' } },
  ])
  expect(at(body, 'additionalModelRequestFields.thinking')).toBeDefined()
  expect(Number(at(answer, 'usage.cost'))).toBeGreaterThan(0)
})

test('Claude by InvokeModel is sent no beta and no member that Bedrock refuses, and each is listed', async () => {
  const answer = await gateway.post(
    '/messages',
    {
      model,
      max_tokens: 100,
      system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral', scope: 'global' } }],
      messages: [{ role: 'user', content: 'Hi' }],
      tools: [{ name: 'look', input_schema: { type: 'object' }, defer_loading: true }],
      context_management: { edits: [] },
      service_tier: 'auto',
    },
    {
      headers: {
        'anthropic-beta': 'claude-code-20250219,interleaved-thinking-2025-05-14,oauth-2025-04-20',
      },
    },
  )
  expect(answer.status).toBe(200)
  const { body } = await lastAsked()
  expect(body['anthropic_beta']).toEqual(['interleaved-thinking-2025-05-14'])
  expect(body['system']).toEqual([{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }])
  expect(body['tools']).toEqual([{ name: 'look', input_schema: { type: 'object' } }])
  expect(Object.keys(body)).not.toContain('context_management')
  expect(Object.keys(body)).not.toContain('service_tier')
  expect(at(answer.json, 'headrace_metadata.dropped')).toEqual([
    'service_tier',
    'context_management',
    'anthropic-beta: claude-code-20250219',
    'anthropic-beta: oauth-2025-04-20',
    'system[].cache_control.scope',
    'tools[].defer_loading',
  ])
  const searching = await gateway.post('/messages', {
    model,
    max_tokens: 100,
    messages: [{ role: 'user', content: 'Hi' }],
    tools: [{ type: 'web_search_20250305', name: 'web_search' }],
  })
  expect([
    searching.status,
    at(searching.json, 'error.metadata.param') ?? at(searching.json, 'error.param'),
  ]).toEqual([400, 'tools[0].type'])
})

test('messages: thoughts come with their signature and go back to the provider unchanged', async () => {
  const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'Think about the weather in Oslo.' }]
  const thinking = { type: 'enabled' as const, budget_tokens: 1_024 }
  const first = await anthropic.messages.create({ model, max_tokens: 4_000, thinking, messages })
  expect(first.content.map(({ type }) => type)).toEqual(['thinking', 'text'])
  const again = await anthropic.messages
    .stream({
      model,
      max_tokens: 4_000,
      thinking,
      messages: [
        ...messages,
        { role: 'assistant', content: first.content },
        { role: 'user', content: 'And tomorrow?' },
      ],
    })
    .finalMessage()
  expect(again.stop_reason).toBe('end_turn')
  const { body, path } = await lastAsked()
  expect(path).toBe('/model/us.anthropic.claude-sonnet-4-5-20250929-v1%3A0/invoke-with-response-stream')
  expect(Object.keys(body).toSorted()).toEqual(['anthropic_version', 'max_tokens', 'messages', 'thinking'])
  // Without the envelope that names the provider, which only the caller sees.
  const { signature = '' } = first.content[0] as { signature?: string }
  expect(signature).toMatch(/^hr1\./)
  expect(at(body, 'messages.1.content.0.thinking')).toBe(at(first, 'content.0.thinking'))
  expect(signature).not.toBe(at(body, 'messages.1.content.0.signature'))
  const { text } = first.content[1] as { text?: string }
  expect(at(body, 'messages.1.content.1')).toEqual({ type: 'text', text })
})

test('messages: betas go in the body, and every model without Claude’s format is asked by Converse', async () => {
  const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'Say hello' }]
  const headers = { 'anthropic-beta': 'context-1m-2025-08-07, interleaved-thinking-2025-05-14' }
  await anthropic.messages.create({ model, max_tokens: 50, messages }, { headers })
  const { body, headers: sent } = await lastAsked()
  expect(body['anthropic_beta']).toEqual(['context-1m-2025-08-07', 'interleaved-thinking-2025-05-14'])
  expect(sent['anthropic-beta']).toBeUndefined()
  await anthropic.messages.create({ model: 'amazon/nova-2-lite-v1', max_tokens: 50, messages })
  expect((await lastAsked()).path).toBe('/model/us.amazon.nova-2-lite-v1%3A0/converse')
})

test.each([
  ['amazon/titan-embed-text-v2', 512],
  ['amazon/nova-2-multimodal-embeddings-v1', 256],
  ['cohere/embed-v4', 1_024],
])('embeddings: %s gives a vector for each text, and what it counted is charged', async (named, length) => {
  const input = ['Oslo', 'Bergen', 'Tromsø']
  const asked = { model: named, input, dimensions: length, encoding_format: 'float' as const }
  const answer = await openai.embeddings.create(asked)
  expect(answer.data.map(({ index, embedding }) => [index, embedding.length])).toEqual([
    [0, length],
    [1, length],
    [2, length],
  ])
  const [first] = (await openai.embeddings.create({ ...asked, input: 'Oslo' })).data
  expect(answer.data[0]?.embedding).toEqual(first?.embedding ?? [])
  expect(answer.usage.prompt_tokens).toBeGreaterThanOrEqual(3)
  expect(Number(at(answer, 'usage.cost'))).toBe(answer.usage.prompt_tokens / 1e6)
})

test('responses: a stream, and an answer that is held to its schema', async () => {
  const stream = await openai.responses.create({ model, input: 'Say hello', stream: true })
  let text = ''
  let last = ''
  for await (const event of stream) {
    if (event.type === 'response.output_text.delta') text += event.delta
    last = event.type
  }
  expect([last, text]).toEqual(['response.completed', expect.stringContaining('Hello')])
  const format = {
    type: 'json_schema' as const,
    name: 'place',
    schema: { ...city, additionalProperties: false },
    strict: true,
  }
  const held = await openai.responses.create({ model, input: 'Where is it sunny?', text: { format } })
  expect(JSON.parse(held.output_text)).toEqual({ city: expect.any(String) })
})

test('cache marks become points, and what was cached is charged as such', async () => {
  await gateway.admin('faults', { mount: 'bedrock', rules: [{ fault: 'cached_tokens=40' }] })
  const text = 'x '.repeat(100)
  const content = [
    { type: 'text', text, cache_control: { type: 'ephemeral' } },
    { type: 'text', text: 'Say it.' },
  ]
  const messages = [{ role: 'user', content }] as unknown as OpenAI.ChatCompletionMessageParam[]
  const answer = await openai.chat.completions.create({ model, max_tokens: 50, messages })
  await gateway.admin('faults', { mount: 'bedrock', rules: [] })
  const { body } = await lastAsked()
  expect(at(body, 'messages.0.content.1')).toEqual({ cachePoint: { type: 'default' } })
  expect(answer.usage?.prompt_tokens_details?.cached_tokens).toBe(40)
})

test.each([
  ['status=429', 429, 'rate_limit_exceeded'],
  ['status=424', 502, 'provider_unavailable'],
  ['status=408', 524, 'timeout'],
  ['status=503', 529, 'provider_overloaded'],
])('%s is %s here', async (fault, status, type) => {
  await gateway.admin('faults', { mount: 'bedrock', rules: [{ fault }] })
  const asked = { model: 'amazon/nova-2-lite-v1', messages: [{ role: 'user', content: 'hi' }] }
  const { status: given, json } = await gateway.post('/chat/completions', asked)
  await gateway.admin('faults', { mount: 'bedrock', rules: [] })
  expect([given, at(json, 'error.metadata.error_type') ?? at(json, 'error.error_type')]).toEqual([
    status,
    type,
  ])
})

test.each(['chat', 'messages'])('an exception in a stream of %s ends it with its reason', async (format) => {
  await gateway.admin('faults', { mount: 'bedrock', rules: [{ fault: 'error_chunk=3' }] })
  const messages = [{ role: 'user' as const, content: 'Say hello' }]
  const asked = { model, messages, max_tokens: 50, stream: true } as const
  const stream = format === 'chat' ? openai.chat.completions.create(asked) : anthropic.messages.create(asked)
  const read = async () => {
    for await (const _ of await stream) continue
  }
  const thrown: unknown = await read().catch((error: unknown) => error)
  await gateway.admin('faults', { mount: 'bedrock', rules: [] })
  expect(thrown).toBeInstanceOf(Error)
})
