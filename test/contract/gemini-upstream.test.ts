import { afterAll, expect, test } from 'bun:test'
import OpenAI from 'openai'
import { at, startTestGateway } from '../support/gateway.ts'

// The provider speaks Google's format.

const gateway = await startTestGateway({
  credits: '50',
  providers: (url) => [
    {
      preset: 'google-ai-studio',
      base_url: `${url}/p/google/v1beta`,
      api_key: 'simulated-key',
      weight: 1,
      models: [],
    },
  ],
})
afterAll(() => gateway.stop())

const model = 'google/gemini-2.5-flash'
const openai = new OpenAI({ baseURL: gateway.listen(), apiKey: gateway.key, maxRetries: 0 })
test('models are found by the provider’s own listing, and an answer is charged with its thoughts', async () => {
  const { status, json } = await gateway.post('/chat/completions', {
    model,
    messages: [{ role: 'user', content: 'Say hello' }],
    reasoning: { effort: 'low' },
    max_tokens: 1_000,
  })
  expect(status).toBe(200)
  expect(json).toMatchObject({
    provider: 'Google AI Studio',
    choices: [{ finish_reason: 'stop', native_finish_reason: 'STOP' }],
  })
  const usage = json['usage'] as Record<string, unknown>
  const thought = Number(at(usage, 'completion_tokens_details.reasoning_tokens'))
  expect(thought).toBeGreaterThan(0)
  expect(usage['completion_tokens']).toBe(thought + 12)
  expect(Number(usage['cost'])).toBeGreaterThan(0)
})

test('the official client gets an answer in its schema, and vectors as base64 and of a chosen length', async () => {
  const answer = await openai.chat.completions.create({
    model,
    messages: [{ role: 'user', content: 'Where is it sunny?' }],
    response_format: {
      type: 'json_schema',
      json_schema: {
        name: 'place',
        schema: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
      },
    },
  })
  expect(JSON.parse(answer.choices[0]?.message.content ?? '')).toEqual({ city: expect.any(String) })
  const vectors = await openai.embeddings.create({
    model: 'google/gemini-embedding-001',
    input: ['one', 'two'],
    dimensions: 64,
  })
  const [first] = vectors.data
  expect(first?.embedding).toHaveLength(64)
  const length = Math.hypot(...(first?.embedding ?? []))
  expect(Math.abs(length - 1)).toBeLessThan(1e-5)
  expect(vectors.usage.prompt_tokens).toBeGreaterThan(0)
})

test('a prompt that is blocked is a filtered answer in every format', async () => {
  await gateway.admin('faults', { mount: 'google', rules: [{ fault: 'refusal=Not%20this' }] })
  const messages = [{ role: 'user', content: 'x' }]
  const chat = await gateway.post('/chat/completions', { model, messages })
  const responses = await gateway.post('/responses', { model, input: 'x' })
  const told = await gateway.post('/messages', { model, messages, max_tokens: 9 })
  await gateway.admin('faults', { mount: 'google', rules: [] })
  expect(at(chat.json, 'choices.0.finish_reason')).toBe('content_filter')
  expect(at(responses.json, 'incomplete_details.reason')).toBe('content_filter')
  expect(told.json['stop_reason']).toBe('refusal')
})
