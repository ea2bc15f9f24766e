import { afterAll, beforeEach, expect, test } from 'bun:test'
import type { ProviderConfig } from '../../src/config-file.ts'
import { at, startTestGateway, type Answer } from '../support/gateway.ts'

// Members that some models of a vendor refuse although its other models accept them. The simulator refuses them
// as the vendors do; the
// members are written after their documents.

const prices = { input_per_million: '1', output_per_million: '1' }
const gateway = await startTestGateway({
  providers: (url) =>
    (['openai', 'anthropic'] as const).map((preset): ProviderConfig => ({
      preset,
      base_url: `${url}/p/${preset}/v1`,
      api_key: 'simulated-key',
      weight: 1,
      discover: false,
      only_models: true,
      models: {
        openai: ['o4-mini', 'gpt-5.4', 'gpt-4o-mini'],
        anthropic: ['claude-sonnet-4-5', 'claude-haiku-4-5', 'claude-opus-4-6', 'claude-opus-5'],
      }[preset].map((name) => ({ id: `${preset}/${name}`, upstream: name, prices })),
    })),
})
afterAll(() => gateway.stop())
beforeEach(async () => {
  for (const mount of ['openai', 'anthropic']) await gateway.admin('reset', { mount })
})

const messages = [{ role: 'user', content: 'Hi.' }]
const asks: Readonly<Record<string, object>> = {
  '/chat/completions': { messages },
  '/responses': { input: 'Hi.' },
  '/messages': { messages, max_tokens: 200 },
}

interface Seen {
  path: string
  body: Record<string, unknown>
}

/** The requests that a provider got since the test began. */
async function sentTo(mount: string): Promise<Seen[]> {
  const { last_requests: requests = [] } = await gateway.admin(`counters?mount=${mount}`)
  return (requests as { path: string; body: unknown }[]).map(({ path, body }) => ({
    path,
    body: (typeof body === 'string' ? JSON.parse(body) : body) as Record<string, unknown>,
  }))
}

function droppedOf({ json }: Answer): string[] {
  return ((at(json, 'headrace_metadata.dropped') ?? []) as string[]).toSorted()
}

const tuning = {
  temperature: 0.5,
  top_p: 0.5,
  presence_penalty: 0.5,
  frequency_penalty: 0.5,
  logit_bias: { '50': 1 },
}

test('a model of OpenAI that thinks is sent no tuning, and the loss is listed for the caller', async () => {
  for (const model of ['openai/o4-mini', 'openai/gpt-5.4']) {
    for (const stream of [false, true]) {
      const answer = await gateway.post('/chat/completions', { model, messages, stream, ...tuning })
      expect([model, stream, answer.status, answer.text]).toEqual([model, stream, 200, expect.any(String)])
      if (!stream) expect(droppedOf(answer)).toEqual(Object.keys(tuning).toSorted())
    }
  }
  for (const { body } of await sentTo('openai'))
    for (const name of Object.keys(tuning)) expect(Object.keys(body)).not.toContain(name)
})

test('a model of OpenAI that does not think is sent tuning as before', async () => {
  const answer = await gateway.post('/chat/completions', {
    model: 'openai/gpt-4o-mini',
    messages,
    ...tuning,
    stop: ['END'],
  })
  expect([answer.status, droppedOf(answer)]).toEqual([200, []])
  expect((await sentTo('openai')).at(-1)?.body).toMatchObject({ ...tuning, stop: ['END'] })
})

test('a model of OpenAI that is asked not to think is sent the tuning that it then takes', async () => {
  const model = 'openai/gpt-5.4'
  const sampled = { model, temperature: 0.5, top_p: 0.5 }
  for (const [path, body] of [
    ['/chat/completions', { messages, reasoning_effort: 'none' }],
    ['/chat/completions', { messages, reasoning: { enabled: false } }],
    ['/responses', { input: 'Hi.', reasoning: { effort: 'none' } }],
  ] as const) {
    const answer = await gateway.post(path, { ...sampled, ...body })
    expect([path, answer.status, droppedOf(answer)]).toEqual([path, 200, []])
    expect((await sentTo('openai')).at(-1)?.body).toMatchObject({ temperature: 0.5, top_p: 0.5 })
  }
})

test('stop texts for a model of OpenAI that thinks are refused by their name', async () => {
  for (const model of ['openai/o4-mini', 'openai/gpt-5.4']) {
    for (const [path, name] of [
      ['/chat/completions', 'stop'],
      ['/messages', 'stop_sequences'],
    ] as const) {
      const { status, json } = await gateway.post(path, { model, ...asks[path], [name]: ['END'] })
      expect([path, status]).toEqual([path, 400])
      expect(String(at(json, 'error.message'))).toContain(`"${name}"`)
    }
  }
  expect(await sentTo('openai')).toEqual([])
  // An empty list asks for nothing.
  const { status } = await gateway.post('/chat/completions', { model: 'openai/o4-mini', messages, stop: [] })
  expect(status).toBe(200)
})

test('a model of OpenAI that thinks lists neither tuning nor stop, and fails a requirement of them', async () => {
  const { json } = await gateway.get('/models/openai/o4-mini/endpoints')
  const listed = at(json, 'data.endpoints.0.supported_parameters') as string[]
  expect(listed).toContain('max_completion_tokens')
  for (const [name, value] of Object.entries({ ...tuning, stop: ['END'] })) {
    expect(listed).not.toContain(name)
    const provider = { require_parameters: true }
    const asked = { model: 'openai/o4-mini', messages, provider, [name]: value }
    const { status } = await gateway.post('/chat/completions', asked)
    expect([name, status]).toEqual([name, 404])
  }
})

test('stop texts of a messages call are not sent in another format to a model that thinks', async () => {
  const plain = { model: 'openai/gpt-5.4', messages, max_tokens: 200 }
  expect((await gateway.post('/messages', plain)).status).toBe(200)
  const roads = (await sentTo('openai')).map(({ path }) => path)
  expect(roads).toEqual([expect.stringContaining('/responses')])
  expect((await gateway.post('/messages', { ...plain, stop_sequences: ['END'] })).status).toBe(400)
  expect((await sentTo('openai')).map(({ path }) => path)).toEqual(roads)
})

test('Claude 4 is sent the temperature without top_p, and the caller hears of it', async () => {
  for (const name of ['claude-sonnet-4-5', 'claude-haiku-4-5', 'claude-opus-4-6']) {
    for (const [path, ask] of Object.entries(asks)) {
      const asked = { model: `anthropic/${name}`, ...ask, temperature: 0.5, top_p: 0.9 }
      const answer = await gateway.post(path, asked)
      expect([path, answer.status, droppedOf(answer)]).toEqual([path, 200, ['top_p']])
      const sent = (await sentTo('anthropic')).at(-1)?.body
      expect([sent?.['temperature'], sent?.['top_p']]).toEqual([0.5, undefined])
    }
  }
})

test('Claude 4 is sent either of temperature and top_p that comes alone', async () => {
  for (const sampled of [{ temperature: 0.5 }, { top_p: 0.9 }]) {
    for (const [path, ask] of Object.entries(asks)) {
      const answer = await gateway.post(path, { model: 'anthropic/claude-sonnet-4-5', ...ask, ...sampled })
      expect([path, answer.status, droppedOf(answer)]).toEqual([path, 200, []])
      expect((await sentTo('anthropic')).at(-1)?.body).toMatchObject(sampled)
    }
  }
})

test('a Claude that takes no sampling is sent none, whatever the caller speaks', async () => {
  for (const [path, ask] of Object.entries(asks)) {
    const asked = { model: 'anthropic/claude-opus-5', ...ask, temperature: 0.5, top_p: 0.9 }
    const answer = await gateway.post(path, asked)
    expect([path, answer.status, droppedOf(answer)]).toEqual([path, 200, ['temperature', 'top_p']])
  }
})

test('instructions alone reach Claude as words of the user', async () => {
  const system = { role: 'system', content: 'Write a haiku.' }
  for (const [path, ask] of [
    ['/chat/completions', { messages: [system] }],
    ['/responses', { input: [system] }],
  ] as const) {
    for (const model of ['anthropic/claude-sonnet-4-5', 'anthropic/claude-opus-5']) {
      const { status, text } = await gateway.post(path, { model, ...ask })
      expect([path, status, text]).toEqual([path, 200, expect.any(String)])
      const sent = (await sentTo('anthropic')).at(-1)?.body
      expect(sent?.['messages']).toEqual([
        { role: 'user', content: [{ type: 'text', text: 'Write a haiku.' }] },
      ])
      expect(sent?.['system']).toBeUndefined()
    }
  }
})

test('instructions alone reach the responses of OpenAI as an item', async () => {
  const tools = [{ type: 'function', function: { name: 'look', parameters: { type: 'object' } } }]
  const system = { role: 'system', content: 'Write a haiku.' }
  const { status } = await gateway.post('/chat/completions', {
    model: 'openai/gpt-5.4',
    messages: [system],
    tools,
  })
  expect(status).toBe(200)
  expect((await sentTo('openai')).at(-1)?.body['input']).toEqual([
    { type: 'message', role: 'system', content: [{ type: 'input_text', text: 'Write a haiku.' }] },
  ])
})

test('what LiteLLM noted in blocks of an answer does not come back to Claude', async () => {
  const noted = { provider_specific_fields: { thought_signature: 'x' } }
  const history = [
    ...messages,
    { role: 'assistant', content: [{ type: 'tool_use', id: 'c1', name: 'look', input: {}, ...noted }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content: 'Sun.' }] },
  ]
  const tools = [{ name: 'look', input_schema: { type: 'object' } }]
  const asked = { model: 'anthropic/claude-sonnet-4-5', max_tokens: 200, messages: history, tools }
  const answer = await gateway.post('/messages', asked)
  expect([answer.status, droppedOf(answer)]).toEqual([200, ['messages[].content[].provider_specific_fields']])
  expect(at((await sentTo('anthropic')).at(-1)?.body, 'messages.1.content')).toEqual([
    { type: 'tool_use', id: 'c1', name: 'look', input: {} },
  ])
})
