import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { ProviderConfig } from '../../src/config-file.ts'
import { at, startTestGateway, toneWav, until, type TestGateway } from '../support/gateway.ts'

const modelsOf = (id: string): ProviderConfig['models'] => [
  {
    id: `${id}/chat`,
    upstream: 'gpt-4o-mini',
    modality: 'language',
    prices: { input_per_million: '1', output_per_million: '2' },
  },
  {
    id: `${id}/embed`,
    upstream: 'text-embedding-3-small',
    modality: 'embedding',
    prices: { input_per_million: '1' },
  },
  { id: `${id}/listen`, upstream: 'whisper-1', modality: 'transcription', prices: { audio_per_minute: '1' } },
  { id: `${id}/speak`, upstream: 'tts-1', modality: 'speech', prices: { characters_per_million: '1' } },
]

const groupsOf = (kind: string) => ({
  groups: [[{ model: `one/${kind}` }], [{ model: `two/${kind}` }]],
})

let app: TestGateway

beforeAll(async () => {
  app = await startTestGateway({
    providers: (url) =>
      ['one', 'two'].map((id) => ({
        preset: 'custom',
        id,
        base_url: `${url}/p/${id}/v1`,
        api_key: 'any',
        weight: 1,
        only_models: true,
        models: modelsOf(id),
      })),
    names: {
      names: {
        smart: groupsOf('chat'),
        vectors: groupsOf('embed'),
        ears: groupsOf('listen'),
        voice: groupsOf('speak'),
      },
      aliases: { 'gpt-4o': 'smart', 'text-embedding-ada-002': 'vectors' },
    },
  })
})

afterAll(() => app.stop())

const messages = [{ role: 'user', content: 'Say hello' }]
const breakFirst = () => app.admin('faults?mount=one', [{ fault: 'status=500' }])
const mendFirst = () => app.admin('faults?mount=one', [])

test('a name is asked for in every operation, and its answer says which model was used', async () => {
  await mendFirst()
  for (const model of ['smart', 'gpt-4o', 'smart:nitro']) {
    const chat = await app.post('/chat/completions', { model, messages })
    expect([chat.status, chat.json['model'], chat.json['provider']]).toEqual([200, 'one/chat', 'one'])
  }
  const response = await app.post('/responses', { model: 'smart', input: 'Say hello' })
  expect([response.status, response.json['model']]).toEqual([200, 'one/chat'])
  const message = await app.post('/messages', { model: 'smart', max_tokens: 50, messages })
  expect([message.status, message.json['model']]).toEqual([200, 'one/chat'])
  const vectors = await app.post('/embeddings', { model: 'text-embedding-ada-002', input: 'water' })
  expect([vectors.status, vectors.json['model']]).toEqual([200, 'one/embed'])
  const form = new FormData()
  form.set('model', 'ears')
  form.set('file', new Blob([toneWav(1)]), 'tone.wav')
  expect((await app.request('/audio/transcriptions', { method: 'POST', body: form })).status).toBe(200)
  const speech = await app.request('/audio/speech', {
    method: 'POST',
    body: { model: 'voice', input: 'Hello', voice: 'alloy' },
  })
  expect([speech.status, (await speech.arrayBuffer()).byteLength > 0]).toEqual([200, true])
})

test('the next group answers what the first could not, in every operation', async () => {
  await breakFirst()
  const headers = { 'x-headrace-metadata': 'enabled' }
  const chat = await app.post('/chat/completions', { model: 'smart', messages }, { headers })
  expect([chat.status, chat.json['model']]).toEqual([200, 'two/chat'])
  expect(at(chat.json, 'headrace_metadata.strategy')).toBe('fallback')
  expect(at(chat.json, 'headrace_metadata.requested')).toBe('smart')
  expect((await app.post('/messages', { model: 'smart', max_tokens: 50, messages })).json['model']).toBe(
    'two/chat',
  )
  expect((await app.post('/responses', { model: 'smart', input: 'hi' })).json['model']).toBe('two/chat')
  expect((await app.post('/embeddings', { model: 'vectors', input: 'water' })).json['model']).toBe(
    'two/embed',
  )
  const streamed = await app.post('/chat/completions', { model: 'smart', messages, stream: true })
  expect(streamed.text).toContain('"model":"two/chat"')
  const form = new FormData()
  form.set('model', 'ears')
  form.set('file', new Blob([toneWav(1)]), 'tone.wav')
  expect((await app.request('/audio/transcriptions', { method: 'POST', body: form })).status).toBe(200)
  await mendFirst()
})

test('the metadata has the strategy `alias` when the requested id is not the model that answered', async () => {
  await mendFirst()
  const headers = { 'x-headrace-metadata': 'enabled' }
  for (const [model, strategy] of [
    ['gpt-4o', 'alias'],
    ['one/chat', 'direct'],
  ]) {
    const chat = await app.post('/chat/completions', { model, messages }, { headers })
    expect(at(chat.json, 'headrace_metadata.strategy')).toBe(strategy)
  }
})

test('a batch may ask for a name, and is billed by the model that answered', async () => {
  await mendFirst()
  const created = await app.post('/batches', {
    endpoint: '/v1/chat/completions',
    model: 'smart',
    requests: [{ custom_id: 'a', body: { messages } }],
  })
  expect(created.status).toBe(202)
  const id = String(created.json['id'])
  const ended = await until(
    () => app.get(`/batches/${id}`),
    ({ json }) => json['status'] === 'completed' || json['status'] === 'failed',
  )
  expect(ended.json['status']).toBe('completed')
  const results = await app.get(`/batches/${id}/results`)
  expect(results.text).toContain('"model":"one/chat"')
})

test('names are listed, read one by one, and followed by their entry for batches', async () => {
  const { json } = await app.get('/models')
  const ids = (json['data'] as { id: string }[]).map(({ id }) => id)
  expect(ids).toContain('smart')
  expect(ids).toContain('smart:batch')
  expect(ids).not.toContain('gpt-4o')
  for (const path of ['/models/smart', '/models/gpt-4o'])
    expect((await app.get(path)).json['id']).toBe('smart')
  expect(at((await app.get('/model/smart')).json, 'data.id')).toBe('smart')
  const endpoints = await app.get('/models/smart/endpoints')
  expect(at(endpoints.json, 'data.endpoints.1.tag')).toBe('two')
  expect((await app.get('/models/smartest')).status).toBe(404)
})

test('the refusal of an unknown model suggests a similar name', async () => {
  const { status, json } = await app.post('/chat/completions', { model: 'smrt', messages })
  expect(status).toBe(400)
  expect(at(json, 'error.message')).toContain('smart')
})

test('the endpoints of a name are each of a model, and say which', async () => {
  const { status, json } = await app.get('/models/smart/endpoints')
  const endpoints = at(json, 'data.endpoints') as Record<string, unknown>[]
  expect([status, at(json, 'data.id')]).toEqual([200, 'smart'])
  expect(endpoints.map(({ name, model_id: id, model_name: model }) => [name, id, model])).toEqual([
    ['one | one/chat', 'one/chat', 'one/chat'],
    ['two | two/chat', 'two/chat', 'two/chat'],
  ])
})

test('when every provider is overloaded the answer says that a later call may be served', async () => {
  for (const mount of ['one', 'two']) await app.admin(`faults?mount=${mount}`, [{ fault: 'status=529' }])
  const { status, json } = await app.post('/chat/completions', { model: 'smart', messages })
  for (const mount of ['one', 'two']) await app.admin(`faults?mount=${mount}`, [])
  expect(status).toBe(529)
  expect(at(json, 'error.availability')).toMatchObject({
    code: 'temporarily_unavailable',
    retryable: true,
    requested_models: ['smart'],
    affected_providers: ['one', 'two'],
  })
})

describe('money', () => {
  const dear = {
    id: 'one/dear',
    upstream: 'gpt-4o-mini',
    prices: { input_per_million: '1000', output_per_million: '2000' },
  }
  const unpriced = { id: 'one/unpriced', upstream: 'gpt-4o-mini' }
  /** Named by its price per second, which no text costs. */
  const timed = { id: 'one/timed', upstream: 'gpt-4o-mini', prices: { audio_per_minute: '1' } }
  const cheap = {
    id: 'two/chat',
    upstream: 'gpt-4o-mini',
    prices: { input_per_million: '1', output_per_million: '2' },
  }

  function startWith(credits: string): Promise<TestGateway> {
    return startTestGateway({
      credits,
      providers: (url) =>
        [
          { id: 'one', models: [dear, unpriced, timed] },
          { id: 'two', models: [cheap] },
        ].map((own) => ({
          preset: 'custom',
          base_url: `${url}/p/${own.id}/v1`,
          api_key: 'any',
          weight: 1,
          only_models: true,
          ...own,
        })),
      names: {
        names: Object.fromEntries(
          ['dear', 'unpriced', 'timed'].map((model) => [
            model,
            { groups: [[{ model: `one/${model}` }], [{ model: 'two/chat' }]] },
          ]),
        ),
        aliases: {},
      },
    })
  }

  test('that does not cover a model gets no fallback instead of it, by a name or by the caller', async () => {
    const poor = await startWith('0.01')
    try {
      const body = { messages, max_tokens: 100 }
      for (const asked of [{ model: 'dear' }, { model: 'one/dear', models: ['one/dear', 'two/chat'] }]) {
        const { status, json } = await poor.post('/chat/completions', { ...body, ...asked })
        expect(status).toBe(402)
        expect(at(json, 'error.message')).toMatch(
          /0\.01 credits are available.* Add credits to make it as it is\.$/,
        )
      }
      const served = await poor.post('/chat/completions', { ...body, model: 'two/chat' })
      expect([served.status, served.json['model']]).toEqual([200, 'two/chat'])
      const { json } = await poor.get('/credits')
      expect(Number(at(json, 'data.total_usage'))).toBeLessThan(0.001)
    } finally {
      await poor.stop()
    }
  })

  test('has no bound without a price of the model, whatever a fallback costs', async () => {
    const prepaid = await startWith('5')
    try {
      for (const model of ['unpriced', 'timed']) {
        const { status, json } = await prepaid.post('/chat/completions', { model, messages })
        expect(status).toBe(404)
        expect(at(json, 'error.message')).toContain(`${model} has no known price for`)
      }
    } finally {
      await prepaid.stop()
    }
  })

  test('pays for a fallback where the model that was asked for has failed', async () => {
    const prepaid = await startWith('5')
    try {
      await prepaid.admin('faults?mount=one', [{ fault: 'status=500' }])
      const { status, json } = await prepaid.post('/chat/completions', {
        model: 'dear',
        messages,
        max_tokens: 100,
      })
      expect([status, json['model']]).toEqual([200, 'two/chat'])
    } finally {
      await prepaid.stop()
    }
  })
})

test('tokens of a model that only has a price of audio are unpriced, not free', async () => {
  const tracked = await startTestGateway({
    providers: (url) => [
      {
        preset: 'custom',
        id: 'one',
        base_url: `${url}/p/one/v1`,
        api_key: 'any',
        weight: 1,
        only_models: true,
        models: [{ id: 'one/timed', upstream: 'gpt-4o-mini', prices: { audio_per_minute: '1' } }],
      },
    ],
  })
  try {
    const { json, headers } = await tracked.post('/chat/completions', { model: 'one/timed', messages })
    expect(at(json, 'usage.cost')).toBeUndefined()
    const row = await until(
      () => tracked.get(`/generation?id=${headers.get('x-generation-id')}`),
      ({ status }) => status === 200,
    )
    expect(at(row.json, 'data.headrace.is_unpriced')).toBe(true)
  } finally {
    await tracked.stop()
  }
})
