import Anthropic from '@anthropic-ai/sdk'
import { afterAll, describe, expect, test } from 'bun:test'
import OpenAI from 'openai'
import { playAgent, scriptedTurns } from '../support/agent-loop.ts'
import { at, startTestGateway } from '../support/gateway.ts'

// The provider is OpenAI with models that it answers in responses; the simulated one refuses a thought that is not its own.

const mount = 'openai-responses'
const gateway = await startTestGateway({
  credits: '50',
  providers: (url) => [
    {
      preset: 'openai',
      base_url: `${url}/p/${mount}/v1`,
      api_key: 'simulated-key',
      weight: 1,
      discover: false,
      models: ['gpt-5.1-codex', 'gpt-5.4', 'gpt-4o-mini'].map((name) => ({ id: `openai/${name}` })),
    },
  ],
})
afterAll(() => gateway.stop())

const model = 'openai/gpt-5.1-codex'
const openai = new OpenAI({ baseURL: gateway.listen(), apiKey: gateway.key, maxRetries: 0 })
const anthropic = new Anthropic({
  baseURL: gateway.listen().replace(/\/v1$/, ''),
  authToken: gateway.key,
  apiKey: null,
  maxRetries: 0,
})
const turns = 20
const lastWords = 'All twenty turns are done.'

async function received(): Promise<{ path: string; body: string }[]> {
  const { last_requests: requests } = await gateway.admin(`counters?mount=${mount}`)
  return requests as { path: string; body: string }[]
}

/** The path of the last request. */
async function lastPath(): Promise<string | undefined> {
  return (await received()).at(-1)?.path.replace(/^.*\/v1/, '')
}

describe('an agent of twenty turns with thoughts and tools', () => {
  for (const format of ['chat', 'responses', 'messages'] as const) {
    for (const isStream of [false, true]) {
      test(`5.3 in ${format}, ${isStream ? 'streamed' : 'whole'}, gives OpenAI its sealed thoughts back`, async () => {
        const task = `TASK-${format}-${isStream}`
        await gateway.admin('settings', { mount, recorded_body_bytes: 1_000_000 })
        const script = { match: { marker: task }, turns: scriptedTurns(turns, lastWords) }
        await gateway.admin('scripts', { mount, scripts: [script] })
        const run = await playAgent({
          gateway,
          model,
          format,
          isStream,
          task: `${task}: how is the weather everywhere?`,
          answer: ({ name, arguments: { city } }) => `${name} of ${String(city)}: fair`,
        })
        expect([run.turns, run.calls.length, run.lastWords]).toEqual([turns, 25, lastWords])
        expect(run.calls[0]).toEqual({ name: 'weather', arguments: { city: 'City 1' } })
        const thoughts = Array.from({ length: turns - 1 }, (_, index) => `Thought ${index + 1}. `)
        expect(run.thoughts).toBe(`${thoughts.join('')}Enough. `)
        const last = (await received()).at(-1)
        const { input, store } = JSON.parse(last?.body ?? '{}') as {
          input: { type: string }[]
          store: boolean
        }
        expect([last?.path.endsWith('/v1/responses'), store]).toEqual([true, false])
        const types = input.map(({ type }) => type)
        expect(types.filter((type) => type === 'reasoning')).toHaveLength(turns - 1)
        // Each thought comes before the item that it led to.
        for (const [index, type] of types.entries())
          if (type === 'reasoning') expect(types[index + 1]).toMatch(/^(?:message|function_call)$/)
      })
    }
  }
})

test('a model of chat completions is asked in the caller’s own format, and one that thinks in responses by messages', async () => {
  const ask = { max_tokens: 2_000, messages: [{ role: 'user' as const, content: 'Hi.' }] }
  const chat = { messages: ask.messages }
  const tools = [
    { type: 'function', function: { name: 'f', parameters: { type: 'object', properties: {} } } },
  ]
  const paths = [
    ['/chat/completions', { model: 'openai/gpt-4o-mini', ...chat }, '/chat/completions'],
    ['/messages', { model: 'openai/gpt-4o-mini', ...ask }, '/chat/completions'],
    ['/responses', { model: 'openai/gpt-4o-mini', input: 'Hi.' }, '/responses'],
    ['/chat/completions', { model: 'openai/gpt-5.4', ...chat }, '/chat/completions'],
    ['/chat/completions', { model: 'openai/gpt-5.4', ...chat, tools }, '/responses'],
    ['/messages', { model: 'openai/gpt-5.4', ...ask }, '/responses'],
    ['/chat/completions', { model, ...chat }, '/responses'],
  ] as const
  for (const [path, body, asked] of paths) {
    const { status, text } = await gateway.post(path, body)
    expect([path, body.model, status === 200 ? '' : text]).toEqual([path, body.model, ''])
    expect([path, body.model, await lastPath()]).toEqual([path, body.model, asked])
  }
})

test('a member without a place in responses is refused by the name that the caller used', async () => {
  const messages = [{ role: 'user', content: 'Hi.' }]
  const refused = [
    ['/chat/completions', { model, messages, stop: 'END' }, 'stop'],
    ['/chat/completions', { model, messages, n: 2 }, 'n'],
    ['/messages', { model, messages, max_tokens: 99, stop_sequences: ['END'] }, 'stop_sequences'],
  ] as const
  for (const [path, body, name] of refused) {
    const { status, json } = await gateway.post(path, body)
    expect([status, String(at(json, 'error.message')).includes(`"${name}"`)]).toEqual([400, true])
  }
})

test('the official clients of all three formats get an answer, and a stream, each charged', async () => {
  const content = 'Where is it sunny?'
  const schema = {
    type: 'object' as const,
    properties: { city: { type: 'string' } },
    required: ['city'],
    additionalProperties: false,
  }
  const chat = await openai.chat.completions.create({
    model,
    messages: [{ role: 'user', content }],
    response_format: { type: 'json_schema', json_schema: { name: 'place', schema, strict: true } },
  })
  expect(JSON.parse(chat.choices[0]?.message.content ?? '')).toEqual({ city: expect.any(String) })
  expect(Number(at(chat, 'usage.cost'))).toBeGreaterThan(0)

  const response = await openai.responses.create({ model, input: content })
  expect(response.output_text.length).toBeGreaterThan(0)
  expect(response.id).toStartWith('gen-')
  const streamed = openai.responses.stream({ model, input: content, reasoning: { summary: 'auto' } })
  const final = await streamed.finalResponse()
  expect(final.output_text.length).toBeGreaterThan(0)
  expect(Number(at(final, 'usage.cost'))).toBeGreaterThan(0)

  const message = await anthropic.messages
    .stream({
      model,
      max_tokens: 3_000,
      messages: [{ role: 'user', content }],
      thinking: { type: 'enabled', budget_tokens: 1_024 },
    })
    .finalMessage()
  expect(message.content.map(({ type }) => type)).toEqual(['thinking', 'text'])
  expect(message.usage.output_tokens).toBeGreaterThan(0)
})
