import { afterAll, expect, test } from 'bun:test'
import { at, sandboxProvider, startTestGateway, until } from '../support/gateway.ts'

// The log of calls: every outcome is in it, and one call's life can be read. Expectations are written by hand.

const gateway = await startTestGateway({
  credits: '5',
  providers: (url) => [
    sandboxProvider(url, { id: 'one', base_url: `${url}/p/one/v1` }),
    sandboxProvider(url, { id: 'two', base_url: `${url}/p/two/v1` }),
  ],
})
afterAll(() => gateway.stop())

type Json = Record<string, unknown>
const model = 'openai/gpt-4o-mini'
const chat = (more: Json = {}) => ({
  model,
  messages: [{ role: 'user', content: 'Hello.' }],
  max_tokens: 20,
  ...more,
})
async function faulty(faults: readonly Json[]): Promise<void> {
  for (const mount of ['one', 'two']) await gateway.admin(`faults?mount=${mount}`, faults)
}
const managed = { key: gateway.managementKey }

async function list(query: string): Promise<Json[]> {
  const answer = await gateway.get(`/headrace/requests?${query}`, managed)
  expect([answer.status, answer.json['error']]).toEqual([200, undefined])
  return answer.json['data'] as Json[]
}
const logged = (query: string, count: number) =>
  until(
    () => list(query),
    (rows) => rows.length >= count,
  )
const story = async (id: string) =>
  (await gateway.get(`/headrace/requests/${id}`, managed)).json['data'] as Json

test('an answered call is in the log with who, what, when and what it cost', async () => {
  const answer = await gateway.post('/chat/completions', chat({ user: 'ada', session_id: 'talk-1' }))
  expect(answer.status).toBe(200)
  const [row, ...others] = await logged('session=talk-1', 1)
  expect(others).toEqual([])
  const usage = answer.json['usage'] as Json
  expect(row).toMatchObject({
    id: answer.headers.get('x-request-id'),
    generation_id: answer.headers.get('x-generation-id'),
    created_at: expect.stringMatching(/^20\d\d-\d\d-\d\dT.*Z$/),
    outcome: 'answered',
    status: 200,
    error_type: null,
    operation: 'chat_completions',
    model,
    key_id: expect.stringMatching(/^key_/),
    key_name: expect.any(String),
    user: 'ada',
    session_id: 'talk-1',
    batch_id: null,
    streamed: false,
    attempts: 1,
    prompt_tokens: usage['prompt_tokens'],
    completion_tokens: usage['completion_tokens'],
    cost_nanocredits: String(Math.round(Number(usage['cost']) * 1e9)),
    is_estimated: false,
  })
  expect(Number(row?.['total_ms'])).toBeGreaterThanOrEqual(Number(row?.['first_byte_ms']))
})

test('a call that failed over shows both attempts, why, its marks in order, and postings that sum to zero', async () => {
  await gateway.admin('faults?mount=one', [{ fault: 'status=503', times: 1 }])
  const asked = chat({ provider: { order: ['one', 'two'] }, session_id: 'failed-over' })
  const answer = await gateway.post('/chat/completions', asked)
  expect(answer.status).toBe(200)
  await logged('session=failed-over', 1)
  const told = await story(answer.headers.get('x-generation-id') ?? '')
  expect(told['outcome']).toBe('answered')
  const attempts = told['attempts'] as Json[]
  expect(attempts).toMatchObject([
    { number: 1, deployment: 'one', outcome: 'failed', status: 503, error_type: 'provider_overloaded' },
    { number: 2, deployment: 'two', outcome: 'answered', status: 200, error_type: null },
  ])
  expect(attempts[0]?.['message']).toEqual(expect.stringMatching(/\w/))
  const marks = (told['marks'] as { event: string; ms: number }[]).map(({ ms }) => ms)
  expect(marks).toEqual(marks.toSorted((left, right) => left - right))
  expect((told['marks'] as Json[]).map(({ event }) => event)).toEqual(
    expect.arrayContaining(['received', 'adapter_request', 'upstream_headers_received', 'ended']),
  )
  const postings = told['postings'] as { amount_nanocredits: string }[]
  expect(postings).toHaveLength(2)
  expect(postings.reduce((sum, { amount_nanocredits }) => sum + BigInt(amount_nanocredits), 0n)).toBe(0n)
  expect(BigInt(String(at(told, 'hold.amount_nanocredits')))).toBeGreaterThanOrEqual(
    BigInt(String(told['cost_nanocredits'])),
  )
})

test('an endpoint that was left out is told with its reason', async () => {
  const answer = await gateway.post(
    '/chat/completions',
    chat({ provider: { ignore: ['one'] }, session_id: 'left-out' }),
  )
  await logged('session=left-out', 1)
  const told = await story(answer.headers.get('x-request-id') ?? '')
  expect(told['excluded']).toEqual([
    expect.objectContaining({ model, step: 'provider.ignore', reason: 'provider.ignore' }),
  ])
})

test('a failure of every provider is in the log, and its generation answers', async () => {
  await faulty([{ fault: 'status=500' }])
  const answer = await gateway.post('/chat/completions', chat({ session_id: 'failed' }))
  await faulty([])
  expect(answer.status).toBe(502)
  const [row] = await logged('session=failed', 1)
  expect(row).toMatchObject({
    outcome: 'failed',
    status: 502,
    error_type: 'provider_failed',
    cost_nanocredits: null,
  })
  const generation = await gateway.get(`/generation?id=${String(row?.['generation_id'])}`)
  // Both are described alike.
  const answered = await gateway.post('/chat/completions', chat())
  const other = await until(
    () => gateway.get(`/generation?id=${answered.headers.get('x-generation-id')}`),
    ({ status }) => status === 200,
  )
  const endpointId = at(other.json, 'data.provider_responses.0.endpoint_id')
  expect(endpointId).toBeString()
  expect([generation.status, generation.json['data']]).toEqual([
    200,
    expect.objectContaining({
      id: row?.['generation_id'],
      model,
      total_cost: 0,
      cancelled: false,
      workspace_id: at(other.json, 'data.workspace_id'),
      provider_responses: expect.arrayContaining([
        expect.objectContaining({ status: 500, endpoint_id: endpointId }),
      ]),
      headrace: expect.objectContaining({ error_type: 'provider_failed' }),
    }),
  ])
})

test('refusals are in the log: no credits, a bad body, a wrong model, a disabled key; a key that nobody has is counted by address', async () => {
  const limited = await gateway.addKey({ limitNanocredits: 1n })
  expect((await gateway.post('/chat/completions', chat(), { key: limited })).status).toBe(402)
  expect((await gateway.post('/chat/completions', { model, messages: 'no' })).status).toBe(400)
  expect((await gateway.post('/chat/completions', chat({ model: 'no/such' }))).status).toBe(400)
  expect((await gateway.post('/chat/completions', chat(), { key: 'sk-nobody' })).status).toBe(401)
  expect((await gateway.post('/chat/completions', chat(), { key: null })).status).toBe(401)
  const rows = await logged('outcome=refused&status=4xx', 3)
  expect(rows.map(({ status, error_type }) => [status, error_type])).toEqual(
    expect.arrayContaining([
      [402, 'payment_required'],
      [400, 'invalid_request'],
      [400, 'model_not_found'],
    ]),
  )
  expect(await list('status=401')).toEqual([])
  const anonymous = await until(
    async () => (await gateway.get('/headrace/requests/anonymous', managed)).json['data'] as Json[],
    (counts) => counts.length > 0,
  )
  expect(anonymous).toMatchObject([{ client_address: expect.any(String), requests: 2 }])
})

test('a caller who hangs up is in the log as cancelled', async () => {
  await faulty([{ fault: 'latency=2000' }])
  const base = gateway.listen()
  const leaving = new AbortController()
  const calling = fetch(`${base}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
    body: JSON.stringify(chat({ session_id: 'hung-up' })),
    signal: leaving.signal,
  }).catch(() => null)
  await Bun.sleep(200)
  leaving.abort()
  await calling
  const [row] = await logged('session=hung-up', 1)
  await faulty([])
  expect(row).toMatchObject({ outcome: 'cancelled', status: 499, error_type: null })
})

test('pages follow each other without a gap, both ways, and a filter without a match ends', async () => {
  for (let index = 0; index < 5; index++)
    await gateway.post('/chat/completions', chat({ session_id: 'pages', user: `user-${index}` }))
  const all = await logged('session=pages&limit=200', 5)
  const walk = async (order: string) => {
    const users: unknown[] = []
    let cursor: unknown = null
    do {
      const more = cursor === null ? '' : `&cursor=${String(cursor)}`
      const page = await gateway.get(
        `/headrace/requests?session=pages&limit=2&order=${order}${more}`,
        managed,
      )
      users.push(...(page.json['data'] as Json[]).map(({ user }) => user))
      cursor = page.json['next_cursor']
    } while (cursor !== null)
    return users
  }
  const newestFirst = ['user-4', 'user-3', 'user-2', 'user-1', 'user-0']
  expect(all.map(({ user }) => user)).toEqual(newestFirst)
  expect(await walk('desc')).toEqual(newestFirst)
  expect(await walk('asc')).toEqual(newestFirst.toReversed())
  const none = await gateway.get('/headrace/requests?user=nobody', managed)
  expect(none.json).toEqual({ data: [], next_cursor: null, searched_to: null })
})

test('an export has the whole filter, with exact costs, and no cell becomes a formula', async () => {
  await gateway.post('/chat/completions', chat({ session_id: 'export', user: '=cmd()' }))
  await logged('session=export', 1)
  const csv = await gateway.get('/headrace/requests/export?session=export', managed)
  expect(csv.headers.get('content-type')).toBe('text/csv; charset=utf-8')
  const [head = '', line = '', end] = csv.text.split('\r\n')
  expect(head.split(',')).toEqual([...Object.keys((await list('session=export'))[0] ?? {}), 'cost'])
  expect(line).toContain("'=cmd()")
  expect(end).toBe('')
  const ndjson = await gateway.get('/headrace/requests/export?session=export&format=ndjson', managed)
  expect(ndjson.text.trim().split('\n')).toHaveLength(1)
})

test('the log is for management keys of its own organization', async () => {
  expect((await gateway.get('/headrace/requests')).status).toBe(403)
  expect((await gateway.get('/headrace/requests', { key: null })).status).toBe(401)
  const other = await gateway.addOrganization()
  const theirs = await gateway.get('/headrace/requests', { key: other.managementKey })
  expect(theirs.json['data']).toEqual([])
  await gateway.post('/chat/completions', chat({ session_id: 'own' }))
  const [row] = await logged('session=own', 1)
  const stolen = await gateway.get(`/headrace/requests/${String(row?.['id'])}`, { key: other.managementKey })
  expect(stolen.status).toBe(404)
})

test('a wrong filter names its field', async () => {
  const problem = async (query: string) => {
    const answer = await gateway.get(`/headrace/requests?${query}`, managed)
    return [answer.status, at(answer.json, 'error.message')]
  }
  expect(await problem('limit=0')).toEqual([400, expect.stringContaining('"limit"')])
  expect(await problem('status=ten')).toEqual([400, expect.stringContaining('"status"')])
  expect(await problem('outcome=good')).toEqual([400, expect.stringContaining('"outcome"')])
  expect(await problem('from=yesterday')).toEqual([400, expect.stringContaining('"from"')])
  expect(await problem('cursor=1')).toEqual([400, expect.stringContaining('"cursor"')])
})

test('an item of a batch that the gateway refused is in the log as refused, beside the one that was answered', async () => {
  const messages = [{ role: 'user', content: 'Hello.' }]
  const created = await gateway.post('/batches', {
    endpoint: '/v1/chat/completions',
    model,
    requests: [
      { custom_id: 'fine', body: { messages, max_tokens: 20 } },
      { custom_id: 'wrong', body: { messages: 'no' } },
    ],
  })
  expect(created.status).toBe(202)
  const rows = await logged(`batch=${String(created.json['id'])}`, 2)
  const shown = rows.map(({ outcome, status, error_type }) => [String(outcome), status, error_type])
  expect(shown.toSorted(([left], [right]) => (String(left) < String(right) ? -1 : 1))).toEqual([
    ['answered', 200, null],
    ['refused', 400, 'invalid_request'],
  ])
  const batch = await until(
    () => gateway.get(`/batches/${String(created.json['id'])}`),
    (answer) => answer.json['status'] === 'completed',
  )
  const results = at(batch.json, 'results') as Json[]
  const answered = rows.find(({ outcome }) => outcome === 'answered')
  const ids = results
    .map((result) => at(result, 'response.request_id'))
    .filter((id) => typeof id === 'string')
  expect(ids).toEqual([String(answered?.['id'])])
  const byGeneration = await story(String(answered?.['generation_id']))
  expect([byGeneration['id'], byGeneration['batch_id']]).toEqual([answered?.['id'], created.json['id']])
})
