import Anthropic from '@anthropic-ai/sdk'
import { afterAll, expect, test } from 'bun:test'
import OpenAI from 'openai'
import { at, startTestGateway } from '../support/gateway.ts'

// The provider speaks version 2 of Cohere's API; what it bills is in counts of its own.

const prices = { input_per_million: '1', output_per_million: '2' }
const gateway = await startTestGateway({
  credits: '50',
  providers: (url) => [
    {
      preset: 'cohere',
      base_url: `${url}/p/command/cohere`,
      api_key: 'k',
      weight: 1,
      models: [
        { id: 'cohere/command-a', upstream: 'command-a-03-2025', prices },
        { id: 'cohere/command-a-reasoning', upstream: 'command-a-reasoning-08-2025', prices },
        { id: 'cohere/embed-v4', upstream: 'embed-v4.0', prices: { input_per_million: '1' } },
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
const model = 'cohere/command-a'
const city = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }

async function lastBody(): Promise<Record<string, unknown>> {
  const counters = (await gateway.admin('counters?mount=command')) as { last_requests: { body: string }[] }
  return JSON.parse(counters.last_requests.at(-1)?.body ?? '') as Record<string, unknown>
}

test('chat completions: text, a stream and a tool loop, each charged by what is billed', async () => {
  const messages = [
    { role: 'system' as const, content: 'Be brief.' },
    { role: 'user' as const, content: 'How is it in Oslo?' },
  ]
  const whole = await openai.chat.completions.create({ model, messages, temperature: 0.5, max_tokens: 99 })
  expect(whole.choices[0]?.finish_reason).toBe('stop')
  // Nine bytes and eighteen, four to a token; the prompt that Cohere puts before them is not billed.
  expect(whole.usage?.prompt_tokens).toBe(3 + 5)
  expect(Number(at(whole, 'usage.cost'))).toBe((8 + 2 * (whole.usage?.completion_tokens ?? 0)) / 1e6)
  expect(await lastBody()).toEqual({
    model: 'command-a-03-2025',
    messages: [
      { role: 'system', content: [{ type: 'text', text: 'Be brief.' }] },
      { role: 'user', content: [{ type: 'text', text: 'How is it in Oslo?' }] },
    ],
    stream: false,
    max_tokens: 99,
    temperature: 0.5,
  })
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

test('messages: thoughts are shown, whole and streamed, and can be switched off', async () => {
  const asked = {
    model: 'cohere/command-a-reasoning',
    max_tokens: 4_000,
    messages: [{ role: 'user' as const, content: 'Think about it.' }],
  }
  const thinking = { type: 'enabled' as const, budget_tokens: 1_024 }
  const whole = await anthropic.messages.create({ ...asked, thinking })
  expect(whole.content.map(({ type }) => type)).toEqual(['thinking', 'text'])
  expect((await lastBody())['thinking']).toEqual({ type: 'enabled', token_budget: 1_024 })
  const streamed = await anthropic.messages.stream({ ...asked, thinking }).finalMessage()
  expect(streamed.content.map(({ type }) => type)).toEqual(['thinking', 'text'])
  const silent = await anthropic.messages.create({ ...asked, thinking: { type: 'disabled' } })
  expect(silent.content.map(({ type }) => type)).toEqual(['text'])
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
  expect(at(await lastBody(), 'response_format.json_schema')).toEqual(format.schema)
})

test('embeddings: a vector for each text, in both encodings, charged by what is billed', async () => {
  const input = ['Oslo', 'Bergen']
  const asked = { model: 'cohere/embed-v4', input, dimensions: 256 }
  const plain = await openai.embeddings.create({ ...asked, encoding_format: 'float' })
  expect(plain.data.map(({ embedding }) => embedding.length)).toEqual([256, 256])
  expect(plain.usage.prompt_tokens).toBe(1 + 2)
  expect(Number(at(plain, 'usage.cost'))).toBe(3 / 1e6)
  const coded = await openai.embeddings.create(asked)
  for (const [index, { embedding }] of coded.data.entries())
    expect(embedding).toEqual([...Float32Array.from(plain.data[index]?.embedding ?? [])])
})

test.each([
  ['status=429', 429, 'rate_limit_exceeded'],
  ['status=503', 529, 'provider_overloaded'],
  ['context_length', 400, 'context_length_exceeded'],
])('%s is %s here', async (fault, status, type) => {
  await gateway.admin('faults', { mount: 'command', rules: [{ fault }] })
  const { status: given, json } = await gateway.post('/chat/completions', {
    model,
    messages: [{ role: 'user', content: 'hi' }],
  })
  await gateway.admin('faults', { mount: 'command', rules: [] })
  expect([given, at(json, 'error.metadata.error_type') ?? at(json, 'error.error_type')]).toEqual([
    status,
    type,
  ])
})

test('an error in a stream ends it with its reason', async () => {
  await gateway.admin('faults', { mount: 'command', rules: [{ fault: 'error_chunk=3' }] })
  const messages = [{ role: 'user' as const, content: 'Say hello' }]
  const stream = await openai.chat.completions.create({ model, messages, stream: true })
  const read = async () => {
    for await (const _ of stream) continue
  }
  const thrown: unknown = await read().catch((error: unknown) => error)
  await gateway.admin('faults', { mount: 'command', rules: [] })
  expect(thrown).toBeInstanceOf(Error)
})
