import { OpenRouter } from '@openrouter/sdk'
import { afterAll, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { at, startTestGateway } from '../support/gateway.ts'

// The contract's operations on keys: list, create, read, change, delete; and a rotation, which it does not have.

const gateway = await startTestGateway()
afterAll(() => gateway.stop())

type Json = Record<string, unknown>
const chat = { model: 'openai/gpt-4o-mini', messages: [{ role: 'user', content: 'Hello.' }] }

async function send(
  method: string,
  path: string,
  body?: unknown,
  key: string | null = gateway.managementKey,
) {
  const response = await gateway.request(path, { method, key, ...(body === undefined ? {} : { body }) })
  return { status: response.status, json: (await response.json()) as Json }
}
async function create(body: Json): Promise<{ key: string; data: Json; hash: string }> {
  const { status, json } = await send('POST', '/keys', body)
  expect([status, json['error']]).toEqual([201, undefined])
  const data = json['data'] as Json
  return { key: String(json['key']), data, hash: String(data['hash']) }
}
const listed = async (query = '') => (await send('GET', `/keys${query}`)).json['data'] as Json[]
const statusOfCall = async (key: string) => (await gateway.post('/chat/completions', chat, { key })).status

test('a new key has every member of the contract, its secret is shown once, and it works', async () => {
  const { key, data } = await create({ name: 'ci', limit: 5, limit_reset: 'monthly' })
  expect(data).toEqual({
    hash: createHash('sha256').update(key).digest('hex'),
    name: 'ci',
    label: `${key.slice(0, 12)}...${key.slice(-3)}`,
    disabled: false,
    limit: 5,
    limit_remaining: 5,
    limit_reset: 'monthly',
    include_byok_in_limit: false,
    usage: 0,
    usage_daily: 0,
    usage_weekly: 0,
    usage_monthly: 0,
    byok_usage: 0,
    byok_usage_daily: 0,
    byok_usage_weekly: 0,
    byok_usage_monthly: 0,
    created_at: expect.stringMatching(/^20\d\d-\d\d-\d\dT/),
    updated_at: null,
    expires_at: null,
    creator_user_id: null,
    workspace_id: expect.any(String),
    external_user: null,
    headrace: {
      id: expect.stringMatching(/^key_/),
      kind: 'inference',
      policy: {},
      rates: { requests_per_minute: null, batches_per_minute: null },
    },
  })
  expect(await statusOfCall(key)).toBe(200)
  const read = await send('GET', `/keys/${String(data['hash'])}`)
  expect(read.status).toBe(200)
  expect(JSON.stringify(read.json)).not.toContain(key)
  const spent = at(read.json, 'data.usage') as number
  expect(spent).toBeGreaterThan(0)
  expect(at(read.json, 'data.limit_remaining')).toBeCloseTo(5 - spent, 9)
  const own = await gateway.get('/key', { key })
  for (const name of ['usage', 'usage_monthly', 'limit', 'limit_remaining', 'limit_reset', 'label'])
    expect([name, at(own.json, `data.${name}`)]).toEqual([name, at(read.json, `data.${name}`)])
})

test('only the name is needed, and what a key could not mean is refused by its name', async () => {
  const { data } = await create({ name: ' plain ' })
  expect([data['name'], data['limit'], data['limit_remaining']]).toEqual(['plain', null, null])
  const refused: [Json, string][] = [
    [{}, 'name'],
    [{ name: '' }, 'name'],
    [{ name: '   ' }, 'name'],
    [{ name: 'x'.repeat(256) }, 'name'],
    [{ name: 'x', limit: -1 }, 'limit'],
    [{ name: 'x', limit: '5' }, 'limit'],
    [{ name: 'x', limit: 1e13 }, 'limit'],
    [{ name: 'x', limit: 1, limit_reset: 'yearly' }, 'limit_reset'],
    [{ name: 'x', limit_reset: 'daily' }, 'limit_reset'],
    [{ name: 'x', expires_at: '2020-01-01T00:00:00Z' }, 'expires_at'],
    [{ name: 'x', expires_at: 'tomorrow' }, 'expires_at'],
    [{ name: 'x', include_byok_in_limit: true }, 'include_byok_in_limit'],
    [{ name: 'x', creator_user_id: 'user_1' }, 'creator_user_id'],
    [{ name: 'x', external: { user: 'u' } }, 'external'],
    [{ name: 'x', colour: 'red' }, 'colour'],
    [{ name: 'a\u0000b' }, 'name'],
    [{ name: 'a\ud800' }, 'name'],
    [{ name: 'x', headrace: { kind: 'root' } }, 'headrace.kind'],
    [{ name: 'x', headrace: { policy: { allowed_models: [] } } }, 'headrace.policy.allowed_models'],
    [{ name: 'x', headrace: { rates: { requests_per_minute: 0 } } }, 'headrace.rates.requests_per_minute'],
    [{ name: 'x', limit: 1, headrace: { kind: 'management' } }, 'limit'],
  ]
  const before = await listed('?kind=all&include_disabled=true')
  for (const [body, param] of refused) {
    const { status, json } = await send('POST', '/keys', body)
    expect([body, status, at(json, 'error.message')]).toEqual([body, 400, expect.stringContaining(param)])
  }
  const elsewhere = await send('POST', '/keys', { name: 'x', workspace_id: 'another' })
  expect(elsewhere.status).toBe(404)
  expect(await listed('?kind=all&include_disabled=true')).toEqual(before)
})

test('a limit below the smallest unit of money is a limit of nothing', async () => {
  for (const limit of [1e-320, 1e-30, 1e-11, -0]) {
    const { hash, data } = await create({ name: 'poor', limit })
    expect(data['limit']).toBe(0)
    expect((await send('PATCH', `/keys/${hash}`, { limit })).status).toBe(200)
  }
})

test('a list has the enabled keys that make calls, and the others where the query asks for them', async () => {
  const { hash } = await create({ name: 'off' })
  await create({ name: 'other managers', headrace: { kind: 'management' } })
  expect((await send('PATCH', `/keys/${hash}`, { disabled: true })).status).toBe(200)
  const namesOf = async (query: string) => (await listed(query)).map(({ name }) => name)
  expect(await namesOf('')).not.toContain('off')
  expect(await namesOf('')).not.toContain('other managers')
  expect(await namesOf('?include_disabled=true')).toContain('off')
  expect(await namesOf('?kind=management')).toContain('other managers')
  const all = await namesOf('?kind=all&include_disabled=true')
  expect(await namesOf('?kind=all&include_disabled=true&offset=1&limit=2')).toEqual(all.slice(1, 3))
  expect(await namesOf(`?kind=all&include_disabled=true&offset=${all.length}`)).toEqual([])
  for (const query of [
    '?offset=-1',
    '?offset=1000000000',
    '?offset=10000000000',
    '?offset=x',
    '?limit=0',
    '?limit=101',
    '?kind=root',
    '?include_disabled=1',
  ])
    expect([query, (await send('GET', `/keys${query}`)).status]).toEqual([query, 400])
})

test('a change takes effect, leaves the rest, and removes a reset with its limit', async () => {
  const { key, hash } = await create({ name: 'before', limit: 3, limit_reset: 'daily' })
  const renamed = await send('PATCH', `/keys/${hash}`, { name: 'after' })
  expect(renamed.json['data']).toMatchObject({ name: 'after', limit: 3, limit_reset: 'daily' })
  expect(at(renamed.json, 'data.updated_at')).toBeString()
  const open = await send('PATCH', `/keys/${hash}`, { limit: null })
  expect(open.json['data']).toMatchObject({ limit: null, limit_remaining: null, limit_reset: null })
  const ruled = await send('PATCH', `/keys/${hash}`, {
    headrace: { policy: { allowed_models: ['openai/gpt-4o'] }, rates: { requests_per_minute: 9 } },
  })
  expect(at(ruled.json, 'data.headrace.policy')).toEqual({ allowed_models: ['openai/gpt-4o'] })
  expect(at(ruled.json, 'data.headrace.rates.requests_per_minute')).toBe(9)
  expect(await statusOfCall(key)).toBe(403)
  await send('PATCH', `/keys/${hash}`, { headrace: { policy: {} } })
  expect(await statusOfCall(key)).toBe(200)
  await send('PATCH', `/keys/${hash}`, { disabled: true })
  expect(await statusOfCall(key)).toBe(401)
  await send('PATCH', `/keys/${hash}`, { disabled: false, limit: 0 })
  expect(await statusOfCall(key)).toBe(402)
  for (const body of [{ limit_reset: 'hourly' }, { label: 'x' }, { hash: 'x' }, { name: null }])
    expect([body, (await send('PATCH', `/keys/${hash}`, body)).status]).toEqual([body, 400])
})

test('a deleted key ends, and its usage stays in the books', async () => {
  const { key, hash } = await create({ name: 'short' })
  expect(await statusOfCall(key)).toBe(200)
  const before = await gateway.get('/credits')
  expect(await send('DELETE', `/keys/${hash}`)).toEqual({ status: 200, json: { deleted: true } })
  expect(await statusOfCall(key)).toBe(401)
  expect((await gateway.get('/credits')).json).toEqual(before.json)
  for (const method of ['GET', 'DELETE'])
    expect([method, (await send(method, `/keys/${hash}`)).status]).toEqual([method, 404])
})

test('a rotated key keeps its id and its usage, and both secrets work for the overlap', async () => {
  const { key, hash, data } = await create({ name: 'turning', limit: 5 })
  expect(await statusOfCall(key)).toBe(200)
  const rotated = await send('POST', `/keys/${hash}/rotate`, { overlap_seconds: 600 })
  expect(rotated.status).toBe(200)
  const second = String(rotated.json['key'])
  expect(at(rotated.json, 'data.headrace.id')).toBe(at(data, 'headrace.id'))
  expect(at(rotated.json, 'data.usage')).toBeGreaterThan(0)
  expect([second === key, await statusOfCall(key), await statusOfCall(second)]).toEqual([false, 200, 200])
  expect((await send('GET', `/keys/${hash}`)).status).toBe(404)
  const again = await send('POST', `/keys/${String(at(rotated.json, 'data.hash'))}/rotate`, {
    overlap_seconds: 0,
  })
  const third = String(again.json['key'])
  expect(await Promise.all([key, second, third].map(statusOfCall))).toEqual([401, 401, 200])
  for (const overlap of [-1, 0.5, '1h', 90 * 86_400 + 1]) {
    const { status } = await send('POST', `/keys/${hash}/rotate`, { overlap_seconds: overlap })
    expect([overlap, status]).toEqual([overlap, 400])
  }
})

test('no key of calls manages keys, and no organization reaches the keys of another', async () => {
  const { key, hash } = await create({ name: 'mine' })
  const paths: [string, string, unknown][] = [
    ['GET', '/keys', undefined],
    ['POST', '/keys', { name: 'x' }],
    ['GET', `/keys/${hash}`, undefined],
    ['PATCH', `/keys/${hash}`, { disabled: true }],
    ['DELETE', `/keys/${hash}`, undefined],
    ['POST', `/keys/${hash}/rotate`, {}],
  ]
  const other = await gateway.addOrganization()
  for (const [method, path, body] of paths) {
    expect([method, path, (await send(method, path, body, key)).status]).toEqual([method, path, 403])
    expect([method, path, (await send(method, path, body, null)).status]).toEqual([method, path, 401])
    if (!path.includes(hash)) continue
    expect([method, path, (await send(method, path, body, other.managementKey)).status]).toEqual([
      method,
      path,
      404,
    ])
  }
  const names = (await send('GET', '/keys?kind=all', undefined, other.managementKey)).json['data'] as Json[]
  expect(names.map(({ name }) => name)).not.toContain('mine')
  expect(await statusOfCall(key)).toBe(200)
})

test('a management key neither disables nor deletes itself', async () => {
  const hash = createHash('sha256').update(gateway.managementKey).digest('hex')
  expect((await send('PATCH', `/keys/${hash}`, { disabled: true })).status).toBe(400)
  expect((await send('DELETE', `/keys/${hash}`)).status).toBe(400)
  expect((await send('PATCH', `/keys/${hash}`, { name: 'the first' })).status).toBe(200)
})

test('the official client lists, creates, reads, changes and deletes keys', async () => {
  const client = new OpenRouter({ serverURL: gateway.listen(), apiKey: gateway.managementKey })
  const expiresAt = new Date('2031-01-31T00:00:00Z')
  const made = await client.apiKeys.create({
    requestBody: { name: 'by the client', limit: 2, limitReset: 'weekly', expiresAt },
  })
  expect(await statusOfCall(made.key)).toBe(200)
  expect(made.data.expiresAt).toEqual(expiresAt)
  const { hash } = made.data
  const read = await client.apiKeys.get({ hash })
  expect([read.data.limit, read.data.limitReset, read.data.usage > 0]).toEqual([2, 'weekly', true])
  const changed = await client.apiKeys.update({ hash, requestBody: { name: 'renamed', disabled: true } })
  expect([changed.data.name, changed.data.disabled]).toEqual(['renamed', true])
  const pages = await client.apiKeys.list({ includeDisabled: true })
  expect(pages.data.map((each) => each.hash)).toContain(hash)
  expect(await client.apiKeys.delete({ hash })).toEqual({ deleted: true })
})
