import { afterAll, expect, test } from 'bun:test'
import { at, startTestGateway, until } from '../support/gateway.ts'

const gateway = await startTestGateway({
  credits: '10',
  providers: (url) => [
    { preset: 'openai', base_url: `${url}/v1`, api_key: 'sk-test', weight: 1, models: [] },
    { preset: 'anthropic', base_url: `${url}/p/claude/v1`, api_key: 'sk-test', weight: 1, models: [] },
  ],
})
afterAll(() => gateway.stop())

const say = (text: string) => ({ messages: [{ role: 'user', content: text }] })

const asked = [
  { endpoint: '/v1/chat/completions', model: 'openai/gpt-4o-mini', body: say, object: 'chat.completion' },
  {
    endpoint: '/v1/messages',
    model: 'openai/gpt-4o-mini',
    body: (text: string) => ({ ...say(text), max_tokens: 100 }),
    object: undefined,
  },
  {
    endpoint: '/v1/responses',
    model: 'openai/gpt-4o-mini',
    body: (input: string) => ({ input }),
    object: 'response',
  },
  {
    endpoint: '/v1/embeddings',
    model: 'openai/text-embedding-3-small',
    body: (input: string) => ({ input }),
    object: 'list',
  },
]

// A cent for a hundred thousand tokens of input, by the price list, and four times that for output.
const costOf = { 'openai/gpt-4o-mini': [150, 600], 'openai/text-embedding-3-small': [20, 0] } as Record<
  string,
  [number, number]
>

test('batches of all four endpoints are jobs of the provider, at half the live price, and leave nothing there', async () => {
  await gateway.admin('settings', { job_looks: 0 })
  const created = await Promise.all(
    asked.map(({ endpoint, model, body }) =>
      gateway.post('/batches', {
        endpoint,
        model,
        headrace: { lane: 'native' },
        requests: [0, 1].map((index) => ({ custom_id: `item-${index}`, body: body(`say ${index}`) })),
      }),
    ),
  )
  for (const [index, { object, model }] of asked.entries()) {
    const id = String(created[index]?.json['id'])
    const { json } = await until(
      () => gateway.get(`/batches/${id}`),
      (answer) => answer.json['status'] === 'completed',
      60_000,
    )
    expect(at(json, 'request_counts')).toEqual({ total: 2, completed: 2, failed: 0 })
    expect(at(json, 'headrace_metadata.lane') ?? 'native').toBe('native')
    expect(at(json, 'results.1.response.body.object')).toBe(object)
    const [input = 0, output = 0] = costOf[model] ?? []
    const tokens = (name: string) => Number(at(json, `usage.${name}`))
    const nanocredits = (tokens('prompt_tokens') * input + tokens('completion_tokens') * output) / 2
    expect(Math.round(Number(at(json, 'usage.cost')) * 1e9)).toBe(Math.round(nanocredits))
  }
  const counts = await until(
    async () => at(await gateway.admin('counters?requests=0'), 'batches'),
    (found) => at(found, 'files_left') === 0,
    30_000,
  )
  expect(counts).toEqual({ batches_made: 4, batches_running: 0, files_made: 8, files_left: 0, lines_run: 8 })
}, 120_000)

test('the items of a job are in the log under the ids of their results, without times, and those it did not answer as failed', async () => {
  await gateway.admin('settings', { job_looks: 0 })
  const onCreate = { path: '/v1/batches', method: 'POST' }
  await gateway.admin('faults', { rules: [{ match: onCreate, fault: 'batch_lines_lost=1', times: 1 }] })
  const model = 'openai/gpt-4o-mini'
  const wrong = { custom_id: 'wrong', body: { messages: 'no' } }
  const fine = [0, 1, 2].map((index) => ({ custom_id: `item-${index}`, body: say(`say ${index}`) }))
  const { json: batch } = await gateway.post('/batches', {
    endpoint: '/v1/chat/completions',
    model,
    headrace: { lane: 'native' },
    requests: [...fine, wrong],
  })
  const { json } = await until(
    () => gateway.get(`/batches/${String(batch['id'])}`),
    (answer) => answer.json['status'] === 'completed',
    60_000,
  )
  const results = at(json, 'results') as Record<string, unknown>[]
  const ids = results.flatMap((result) => (at(result, 'response.request_id') as string | undefined) ?? [])
  expect(ids).toHaveLength(2)
  const key = gateway.managementKey
  const listed = await until(
    () => gateway.get(`/headrace/requests?batch=${String(batch['id'])}`, { key }),
    (answer) => (answer.json['data'] as unknown[]).length >= 4,
  )
  const rows = listed.json['data'] as Record<string, unknown>[]
  expect(rows).toHaveLength(4)
  const ofOutcome = (name: string) => rows.filter(({ outcome }) => outcome === name)
  expect(
    ofOutcome('answered')
      .map(({ id }) => String(id))
      .toSorted(),
  ).toEqual(ids.toSorted())
  for (const row of ofOutcome('answered'))
    expect(row).toMatchObject({ model, deployment: 'openai', attempts: 1, first_byte_ms: null, status: 200 })
  expect(ofOutcome('failed')).toMatchObject([{ deployment: 'openai', model, error_type: 'provider_failed' }])
  expect(ofOutcome('refused')).toMatchObject([{ status: 400, error_type: 'invalid_request', attempts: 0 }])
  const told = await gateway.get(
    `/headrace/requests/${String(ofOutcome('answered')[0]?.['generation_id'])}`,
    {
      key,
    },
  )
  const postings = at(told.json, 'data.postings') as { amount_nanocredits: string }[]
  expect(postings.reduce((sum, { amount_nanocredits }) => sum + BigInt(amount_nanocredits), 0n)).toBe(0n)
  expect(postings).toHaveLength(2)
}, 100_000)

test('an answer of a job is charged though the file that its item named was deleted meanwhile', async () => {
  await gateway.admin('settings', { job_looks: 1 })
  const made = async () => Number(at(await gateway.admin('counters?requests=0'), 'batches.batches_made'))
  const before = await made()
  const form = new FormData()
  form.append('file', new File(['The wheel turns.'], 'note.txt'))
  const file = await gateway.post('/files', form)
  const part = { type: 'file', file: { file_id: file.json['id'] } }
  const { json: batch } = await gateway.post('/batches', {
    endpoint: '/v1/chat/completions',
    model: 'openai/gpt-4o-mini',
    headrace: { lane: 'native' },
    requests: [{ custom_id: 'a', body: { messages: [{ role: 'user', content: [part] }] } }],
  })
  await until(made, (count) => count > before, 30_000)
  expect((await gateway.request(`/files/${String(file.json['id'])}`, { method: 'DELETE' })).status).toBe(200)
  const { json } = await until(
    () => gateway.get(`/batches/${String(batch['id'])}`),
    (answer) => answer.json['status'] === 'completed',
    60_000,
  )
  expect(at(json, 'results.0.error')).toBeNull()
  expect(Number(at(json, 'usage.cost'))).toBeGreaterThan(0)
}, 100_000)

test('auto makes a job of a hundred items, runs what it did not answer at the live price, and sets that aside', async () => {
  await gateway.admin('settings', { job_looks: 0 })
  const onCreate = { path: '/v1/batches', method: 'POST' }
  await gateway.admin('faults', { rules: [{ match: onCreate, fault: 'batch_lines_lost=3', times: 1 }] })
  const model = 'openai/gpt-4o-mini'
  const requests = Array.from({ length: 100 }, (_, index) => ({
    custom_id: `item-${index}`,
    body: { ...say(`say ${index}`), max_tokens: 20 },
  }))
  const batch = { endpoint: '/v1/chat/completions', model, requests }
  const estimate = await gateway.post('/batches?dry_run=true', batch)
  expect(estimate.json).toMatchObject({ lane: 'native', lanes: [{ lane: 'native' }, { lane: 'emulated' }] })
  expect(at(estimate.json, 'estimate')).toBe(at(estimate.json, 'lanes.1.estimate'))
  const few = await gateway.post('/batches?dry_run=true', { ...batch, requests: requests.slice(1) })
  expect(few.json['lane']).toBe('emulated')
  const created = await gateway.post('/batches', batch)
  const { json } = await until(
    () => gateway.get(`/batches/${String(created.json['id'])}`),
    (answer) => answer.json['status'] === 'completed',
    60_000,
  )
  expect(at(json, 'request_counts')).toEqual({ total: 100, completed: 100, failed: 0 })
  const moved = [{ from: 'native', to: 'emulated', reason: 'provider_failed', items: 3 }]
  const jobs = [{ state: 'ended', items: 100, ended_as: 'completed' }]
  expect(at(json, 'headrace_metadata')).toMatchObject({ lane: 'native', moved, jobs })
  const results = json['results'] as { response: { body: { usage: Record<string, number> } } }[]
  const [inputPrice = 0, outputPrice = 0] = costOf[model] ?? []
  const shares = results.map(({ response: { body } }) => {
    const { prompt_tokens: input = 0, completion_tokens: output = 0, cost = 0 } = body.usage
    return Math.round((cost * 1e9 * 100) / (input * inputPrice + output * outputPrice))
  })
  expect(shares.filter((share) => share === 50)).toHaveLength(97)
  expect(shares.filter((share) => share === 100)).toHaveLength(3)
}, 120_000)

test('a batch is not deleted before its provider has removed what its job left there: 502 until then', async () => {
  await gateway.admin('settings', { job_looks: 0 })
  const onFile = { path_contains: '/files/', method: 'DELETE' }
  await gateway.admin('faults', { rules: [{ match: onFile, fault: 'status=500', times: 2 }] })
  const created = await gateway.post('/batches', {
    endpoint: '/v1/chat/completions',
    model: 'openai/gpt-4o-mini',
    headrace: { lane: 'native' },
    requests: [{ custom_id: 'item-0', body: say('hello') }],
  })
  const path = `/batches/${String(created.json['id'])}`
  const ended = await until(
    () => gateway.get(path),
    (answer) => answer.json['status'] === 'completed',
    60_000,
  )
  const [job] = at(ended.json, 'headrace_metadata.jobs') as Record<string, unknown>[]
  expect(job).toMatchObject({ state: 'ended', items: 1, ended_as: 'completed' })
  expect(Number(job?.['left'])).toBeGreaterThan(0)
  const refused = await gateway.get(path, { method: 'DELETE' })
  expect(refused.status).toBe(502)
  expect(refused.headers.get('retry-after')).toBe('10')
  expect(at(refused.json, 'error.message')).toContain('which are being removed')
  const listed = await gateway.get('/batches?limit=1')
  expect(at(listed.json, 'data.0.headrace_metadata.jobs.0.ended_as')).toBe('completed')
  const deleted = await until(
    () => gateway.get(path, { method: 'DELETE' }),
    (answer) => answer.status !== 502,
    60_000,
  )
  expect(deleted.status).toBe(200)
  expect((await gateway.get(path)).status).toBe(404)
}, 120_000)

test('a live request cannot ask for the tier of batches, in any format', async () => {
  const model = 'openai/gpt-4o-mini'
  const tier = { service_tier: 'batch' }
  for (const answer of [
    await gateway.post('/chat/completions', { model, ...say('hello'), ...tier }),
    await gateway.post('/responses', { model, input: 'hello', ...tier }),
    await gateway.post('/messages', { model, ...say('hello'), max_tokens: 10, ...tier }),
  ]) {
    expect(answer.status).toBe(400)
    expect(answer.text).toContain('service_tier')
  }
})

test('batches of chat, responses and messages to Claude are batches of messages, at half the live price, and leave nothing', async () => {
  await gateway.admin('settings', { job_looks: 0, mount: 'claude' })
  const model = 'anthropic/claude-haiku-4-5'
  const created = await Promise.all(
    asked.slice(0, 3).map(({ endpoint, body }) =>
      gateway.post('/batches', {
        endpoint,
        model,
        headrace: { lane: 'native' },
        requests: [0, 1].map((index) => ({ custom_id: `item-${index}`, body: body(`say ${index}`) })),
      }),
    ),
  )
  for (const { json: accepted, text } of created) {
    expect(text).toContain('batch_')
    const { json } = await until(
      () => gateway.get(`/batches/${String(accepted['id'])}`),
      (answer) => answer.json['status'] === 'completed',
      60_000,
    )
    expect(at(json, 'request_counts')).toEqual({ total: 2, completed: 2, failed: 0 })
    expect(at(json, 'headrace_metadata.jobs.0.ended_as')).toBe('completed')
    // A credit for a million tokens of input and five for output, by the price list.
    const tokens = (name: string) => Number(at(json, `usage.${name}`))
    const nanocredits = (tokens('prompt_tokens') * 1_000 + tokens('completion_tokens') * 5_000) / 2
    expect(Math.round(Number(at(json, 'usage.cost')) * 1e9)).toBe(Math.round(nanocredits))
  }
  const counts = await until(
    async () => at(await gateway.admin('counters?requests=0&mount=claude'), 'message_batches'),
    (found) => at(found, 'batches_left') === 0,
    60_000,
  )
  expect(counts).toEqual({ batches_made: 3, batches_running: 0, batches_left: 0, lines_run: 6 })
}, 180_000)

test('what the service of a provider does not run goes on at the live price under auto', async () => {
  const requests = Array.from({ length: 100 }, (_, index) => ({
    custom_id: `item-${index}`,
    params: { model: 'anthropic/claude-haiku-4-5', ...say(`say ${index}`), max_tokens: 20 },
  }))
  // A beta holds for a whole batch of Anthropic's, so its jobs take none.
  const headers = { 'anthropic-beta': 'interleaved-thinking-2025-05-14', 'anthropic-version': '2023-06-01' }
  const created = await gateway.post('/messages/batches', { requests }, { headers })
  expect(created.json['processing_status']).toBe('in_progress')
  const { json } = await until(
    () => gateway.get(`/batches/${String(created.json['id'])}`),
    (answer) => answer.json['status'] === 'completed',
    60_000,
  )
  expect(at(json, 'request_counts')).toEqual({ total: 100, completed: 100, failed: 0 })
  const moved = [{ from: 'native', to: 'emulated', reason: 'no_matching_endpoint', items: 100 }]
  expect(at(json, 'headrace_metadata')).toMatchObject({
    lane: 'native',
    moved,
    jobs: [{ ended_as: 'unneeded' }],
  })
}, 120_000)
