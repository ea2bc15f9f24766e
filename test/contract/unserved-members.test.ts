import { afterAll, beforeEach, expect, test } from 'bun:test'
import { at, startTestGateway, until } from '../support/gateway.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'

// Members of the contract that the gateway does not serve: one that changes what the answer means is refused by name, in
// each format and in batches, and none is dropped in silence.

const upstream = startScriptedUpstream()
const model = 'acme/tides'
const maker = 'anthropic/claude-opus-4-1'
const otherHost = 'fireworks/tides'
const prices = { input_per_million: '1', output_per_million: '1' }
const gateway = await startTestGateway({
  providers: () => [
    {
      preset: 'custom',
      id: 'acme',
      base_url: upstream.url,
      api_key: 'key',
      weight: 1,
      discover: false,
      models: [{ id: model, upstream: 'tides', modality: 'language', prices }],
    },
    {
      preset: 'anthropic',
      base_url: upstream.url,
      api_key: 'key',
      weight: 1,
      discover: false,
      models: [{ id: maker, prices }],
    },
    {
      preset: 'fireworks',
      base_url: `${upstream.url}/inference/v1`,
      api_key: 'key',
      weight: 1,
      discover: false,
      models: [{ id: otherHost, prices }],
    },
    {
      preset: 'groq',
      base_url: `${upstream.url}/openai/v1`,
      api_key: 'key',
      weight: 1,
      discover: false,
      models: [{ id: 'groq/tides', prices }],
    },
  ],
})
afterAll(async () => {
  await gateway.stop()
  await upstream.stop()
})

const message = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'tides',
  content: [{ type: 'text', text: 'Two a day.' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 5, output_tokens: 3 },
}
const completion = {
  id: 'c1',
  object: 'chat.completion',
  created: 1,
  model: 'tides',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Two a day.' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 5, completion_tokens: 3, total_tokens: 8 },
}

beforeEach(() => {
  upstream.seen.length = 0
  upstream.answer(({ path }) => Response.json(path.endsWith('/messages') ? message : completion))
})

const messages = [{ role: 'user', content: 'How many tides?' }]
const formats = [
  { format: 'chat', path: '/chat/completions', body: { messages } },
  { format: 'responses', path: '/responses', body: { input: 'How many tides?' } },
  { format: 'messages', path: '/messages', body: { messages, max_tokens: 20 } },
] as const

interface Refused {
  title: string
  member: Record<string, unknown>
  /** The member that the message names. */
  says: readonly string[]
}

const refused: readonly Refused[] = [
  { title: 'the plugin web', member: { plugins: [{ id: 'web' }] }, says: ['plugins[0].id', 'web'] },
  {
    title: 'the plugin moderation behind one that is off',
    member: { plugins: [{ id: 'web', enabled: false }, { id: 'moderation' }] },
    says: ['plugins[1].id', 'moderation'],
  },
  {
    title: 'the plugin response-healing',
    member: { plugins: [{ id: 'response-healing' }] },
    says: ['plugins[0].id', 'response-healing'],
  },
  {
    title: 'a plugin that nobody knows',
    member: { plugins: [{ id: 'brand-new', enabled: true }] },
    says: ['plugins[0].id', 'brand-new'],
  },
  { title: 'a preset', member: { preset: 'my-careful-one' }, says: ['preset'] },
  {
    title: 'a limit of what tools may cost',
    member: { stop_server_tools_when: [{ type: 'max_cost', max_cost_in_dollars: 0.1 }] },
    says: ['stop_server_tools_when'],
  },
]

const cases = formats.flatMap((each) => refused.map((one) => ({ ...each, ...one })))
test.each(cases)(
  'a caller of $format is refused $title by its name',
  async ({ path, body, member, says }) => {
    const { status, text } = await gateway.post(path, { model, ...body, ...member })
    expect(status).toBe(400)
    for (const name of says) expect(text).toContain(name)
    expect(upstream.seen).toEqual([])
  },
)

test.each(formats)(
  'a caller of $format may send them empty, null or switched off',
  async ({ path, body }) => {
    for (const member of [
      { plugins: [], stop_server_tools_when: [] },
      { plugins: null, preset: null, stop_server_tools_when: null },
      { plugins: [{ id: 'web', enabled: false }] },
    ]) {
      const { status, json } = await gateway.post(path, { model, ...body, ...member })
      expect(status).toBe(200)
      expect(at(json, 'headrace_metadata.dropped') ?? []).toEqual([])
    }
  },
)

test.each(formats)(
  'a caller of $format gets compression of the context listed as dropped',
  async ({ path, body }) => {
    const plugins = [{ id: 'context-compression', engine: 'middle-out' }]
    const { status, json } = await gateway.post(path, { model, ...body, plugins })
    expect(status).toBe(200)
    expect(at(json, 'headrace_metadata.dropped')).toEqual(['plugins'])
  },
)

test('older words of the contract without a meaning of their own pass, and are listed', async () => {
  const { status, json } = await gateway.post('/chat/completions', {
    model,
    messages,
    route: 'fallback',
    transforms: ['middle-out'],
  })
  expect(status).toBe(200)
  expect(at(json, 'headrace_metadata.dropped')).toEqual(['route', 'transforms'])
})

test('an item of a batch that asks for a plugin or a preset fails alone, by the name of the member', async () => {
  const bodies = [{ plugins: [{ id: 'web' }] }, { preset: 'mine' }, { plugins: [] }]
  const { status, json } = await gateway.post('/batches', {
    endpoint: '/v1/chat/completions',
    model,
    requests: bodies.map((member, index) => ({ custom_id: `i${index}`, body: { messages, ...member } })),
  })
  expect(status).toBe(202)
  const { json: ended } = await until(
    () => gateway.get(`/batches/${String(json['id'])}`),
    (poll) => poll.json['status'] === 'completed',
  )
  const results = ended['results'] as Record<string, unknown>[]
  const byId = (id: string) => results.find((result) => result['custom_id'] === id)
  expect(at(byId('i0'), 'error.param')).toBe('plugins[0].id')
  expect(at(byId('i1'), 'error.param')).toBe('preset')
  expect(at(byId('i2'), 'response.status_code')).toBe(200)
  expect(ended['request_counts']).toEqual({ total: 3, completed: 1, failed: 2 })
})

test.each([
  ['chat', '/chat/completions', { messages }, maker],
  ['chat', '/chat/completions', { messages }, 'groq/tides'],
  ['responses', '/responses', { input: 'How many tides?' }, model],
  ['responses', '/responses', { input: 'How many tides?' }, maker],
])(
  'a caller of %s is refused moderation of the answer where nobody does it',
  async (_, path, body, asked) => {
    const moderation = { model: 'omni-moderation-latest' }
    const { status, text } = await gateway.post(path, { model: asked, ...body, moderation })
    expect([status, text.includes('moderation')]).toEqual([400, true])
    expect(upstream.seen).toEqual([])
  },
)

const askAt = (asked: string, geo: string) =>
  gateway.post('/messages', { model: asked, messages, max_tokens: 20, inference_geo: geo })

test.each([
  ['a provider of another format', model],
  ['another host of the same format', otherHost],
])(
  'the region in which a model is to run is refused by its name at %s, which ignores it',
  async (_, asked) => {
    const { status, text } = await askAt(asked, 'us')
    expect([status, text.includes('inference_geo')]).toEqual([400, true])
    expect(upstream.seen).toEqual([])
    expect((await askAt(asked, 'global')).status).toBe(200)
  },
)

test('the region in which a model is to run reaches the maker of the format', async () => {
  expect((await askAt(maker, 'us')).status).toBe(200)
  expect(JSON.parse(upstream.seen[0]?.body ?? '')).toMatchObject({ inference_geo: 'us' })
})
