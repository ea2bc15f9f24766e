import { expect, test } from 'bun:test'
import { deploymentOf, type PlayedService, playedServices, priceByHand } from '../support/batch-services.ts'
import { at, startTestGateway, type TestGateway, until } from '../support/gateway.ts'

const serviceOf = (name: string): PlayedService => {
  const service = playedServices.find((each) => each.name === name)
  if (service === undefined) throw new Error(name)
  return service
}

/** Without a listing, which may be late. */
const unlisted = { api_key: 'sk-test', weight: 1, discover: false } as const
const modelsOf = (...names: string[]) =>
  names.map((name) => ({ id: `${name.startsWith('claude') ? 'anthropic' : 'openai'}/${name}` }))

const startGateway = () =>
  startTestGateway({
    credits: '10',
    providers: (url) => [
      {
        preset: 'openai',
        base_url: `${url}/v1`,
        ...unlisted,
        models: modelsOf('gpt-4o-mini', 'text-embedding-3-small'),
      },
      {
        preset: 'anthropic',
        base_url: `${url}/p/claude/v1`,
        ...unlisted,
        models: modelsOf('claude-haiku-4-5', 'claude-sonnet-4-5'),
      },
      { ...deploymentOf(serviceOf('openrouter'), 'router', url), only_models: true },
      {
        ...deploymentOf(serviceOf('gemini'), 'gemini', url),
        only_models: true,
        models: [
          {
            id: 'test/vectors',
            upstream: 'gemini-embedding-001',
            prices: { input_per_million: '1', service_tiers: { batch: { input_per_million: '0.5' } } },
          },
        ],
      },
    ],
  })

const storyMsMax = 200_000

/** Each story has a gateway of its own, and all are told at once, because most of a job's life is waiting. */
function story(name: string, tell: (gateway: TestGateway) => Promise<void>): void {
  const told = tellWhole(tell)
  told.catch(() => undefined)
  test(name, () => told, storyMsMax)
}

async function tellWhole(tell: (gateway: TestGateway) => Promise<void>): Promise<void> {
  const gateway = await startGateway()
  try {
    await tell(gateway)
  } finally {
    await gateway.stop()
  }
}

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

story(
  'batches of all four endpoints are jobs of the provider, at half the live price, and leave nothing there',
  async (gateway) => {
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
    expect(counts).toEqual({
      batches_made: 4,
      batches_running: 0,
      files_made: 8,
      files_left: 0,
      lines_run: 8,
    })
  },
)

story(
  'what a job waits for is told by its batch and in the log, and told no more once it goes on',
  async (gateway) => {
    await gateway.admin('settings', { job_looks: 0 })
    const onUpload = { path: '/v1/files', method: 'POST' }
    await gateway.admin('faults', { rules: [{ match: onUpload, fault: 'status=503', times: 1 }] })
    const { json: batch } = await gateway.post('/batches', {
      endpoint: '/v1/chat/completions',
      model: 'openai/gpt-4o-mini',
      headrace: { lane: 'native' },
      requests: [0, 1, 2].map((index) => ({ custom_id: `item-${index}`, body: say('hi') })),
    })
    const look = () => gateway.get(`/batches/${String(batch['id'])}`)
    const waiting = await until(
      look,
      ({ json }) => at(json, 'headrace_metadata.waiting') !== undefined,
      60_000,
    )
    expect(at(waiting.json, 'headrace_metadata.waiting')).toMatchObject({
      type: 'provider_overloaded',
      items: 3,
    })
    const { json } = await until(look, (answer) => answer.json['status'] === 'completed', 90_000)
    expect(at(json, 'headrace_metadata.waiting')).toBeUndefined()
  },
)

story('an address inside the network goes into no job of a server that is inside, too', async (gateway) => {
  await gateway.admin('settings', { job_looks: 0 })
  const image = { type: 'image_url', image_url: { url: 'http://169.254.169.254/latest/meta-data' } }
  const { json: batch } = await gateway.post('/batches', {
    endpoint: '/v1/chat/completions',
    model: 'openai/gpt-4o-mini',
    headrace: { lane: 'native' },
    requests: [
      { custom_id: 'plain', body: say('hi') },
      { custom_id: 'inside', body: { messages: [{ role: 'user', content: [image] }] } },
    ],
  })
  const { json } = await until(
    () => gateway.get(`/batches/${String(batch['id'])}`),
    (answer) => answer.json['status'] === 'completed',
    90_000,
  )
  expect(at(json, 'results.0.response.status_code')).toBe(200)
  expect(at(json, 'results.1.error')).toMatchObject({
    type: 'invalid_request',
    param: 'messages[0].content[0].image_url.url',
  })
  expect(at(await gateway.admin('counters?requests=0'), 'batches.lines_run')).toBe(1)
})

story(
  'a job has only as many items as its batch can pay at their worst; the others wait, and every answer is paid whole',
  async (gateway) => {
    await gateway.admin('settings', { job_looks: 0 })
    await gateway.admin('faults', { rules: [{ match: { method: 'LINE' }, fault: 'tokens=12000' }] })
    // At worst an item costs 16,384 tokens at 0.3 a million: this pays for two.
    const { json: batch } = await gateway.post('/batches', {
      endpoint: '/v1/chat/completions',
      model: 'openai/gpt-4o-mini',
      headrace: { lane: 'native', max_cost: '0.0105' },
      requests: Array.from({ length: 20 }, (_, index) => ({
        custom_id: `item-${index}`,
        body: say('Count.'),
      })),
    })
    const id = String(batch['id'])
    const seen = await until(
      () => gateway.get(`/batches/${id}`),
      ({ json }) => at(json, 'request_counts.completed') === 2,
      90_000,
    )
    expect(at(seen.json, 'status')).toBe('in_progress')
    const waiting = await until(
      () => gateway.get(`/batches/${id}`),
      ({ text }) => text.includes('headrace.max_cost'),
      90_000,
    )
    expect(at(waiting.json, 'request_counts.completed')).toBe(2)
    await gateway.post(`/batches/${id}/cancel`, {})
    const { json } = await until(
      () => gateway.get(`/batches/${id}`),
      (answer) => answer.json['status'] === 'cancelled',
      90_000,
    )
    const answered = (at(json, 'results') as unknown[]).filter(
      (result) => at(result, 'response.body') !== undefined,
    )
    expect(answered).toHaveLength(2)
    for (const result of answered) {
      const [input, output] = ['prompt_tokens', 'completion_tokens'].map((name) =>
        Number(at(result, `response.body.usage.${name}`)),
      )
      expect(output).toBe(12_000)
      expect(Math.round(Number(at(result, 'response.body.usage.cost')) * 1e9)).toBe(
        Math.round(((input ?? 0) * 150 + 12_000 * 600) / 2),
      )
    }
  },
)

story(
  'an item that costs more than its share of the batch waits for its own worst case, and goes on once that is there',
  async (gateway) => {
    await gateway.admin('settings', { job_looks: 0 })
    const keys = async (method: string, path: string, body: object) => {
      const response = await gateway.request(path, { method, key: gateway.managementKey, body })
      return (await response.json()) as { key: string; data: { hash: string } }
    }
    // At worst the first costs next to nothing and the second 0.0049152, of which each has half as its share.
    const { key, data } = await keys('POST', '/keys', { name: 'small', limit: 0.004 })
    const { json: batch } = await gateway.post(
      '/batches',
      {
        endpoint: '/v1/chat/completions',
        model: 'openai/gpt-4o-mini',
        headrace: { lane: 'native' },
        requests: [
          { custom_id: 'cheap', body: { ...say('Count.'), max_tokens: 20 } },
          { custom_id: 'dear', body: say('Count.') },
        ],
      },
      { key },
    )
    const id = String(batch['id'])
    const waiting = await until(
      () => gateway.get(`/batches/${id}`),
      ({ json, text }) => at(json, 'request_counts.completed') === 1 && text.includes('limit of its API key'),
      90_000,
    )
    expect(at(waiting.json, 'status')).toBe('in_progress')
    // A job must be seen that goes on, so the provider takes its time for it.
    await gateway.admin('settings', { job_looks: 2 })
    await keys('PATCH', `/keys/${data.hash}`, { limit: 1 })
    const goesOn = await until(
      () => gateway.get(`/batches/${id}`),
      ({ json }) => at(json, 'headrace_metadata.jobs.1.state') === 'running',
      60_000,
    )
    expect(goesOn.text).not.toContain('limit of its API key')
    const { json } = await until(
      () => gateway.get(`/batches/${id}`),
      (answer) => answer.json['status'] === 'completed',
      90_000,
    )
    expect(at(json, 'request_counts')).toEqual({ total: 2, completed: 2, failed: 0 })
    expect(at(json, 'headrace_metadata.jobs')).toMatchObject([{ items: 1 }, { items: 1 }])
  },
)

story(
  'a batch whose key is gone before its job was sent ends then, also in a lane that was named',
  async (gateway) => {
    await gateway.admin('faults', {
      rules: [{ match: { path: '/v1/files', method: 'POST' }, fault: 'status=503' }],
    })
    const manage = async (method: string, path: string, body: object) => {
      const response = await gateway.request(path, { method, key: gateway.managementKey, body })
      return (await response.json()) as { key: string; data: { hash: string } }
    }
    const { key, data } = await manage('POST', '/keys', { name: 'gone' })
    const { json: batch } = await gateway.post(
      '/batches',
      {
        endpoint: '/v1/chat/completions',
        model: 'openai/gpt-4o-mini',
        headrace: { lane: 'native' },
        requests: [0, 1].map((index) => ({ custom_id: `item-${index}`, body: say(`say ${index}`) })),
      },
      { key },
    )
    const id = String(batch['id'])
    await until(
      () => gateway.get(`/batches/${id}`),
      ({ json }) => at(json, 'headrace_metadata.waiting.type') === 'provider_overloaded',
      30_000,
    )
    await manage('PATCH', `/keys/${data.hash}`, { disabled: true })
    const { json } = await until(
      () => gateway.get(`/batches/${id}`),
      (answer) => answer.json['status'] === 'completed',
      90_000,
    )
    expect(at(json, 'request_counts')).toEqual({ total: 2, completed: 0, failed: 2 })
    expect(at(json, 'results.1.error.type')).toBe('permission_denied')
    expect(at(json, 'headrace_metadata.moved')).toBeUndefined()
  },
)

story(
  'an answer of a job is charged though the file that its item named was deleted meanwhile',
  async (gateway) => {
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
    expect((await gateway.request(`/files/${String(file.json['id'])}`, { method: 'DELETE' })).status).toBe(
      200,
    )
    const { json } = await until(
      () => gateway.get(`/batches/${String(batch['id'])}`),
      (answer) => answer.json['status'] === 'completed',
      60_000,
    )
    expect(at(json, 'results.0.error')).toBeNull()
    expect(Number(at(json, 'usage.cost'))).toBeGreaterThan(0)
  },
)

story(
  'the items of a job are in the log under the ids of their results, without times, and those it did not answer as failed',
  async (gateway) => {
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
      expect(row).toMatchObject({
        model,
        deployment: 'openai',
        attempts: 1,
        first_byte_ms: null,
        status: 200,
      })
    expect(ofOutcome('failed')).toMatchObject([
      { deployment: 'openai', model, error_type: 'provider_failed' },
    ])
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
  },
)

story(
  'auto makes a job of a hundred items, runs what it did not answer at the live price, and sets that aside',
  async (gateway) => {
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
  },
)

story(
  'a batch is not deleted before its provider has removed what its job left there: 502 until then',
  async (gateway) => {
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
  },
)

story('a live request cannot ask for the tier of batches, in any format', async (gateway) => {
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

story(
  'batches of chat, responses and messages to Claude are batches of messages, at half the live price, and leave nothing',
  async (gateway) => {
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
  },
)

story(
  'a batch of messages to several models has a job for each, and what has no job is run live beside them',
  async (gateway) => {
    await gateway.admin('settings', { job_looks: 0, mount: 'claude' })
    const named = (count: number, model: string, tokensMax = 20) =>
      Array.from({ length: count }, (_, index) => ({
        custom_id: `${model.split('/')[1]}-${index}`,
        params: { model, ...say(`say ${index}`), max_tokens: tokensMax },
      }))
    // Those of one model may cost far more than their share of the batch, and are one job all the same.
    const [haiku, sonnet, mini] = [
      named(100, 'anthropic/claude-haiku-4-5'),
      named(100, 'anthropic/claude-sonnet-4-5', 4_000),
      named(2, 'openai/gpt-4o-mini'),
    ]
    // Models alternate, and a segment has one model all the same.
    const requests = [...haiku.flatMap((each, index) => [each, sonnet[index]]), ...mini]
    const created = await gateway.post('/messages/batches', { requests })
    expect(created.json['processing_status']).toBe('in_progress')
    const { json } = await until(
      () => gateway.get(`/batches/${String(created.json['id'])}`),
      (answer) => answer.json['status'] === 'completed',
      60_000,
    )
    const all = json['results'] as { custom_id: string; error: object | null }[]
    expect(all.filter(({ error }) => error !== null)).toEqual([])
    expect(at(json, 'request_counts')).toEqual({ total: 202, completed: 202, failed: 0 })
    expect(at(json, 'headrace_metadata')).toMatchObject({
      lane: 'native',
      models: [
        { model: 'anthropic/claude-haiku-4-5', items: 100, lane: 'native' },
        { model: 'anthropic/claude-sonnet-4-5', items: 100, lane: 'native' },
        { model: 'openai/gpt-4o-mini', items: 2, lane: 'emulated' },
      ],
      jobs: [
        { state: 'ended', items: 100, ended_as: 'completed' },
        { state: 'ended', items: 100, ended_as: 'completed' },
      ],
    })
    const results = json['results'] as {
      custom_id: string
      response: { body: { usage: Record<string, number> } }
    }[]
    // Nanocredits for a token of input and of output: half of the list for what jobs have run.
    const prices = { haiku: [500, 2_500], sonnet: [1_500, 7_500], mini: [150, 600] }
    for (const [name, [inputPrice = 0, outputPrice = 0]] of Object.entries(prices)) {
      const ofModel = results.filter(({ custom_id: id }) => id.includes(name))
      expect(ofModel).toHaveLength(name === 'mini' ? 2 : 100)
      for (const { response } of ofModel) {
        const { input_tokens: input = 0, output_tokens: output = 0, cost = 0 } = response.body.usage
        expect(Math.round(cost * 1e9)).toBe(input * inputPrice + output * outputPrice)
      }
    }
  },
)

story(
  'what the service of a provider does not run goes on at the live price under auto, and the estimate says so',
  async (gateway) => {
    const router = serviceOf('openrouter')
    await gateway.admin('settings', { mount: 'router', job_looks: 0, any_model: true, ...router.settings })
    const picture = {
      type: 'image_url',
      image_url: {
        url: 'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
      },
    }
    const texts = Array.from({ length: 100 }, (_, index) => ({
      custom_id: `text-${index}`,
      body: { ...say(`say ${index}`), max_tokens: 20 },
    }))
    // The service takes text alone.
    const pictures = Array.from({ length: 10 }, (_, index) => ({
      custom_id: `picture-${index}`,
      body: {
        messages: [{ role: 'user', content: [{ type: 'text', text: 'What is this?' }, picture] }],
        max_tokens: 20,
      },
    }))
    const batch = (requests: object[]) => ({
      endpoint: '/v1/chat/completions',
      model: 'test/router',
      headrace: { lane: 'auto' },
      requests,
    })
    const pricesOf = async (requests: object[]) => {
      const { json } = await gateway.post('/batches?dry_run=true', batch(requests))
      expect(json['lane']).toBe('native')
      const lanes = json['lanes'] as { lane: string; estimate: number }[]
      const of = (name: string) =>
        Math.round((lanes.find(({ lane }) => lane === name)?.estimate ?? Number.NaN) * 1e9)
      return { native: of('native'), live: of('emulated') }
    }
    const [ofTexts, ofAll] = [await pricesOf(texts), await pricesOf([...texts, ...pictures])]
    expect(ofTexts.native * 2).toBe(ofTexts.live)
    expect(ofAll.native).toBe(ofTexts.native + (ofAll.live - ofTexts.live))
    const created = await gateway.post('/batches', batch([...texts, ...pictures]))
    const { json } = await until(
      () => gateway.get(`/batches/${String(created.json['id'])}`),
      (answer) => answer.json['status'] === 'completed',
      60_000,
    )
    expect(at(json, 'request_counts')).toEqual({ total: 110, completed: 110, failed: 0 })
    expect(at(json, 'headrace_metadata')).toMatchObject({
      lane: 'native',
      moved: [{ from: 'native', to: 'emulated', reason: 'no_matching_endpoint', items: 10 }],
      jobs: [{ items: 100, ended_as: 'completed' }],
    })
    const results = json['results'] as { custom_id: string; response: { body: { usage: Charged } } }[]
    for (const { custom_id: id, response } of results) {
      const { usage } = response.body
      const price = priceByHand({ ...router, share: id.startsWith('text') ? router.share : 1 }, usage)
      expect(Math.round(usage.cost * 1e9)).toBe(price)
    }
  },
)

interface Charged {
  prompt_tokens: number
  completion_tokens: number
  cost: number
}

story(
  'a batch of which the service of its provider would run nothing is no job, and cannot be asked to be one',
  async (gateway) => {
    const params = { model: 'anthropic/claude-haiku-4-5', ...say('say it'), max_tokens: 20 }
    const requests = Array.from({ length: 100 }, (_, index) => ({ custom_id: `item-${index}`, params }))
    // A beta holds for a whole batch of Anthropic's, so its jobs take none.
    const headers = { 'anthropic-beta': 'interleaved-thinking-2025-05-14', 'anthropic-version': '2023-06-01' }
    const named = { requests, headrace: { lane: 'native' } }
    const refused = await gateway.post('/messages/batches', named, { headers })
    expect([refused.status, at(refused.json, 'error.param')]).toEqual([400, 'headrace.lane'])
    const created = await gateway.post('/messages/batches', { requests }, { headers })
    const { json } = await until(
      () => gateway.get(`/batches/${String(created.json['id'])}`),
      (answer) => answer.json['status'] === 'completed',
      60_000,
    )
    expect(at(json, 'request_counts')).toEqual({ total: 100, completed: 100, failed: 0 })
    expect(at(json, 'headrace_metadata')).toEqual({ lane: 'emulated' })
    // Gemini embeds one text a line, and its own SDK calls that experimental.
    const vectors = {
      endpoint: '/v1/embeddings',
      model: 'test/vectors',
      requests: Array.from({ length: 100 }, (_, index) => ({
        custom_id: `${index}`,
        body: { input: 'a wheel' },
      })),
    }
    const estimate = await gateway.post('/batches?dry_run=true', vectors)
    expect([estimate.json['lane'], (estimate.json['lanes'] as object[]).length]).toEqual(['emulated', 1])
    const job = await gateway.post('/batches', { ...vectors, headrace: { lane: 'native' } })
    expect([job.status, at(job.json, 'error.param')]).toEqual([400, 'headrace.lane'])
  },
)
