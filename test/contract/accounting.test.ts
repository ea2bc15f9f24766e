import { OpenRouter } from '@openrouter/sdk'
import { afterAll, expect, test } from 'bun:test'
import { at, sandboxProvider, startTestGateway, until } from '../support/gateway.ts'

// Sums of usage, the ledger, and the state of the gateway over HTTP. Expectations are written by hand.

const gateway = await startTestGateway({
  credits: '5',
  providers: (url) => [sandboxProvider(url, { id: 'one', base_url: `${url}/p/one/v1` })],
})
afterAll(() => gateway.stop())

type Json = Record<string, unknown>
const managed = { key: gateway.managementKey }
const mini = 'openai/gpt-4o-mini'
const large = 'openai/gpt-4o'
const chat = (model: string, user?: string) => ({
  model,
  messages: [{ role: 'user', content: 'Hello.' }],
  max_tokens: 20,
  ...(user === undefined ? {} : { user }),
})
const costs = new Map<string, bigint>()
for (const [model, user] of [
  [mini, 'ada'],
  [mini, 'ada'],
  [large, 'bob'],
  [mini, undefined],
] as const) {
  const answer = await gateway.post('/chat/completions', chat(model, user))
  expect(answer.status).toBe(200)
  const cost = BigInt(Math.round(Number(at(answer.json, 'usage.cost')) * 1e9))
  for (const name of [model, user ?? 'nobody', 'all']) costs.set(name, (costs.get(name) ?? 0n) + cost)
}
expect((await gateway.post('/chat/completions', chat('no/such'))).status).toBe(400)
const text = (name: string) => String(costs.get(name))

async function data(path: string): Promise<Json> {
  const answer = await gateway.get(path, managed)
  expect([answer.status, answer.json['error']]).toEqual([200, undefined])
  return answer.json['data'] as Json
}
/** Once the log has written its rows. */
const spend = (query: string) =>
  until(
    () => data(`/headrace/spend?${query}`),
    (found) => at(found, 'total.requests') === 5,
  )
const sumOf = (values: unknown) =>
  String((values as string[]).reduce((sum, value) => sum + BigInt(value), 0n))

test('spend is what the calls cost, by model, key, provider and user, in every zone, and equals the ledger', async () => {
  for (const zone of ['UTC', 'Europe/Berlin', 'Asia/Kolkata', 'Asia/Kathmandu']) {
    const found = await spend(`by=model&zone=${zone}`)
    expect(found).toMatchObject({ by: 'model', zone, bucket: 'day', warnings: [] })
    expect(found['total']).toMatchObject({
      cost_nanocredits: text('all'),
      charged_requests: 4,
      requests: 5,
      errors: 1,
      p50_ms: expect.any(Number),
    })
    expect((found['groups'] as Json[]).map(({ id, cost_nanocredits }) => [id, cost_nanocredits])).toEqual([
      [large, text(large)],
      [mini, text(mini)],
      ['', '0'],
    ])
    for (const group of found['groups'] as Json[])
      expect(sumOf(at(group, 'over_time.cost_nanocredits'))).toBe(String(group['cost_nanocredits']))
    expect(sumOf(at(found, 'over_time.cost_nanocredits'))).toBe(text('all'))
  }
  const byKey = await spend('by=key&bucket=hour')
  expect(byKey['groups']).toMatchObject([{ name: 'First key', cost_nanocredits: text('all') }])
  const byProvider = await spend('by=provider')
  expect((byProvider['groups'] as Json[])[0]).toMatchObject({ id: 'sandbox', name: 'Sandbox' })
  const byUser = await spend('by=user')
  expect((byUser['groups'] as Json[]).map(({ id, cost_nanocredits }) => [id, cost_nanocredits])).toEqual(
    expect.arrayContaining([
      ['ada', text('ada')],
      ['bob', text('bob')],
      [null, text('nobody')],
    ]),
  )
  expect(sumOf((byUser['groups'] as Json[]).map(({ cost_nanocredits }) => cost_nanocredits))).toBe(
    text('all'),
  )
  // The refused call is nobody's: users are read from the ledger, and only the total tells errors.
  expect((byUser['groups'] as Json[]).map(({ id, requests, errors }) => [id, requests, errors])).toEqual(
    expect.arrayContaining([
      ['ada', 2, null],
      ['bob', 1, null],
      [null, 1, null],
    ]),
  )
  expect(byUser['total']).toMatchObject({ requests: 5, errors: 1 })
  expect(byUser['warnings']).toContainEqual(expect.stringContaining('charged'))
  const other = await spend('by=model&top=1')
  expect((other['groups'] as Json[]).map(({ id, name }) => [id, name])).toEqual([
    [large, large],
    [null, 'Other'],
  ])
  expect(await data('/headrace/spend/ledger')).toMatchObject({
    rollups_nanocredits: text('all'),
    ledger_nanocredits: text('all'),
    equals: true,
  })
})

test('a question about spend that cannot be answered names its field', async () => {
  const problem = async (query: string) => {
    const answer = await gateway.get(`/headrace/spend?${query}`, managed)
    return [answer.status, at(answer.json, 'error.message')]
  }
  expect(await problem('zone=Mars/Olympus')).toEqual([400, expect.stringContaining('"zone"')])
  expect(await problem('by=colour')).toEqual([400, expect.stringContaining('"by"')])
  expect(await problem('from=2020-01-01&bucket=15m')).toEqual([400, expect.stringContaining('"bucket"')])
  expect(await problem('from=2026-01-02&to=2026-01-01')).toEqual([400, expect.stringContaining('"from"')])
  expect((await gateway.get('/headrace/spend')).status).toBe(403)
})

test('the ledger tells its balance and its postings, and exports them', async () => {
  const balance = await until(
    () => data('/headrace/ledger/balance'),
    (found) => found['held_nanocredits'] === '0',
  )
  expect(balance).toEqual({
    account_mode: 'prepaid',
    granted_nanocredits: '5000000000',
    captured_nanocredits: text('all'),
    held_nanocredits: '0',
    balance_nanocredits: String(5_000_000_000n - BigInt(text('all'))),
  })
  const page = await gateway.get('/headrace/ledger/postings', managed)
  const postings = page.json['data'] as Json[]
  expect(postings.filter(({ kind }) => kind === 'capture')).toHaveLength(4)
  expect(postings.find(({ kind }) => kind === 'grant')).toMatchObject({ amount_nanocredits: '5000000000' })
  expect(sumOf(postings.map(({ amount_nanocredits }) => amount_nanocredits))).toBe(
    String(balance['balance_nanocredits']),
  )
  const seen: unknown[] = []
  for (let cursor: unknown = ''; cursor !== null;) {
    const more = cursor === '' ? '' : `&cursor=${String(cursor)}`
    const one = await gateway.get(`/headrace/ledger/postings?kind=capture&limit=1${more}`, managed)
    seen.push(...(one.json['data'] as Json[]).map(({ transaction_id: id }) => id))
    cursor = one.json['next_cursor']
  }
  expect(seen.map(String).toSorted((one, other) => one.localeCompare(other))).toEqual(
    postings
      .flatMap(({ kind, transaction_id: id }) => (kind === 'capture' ? [String(id)] : []))
      .toSorted((one, other) => one.localeCompare(other)),
  )
  const csv = await gateway.get('/headrace/ledger/postings/export', managed)
  expect(csv.text.trim().split('\r\n')).toHaveLength(6)
})

test('deployments are told by the processes, with the last failure and the next step', async () => {
  const healthy = await until(
    async () => (await gateway.get('/headrace/deployments', managed)).json['data'] as Json[],
    ([found]) => found?.['state'] === 'healthy',
  )
  expect(healthy).toMatchObject([{ id: 'one', provider: 'sandbox', provider_name: 'Sandbox', next: null }])
  await gateway.admin('faults?mount=one', [{ fault: 'status=401' }])
  const refused = await gateway.post('/chat/completions', chat(mini))
  expect(refused.status).toBeGreaterThanOrEqual(500)
  const [out] = await until(
    async () => (await gateway.get('/headrace/deployments', managed)).json['data'] as Json[],
    ([found]) => found?.['state'] === 'out',
    5_000,
  )
  await gateway.admin('faults?mount=one', [])
  expect(out).toMatchObject({
    since: expect.any(String),
    last_error: { status: expect.any(Number), at: expect.any(String) },
    next: expect.stringContaining('key of "one"'),
  })
  const system = await data('/headrace/system')
  expect(system).toMatchObject({
    database: 'sqlite',
    is_sandbox: false,
    processes: [{ id: expect.stringMatching(/^owner_/), pid: process.pid, role: 'all', log_dropped: 0 }],
    request_log: { is_on: true, days: 30 },
  })
})

test('the contract’s activity and analytics answer through its own client', async () => {
  const client = new OpenRouter({
    apiKey: gateway.managementKey,
    serverURL: gateway.listen(),
  })
  const activity = await client.analytics.getUserActivity({})
  // Today has not ended, so it is not told yet.
  expect(activity).toMatchObject({ data: [] })
  const today = await gateway.get(`/activity?date=${new Date().toISOString().slice(0, 10)}`, managed)
  expect(today.status).toBe(400)
  const known = await client.analytics.getAnalyticsMeta({})
  expect(known.data.metrics.map(({ name }) => name)).toContain('usage')
  const queried = await client.analytics.queryAnalytics({
    requestBody: { metrics: ['usage', 'request_count'], dimensions: ['model'], granularity: 'day' },
  })
  expect(queried.data.metadata).toMatchObject({ rowCount: 2, truncated: false })
  const rows = await gateway.post(
    '/analytics/query',
    { metrics: ['usage', 'request_count', 'error_count', 'latency_p50'], dimensions: ['model'] },
    managed,
  )
  expect(at(rows.json, 'data.data')).toMatchObject([
    { model: large, usage_nanocredits: text(large), request_count: 1, error_count: 0 },
    { model: mini, usage_nanocredits: text(mini), request_count: 3 },
    { model: null, usage_nanocredits: '0', error_count: 1 },
  ])
  const cut = await gateway.post(
    '/analytics/query',
    {
      metrics: ['usage'],
      granularity: 'hour',
      time_range: { start: '2020-01-01T00:00:00Z', end: '2026-01-01T00:00:00Z' },
    },
    managed,
  )
  expect([cut.status, at(cut.json, 'error.message')]).toEqual([400, expect.stringContaining('"granularity"')])
  const csv = await gateway.post(
    '/analytics/query',
    { metrics: ['usage'], dimensions: ['provider'], headrace: { format: 'csv' } },
    managed,
  )
  expect(csv.text).toBe(
    `provider,usage,usage_nanocredits\r\nsandbox,${Number(text('all')) / 1e9},${text('all')}\r\n`,
  )
  const filtered = await gateway.post(
    '/analytics/query',
    { metrics: ['usage'], filters: [{ field: 'model', operator: 'neq', value: large }] },
    managed,
  )
  expect(at(filtered.json, 'data.data.0.usage_nanocredits')).toBe(text(mini))
})

test('feedback is taken for a known generation, and its content is not kept', async () => {
  const [row] = (await gateway.get('/headrace/requests?outcome=answered', managed)).json['data'] as Json[]
  const id = String(row?.['generation_id'])
  const told = await gateway.post(
    '/generation/feedback',
    { generation_id: id, category: 'latency', comment: 'slow' },
    managed,
  )
  expect([told.status, told.json]).toEqual([200, { data: { success: true } }])
  const unknown = await gateway.post(
    '/generation/feedback',
    { generation_id: 'gen-1-x', category: 'other' },
    managed,
  )
  expect(unknown.status).toBe(404)
  const wrong = await gateway.post('/generation/feedback', { generation_id: id, category: 'bad' }, managed)
  expect([wrong.status, at(wrong.json, 'error.message')]).toEqual([
    400,
    expect.stringContaining('"category"'),
  ])
  const content = await gateway.get(`/generation/content?id=${id}`)
  expect([content.status, at(content.json, 'error.message')]).toEqual([
    404,
    expect.stringContaining('not kept'),
  ])
})
