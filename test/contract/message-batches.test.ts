import { afterAll, expect, test } from 'bun:test'
import Anthropic from '@anthropic-ai/sdk'
import { at, startTestGateway, until } from '../support/gateway.ts'

// Anthropic's message batches, as its own client uses them.

const gateway = await startTestGateway({
  credits: '5',
  providers: (url) => [
    {
      preset: 'anthropic',
      base_url: `${url}/v1`,
      api_key: 'simulated-key',
      weight: 1,
      models: [{ id: 'anthropic/claude-sonnet-4-5' }, { id: 'anthropic/claude-haiku-4-5' }],
      discover: false,
    },
  ],
})
const origin = gateway.listen().replace(/\/v1$/, '')
afterAll(() => gateway.stop())
const client = new Anthropic({ baseURL: origin, apiKey: gateway.key, maxRetries: 0 })

const model = 'anthropic/claude-sonnet-4-5'
const params = (text: string, more: object = {}) => ({
  model,
  max_tokens: 100,
  messages: [{ role: 'user' as const, content: text }],
  ...more,
})

async function ended(id: string) {
  return until(
    () => client.messages.batches.retrieve(id),
    (batch) => batch.processing_status === 'ended',
  )
}

async function resultsOf(id: string) {
  const lines: Anthropic.Messages.MessageBatchIndividualResponse[] = []
  for await (const line of await client.messages.batches.results(id)) lines.push(line)
  return lines
}

test('a batch is created, polled, read line by line and deleted by Anthropic’s own client', async () => {
  await gateway.admin('faults', [
    { match: { body_contains: 'too long for anybody' }, fault: 'context_length' },
  ])
  const created = await client.messages.batches.create({
    requests: [
      { custom_id: 'first', params: params('good morning') },
      { custom_id: 'second', params: params('too long for anybody') },
      { custom_id: 'third', params: params('good evening') },
    ],
  })
  expect(created).toMatchObject({
    type: 'message_batch',
    processing_status: 'in_progress',
    request_counts: { processing: 3, succeeded: 0, errored: 0, canceled: 0, expired: 0 },
    ended_at: null,
    archived_at: null,
    cancel_initiated_at: null,
    results_url: null,
  })
  expect(Date.parse(created.expires_at) - Date.parse(created.created_at)).toBe(86_400_000)
  const batch = await ended(created.id)
  expect(batch.request_counts).toEqual({ processing: 0, succeeded: 2, errored: 1, canceled: 0, expired: 0 })
  expect(batch.results_url).toBe(`${origin}/v1/messages/batches/${created.id}/results`)
  const [first, second, third] = await resultsOf(created.id)
  expect([first?.custom_id, second?.custom_id, third?.custom_id]).toEqual(['first', 'second', 'third'])
  expect(first?.result).toMatchObject({
    type: 'succeeded',
    message: { type: 'message', role: 'assistant', content: [{ type: 'text' }] },
  })
  expect(second?.result).toMatchObject({
    type: 'errored',
    error: { type: 'error', error: { type: 'invalid_request_error' } },
  })
  expect(third?.result.type).toBe('succeeded')
  expect(await client.messages.batches.delete(created.id)).toEqual({
    id: created.id,
    type: 'message_batch_deleted',
  })
  const gone = await client.messages.batches.retrieve(created.id).catch((error: unknown) => error)
  expect(gone).toBeInstanceOf(Anthropic.NotFoundError)
  expect(at(gone, 'error')).toMatchObject({ type: 'error', error: { type: 'not_found_error' } })
})

test('a cancelled batch counts and lists what it has not run', async () => {
  await gateway.admin('faults', [{ match: { body_contains: 'slow' }, fault: 'latency=1000' }])
  const requests = Array.from({ length: 60 }, (_, place) => ({
    custom_id: `item-${place}`,
    params: params('slow tide'),
  }))
  const { id } = await client.messages.batches.create({ requests })
  const early = await client.messages.batches.delete(id).catch((error: unknown) => error)
  expect([at(early, 'status'), at(early, 'error.error.type')]).toEqual([409, 'conflict_error'])
  const canceling = await client.messages.batches.cancel(id)
  expect(canceling.processing_status).toBe('canceling')
  expect(canceling.cancel_initiated_at).not.toBeNull()
  const { request_counts: counts } = await ended(id)
  const types = (await resultsOf(id)).map(({ result }) => result.type)
  const countOf = (type: string) => types.filter((each) => each === type).length
  expect(counts).toEqual({
    processing: 0,
    succeeded: countOf('succeeded'),
    errored: 0,
    canceled: countOf('canceled'),
    expired: 0,
  })
  expect(counts.canceled).toBeGreaterThan(0)
  expect(counts.succeeded + counts.canceled).toBe(60)
})

test('a batch made in either dialect is read in the other, where its endpoint is messages', async () => {
  const made = await client.messages.batches.create({ requests: [{ custom_id: 'a', params: params('one') }] })
  await ended(made.id)
  const own = await gateway.get(`/batches/${made.id}`)
  expect(own.json).toMatchObject({ endpoint: '/v1/messages', model, status: 'completed' })
  expect(at(own.json, 'results.0.response.body.type')).toBe('message')
  const { model: _, ...body } = params('two')
  const inline = await gateway.post('/batches', {
    endpoint: '/v1/messages',
    model,
    requests: [{ custom_id: 'b', body }],
  })
  await ended(String(inline.json['id']))
  expect((await resultsOf(String(inline.json['id']))).map(({ custom_id: id }) => id)).toEqual(['b'])
  const chat = await gateway.post('/batches', {
    endpoint: '/v1/chat/completions',
    model,
    requests: [{ custom_id: 'c', body: { messages: [{ role: 'user', content: 'three' }] } }],
  })
  const foreign = await client.messages.batches.retrieve(String(chat.json['id'])).catch((e: unknown) => e)
  expect(at(foreign, 'status')).toBe(404)
})

test('batches are listed newest first, in pages in both directions', async () => {
  const { key: other } = await gateway.addOrganization()
  const lister = new Anthropic({ baseURL: origin, apiKey: other, maxRetries: 0 })
  const ids: string[] = []
  for (const text of ['1', '2', '3']) {
    const made = await lister.messages.batches.create({
      requests: [{ custom_id: text, params: params(text) }],
    })
    ids.unshift(made.id)
  }
  const all: string[] = []
  for await (const batch of lister.messages.batches.list({ limit: 2 })) all.push(batch.id)
  expect(all).toEqual(ids)
  const newer = await lister.messages.batches.list({ limit: 1, before_id: String(ids[2]) })
  expect(newer).toMatchObject({ has_more: true, first_id: ids[1], last_id: ids[1] })
  const hidden = await client.messages.batches.retrieve(String(ids[0])).catch((error: unknown) => error)
  expect(at(hidden, 'status')).toBe(404)
})

// Credits for a million tokens of input and of output, by the price list.
const pricesOf = { 'claude-sonnet-4-5': [3, 15], 'claude-haiku-4-5': [1, 5] } as Record<
  string,
  [number, number]
>

test('a batch of several models is one batch, whose results are found by their ids and cost what each model costs', async () => {
  const other = 'anthropic/claude-haiku-4-5'
  await gateway.admin('faults', [
    { match: { body_contains: 'too long for anybody' }, fault: 'context_length' },
  ])
  const asked = [
    { custom_id: 'a', params: params('one') },
    { custom_id: 'b', params: params('two', { model: other }) },
    { custom_id: 'c', params: params('too long for anybody') },
    { custom_id: 'd', params: params('too long for anybody', { model: other }) },
    { custom_id: 'e', params: params('five') },
  ]
  const { id } = await client.messages.batches.create({ requests: asked })
  const batch = await ended(id)
  expect(batch.request_counts).toEqual({ processing: 0, succeeded: 3, errored: 2, canceled: 0, expired: 0 })
  const lines = await resultsOf(id)
  expect(lines.map(({ custom_id: customId }) => customId)).toEqual(['a', 'c', 'e', 'b', 'd'])
  const own = await gateway.get(`/batches/${id}`)
  expect(at(own.json, 'model')).toBe(model)
  expect(at(own.json, 'headrace_metadata.models')).toEqual([
    { model, items: 3, lane: 'emulated' },
    { model: other, items: 2, lane: 'emulated' },
  ])
  let nanocredits = 0
  for (const { custom_id: customId, result } of lines) {
    if (result.type !== 'succeeded') continue
    const { usage, model: answeredBy } = result.message
    const named = asked.find((request) => request.custom_id === customId)?.params.model ?? ''
    expect(answeredBy).toContain(named.split('/')[1] ?? '')
    const [input, output] = pricesOf[named.split('/')[1] ?? ''] ?? [0, 0]
    nanocredits += (usage.input_tokens * input + usage.output_tokens * output) * 1_000
  }
  expect(Math.round(Number(at(own.json, 'usage.cost')) * 1e9)).toBe(nanocredits)
  await gateway.admin('faults', [])
  const again = await gateway.post(`/batches/${id}/retry`, undefined)
  expect(again.status).toBe(202)
  await ended(String(again.json['id']))
  const retried = await resultsOf(String(again.json['id']))
  expect(retried.map(({ custom_id: customId, result }) => [customId, result.type])).toEqual([
    ['c', 'succeeded'],
    ['d', 'succeeded'],
  ])
})

const refused = [
  [
    'a model that is not served',
    [
      { custom_id: 'a', params: params('x') },
      { custom_id: 'b', params: params('x', { model: 'openai/gpt-4o-mini' }) },
    ],
    'model',
  ],
  [
    'more models than a batch may have',
    Array.from({ length: 17 }, (_, place) => ({
      custom_id: `${place}`,
      params: params('x', { model: `maker/model-${place}` }),
    })),
    'requests[16].params.model',
  ],
  ['no model', [{ custom_id: 'a', params: { max_tokens: 5, messages: [] } }], 'requests[0].params.model'],
  ['no params', [{ custom_id: 'a', body: {} }], 'requests[0].params'],
  ['a stream', [{ custom_id: 'a', params: params('x', { stream: true }) }], 'requests[0].params.stream'],
  ['an unknown model', [{ custom_id: 'a', params: params('x', { model: 'nobody/none' }) }], 'model'],
  ['no requests', [], 'requests'],
] as const

for (const [name, requests, param] of refused)
  test(`a batch with ${name} is refused in Anthropic's envelope`, async () => {
    const { status, json } = await gateway.post('/messages/batches', { requests })
    expect([status, at(json, 'type'), at(json, 'error.type'), at(json, 'error.param')]).toEqual([
      400,
      'error',
      'invalid_request_error',
      param,
    ])
  })

test('betas of the request reach the provider with every message', async () => {
  const { id } = await client.beta.messages.batches.create({
    betas: ['context-1m-2025-08-07'],
    requests: [{ custom_id: 'a', params: params('with a beta') }],
  })
  await ended(id)
  const { last_requests: asked } = (await gateway.admin('counters')) as {
    last_requests: { headers: Record<string, string> }[]
  }
  expect(asked.map(({ headers }) => headers['anthropic-beta'])).toContain('context-1m-2025-08-07')
})
