import { afterAll, expect, test } from 'bun:test'
import type { ProviderConfig } from '../../src/config-file.ts'
import { at, startTestGateway, until } from '../support/gateway.ts'

// Plain HTTP after the specification: its four endpoints, each at three families of providers.

const families = {
  openai: { preset: 'openai', base: '/v1', text: 'gpt-4o-mini', vectors: 'text-embedding-3-small' },
  anthropic: { preset: 'anthropic', base: '/v1', text: 'claude-haiku-4-5', vectors: null },
  gemini: {
    preset: 'google-ai-studio',
    base: '/v1beta',
    text: 'gemini-2.5-flash',
    vectors: 'gemini-embedding-001',
  },
  // By a name that the simulator plays.
  mistral: { preset: 'mistral', base: '/v1', text: null, vectors: 'text-embedding-3-large' },
} as const
type Family = keyof typeof families

/** A dollar for a million tokens of input and two for output. */
const prices = { input_per_million: '1', output_per_million: '2' }
const modelsOf = (family: Family): NonNullable<ProviderConfig['models']> => {
  const { text, vectors } = families[family]
  return [
    ...(text === null ? [] : [{ id: `test/${family}-text`, upstream: text, prices }]),
    ...(vectors === null
      ? []
      : [{ id: `test/${family}-vectors`, upstream: vectors, prices: { input_per_million: '1' } }]),
  ]
}

const gateway = await startTestGateway({
  credits: '5',
  providers: (url) =>
    (Object.keys(families) as Family[]).map((family): ProviderConfig => {
      const { preset, base } = families[family]
      const base_url = `${url}/p/${family}${base}`
      return {
        preset,
        base_url,
        api_key: 'simulated-key',
        weight: 1,
        discover: false,
        models: modelsOf(family),
      }
    }),
})
for (const mount of Object.keys(families)) await gateway.admin('settings', { mount, any_model: true })
const base = gateway.listen()
afterAll(() => gateway.stop())

async function send(method: string, path: string, body?: object) {
  const headers = { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' }
  const response = await fetch(`${base}${path}`, {
    method,
    headers,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return { status: response.status, json: (await response.json()) as Record<string, unknown> }
}

interface Endpoint {
  kind: 'text' | 'vectors'
  families: readonly Family[]
  body(text: string): object
  /** What §2.4 of the specification requires of a result's body. */
  check(body: Record<string, unknown>): void
}

const text = expect.any(String) as string
const whole = expect.any(Number) as number
const ofText = ['openai', 'anthropic', 'gemini'] as const
const messages = (content: string) => [{ role: 'user', content }]

const endpoints: Readonly<Record<string, Endpoint>> = {
  '/v1/chat/completions': {
    kind: 'text',
    families: ofText,
    body: (content) => ({ messages: messages(content), max_tokens: 20 }),
    check(body) {
      expect(body).toMatchObject({ id: text, model: text, created: whole, object: 'chat.completion' })
      expect(at(body, 'choices.0')).toMatchObject({
        index: 0,
        finish_reason: text,
        logprobs: null,
        message: { role: 'assistant', content: text, refusal: null },
      })
      expect(body['usage']).toMatchObject({
        prompt_tokens: whole,
        completion_tokens: whole,
        total_tokens: whole,
      })
    },
  },
  '/v1/responses': {
    kind: 'text',
    families: ofText,
    body: (input) => ({ input, max_output_tokens: 20 }),
    check(body) {
      expect(body).toMatchObject({ id: text, object: 'response', status: text })
      expect(at(body, 'output')).toBeArray()
    },
  },
  '/v1/messages': {
    kind: 'text',
    families: ofText,
    body: (content) => ({ messages: messages(content), max_tokens: 20 }),
    check(body) {
      expect(body).toMatchObject({ id: text, type: 'message', role: 'assistant', model: text })
      for (const name of ['container', 'stop_reason', 'stop_details', 'stop_sequence'])
        expect(Object.keys(body)).toContain(name)
      expect(body['content']).toContainEqual(expect.objectContaining({ type: 'text', text }))
      expect(body['usage']).toMatchObject({ input_tokens: whole, output_tokens: whole })
    },
  },
  '/v1/embeddings': {
    kind: 'vectors',
    families: ['openai', 'gemini', 'mistral'],
    body: (input) => ({ input: [input, 'a second text'] }),
    check(body) {
      expect(body).toMatchObject({ object: 'list', model: text })
      const data = body['data'] as Record<string, unknown>[]
      expect(data.map(({ object, index }) => [object, index])).toEqual([
        ['embedding', 0],
        ['embedding', 1],
      ])
      for (const { embedding } of data) expect((embedding as unknown[])[0]).toBeNumber()
      expect(body['usage']).toMatchObject({ prompt_tokens: whole, total_tokens: whole })
    },
  },
}

/** The members that §2.1 requires. */
const required = [
  'id',
  'object',
  'endpoint',
  'model',
  'completion_window',
  'status',
  'created_at',
  'finalized_at',
  'request_counts',
  'usage',
  'results',
  'error',
]

for (const [endpoint, { kind, families: served, body, check }] of Object.entries(endpoints))
  for (const family of served)
    test(`a batch of ${endpoint} at ${family} is created, polled to its end, read and deleted`, async () => {
      const model = `test/${family}-${kind}`
      const requests = ['one', 'two', 'three'].map((word) => ({
        custom_id: word,
        body: { model, ...body(`say ${word}`) },
      }))
      const created = await send('POST', '/batches', { endpoint, model, completion_window: '24h', requests })
      expect(created.status).toBe(202)
      expect(Object.keys(created.json)).toEqual(expect.arrayContaining(required))
      expect(created.json).toMatchObject({
        object: 'batch',
        endpoint,
        model,
        completion_window: '24h',
        status: 'validating',
        finalized_at: null,
        request_counts: { total: 3, completed: 0, failed: 0 },
        usage: null,
        results: null,
        error: null,
      })
      const path = `/batches/${String(created.json['id'])}`
      const { json: batch } = await until(
        () => send('GET', path),
        ({ json }) => json['status'] === 'completed',
        30_000,
      )
      expect(batch).toMatchObject({ request_counts: { total: 3, completed: 3, failed: 0 }, error: null })
      expect(Number(batch['finalized_at'])).toBeGreaterThanOrEqual(Number(batch['created_at']))
      const results = batch['results'] as Record<string, unknown>[]
      expect(results.map((result) => result['custom_id'])).toEqual(['one', 'two', 'three'])
      for (const result of results) {
        expect(result).toMatchObject({ id: text, error: null, response: { status_code: 200 } })
        expect(Object.keys(result['response'] as object).toSorted()).toEqual([
          'body',
          'request_id',
          'status_code',
        ])
        check(at(result, 'response.body') as Record<string, unknown>)
      }
      const usage = batch['usage'] as Record<string, number>
      const [input = 0, output = 0] = [usage['prompt_tokens'], usage['completion_tokens']]
      expect(input).toBeGreaterThan(0)
      expect(usage['total_tokens']).toBe(input + output)
      // Google's flex tier costs half, and a batch that names no lane takes it.
      const isFlex = family === 'gemini' && kind === 'text'
      expect(at(batch, 'headrace_metadata.lane')).toBe(isFlex ? 'flex' : 'emulated')
      expect(Math.round((usage['cost'] ?? 0) * 1e9)).toBe((input + 2 * output) * (isFlex ? 500 : 1_000))
      expect((await send('DELETE', path)).json).toMatchObject({ id: batch['id'], object: 'batch' })
      expect((await send('GET', path)).status).toBe(404)
    }, 60_000)
