import { afterAll, expect, test } from 'bun:test'
import { at, sandboxProvider, startTestGateway } from '../support/gateway.ts'

// Section 4.1: creating a batch, field by field and refusal by refusal.

const gateway = await startTestGateway({ role: 'api' })
// A second gateway for refusals that need an organization with its own balance or limit.
const prepaid = await startTestGateway({ credits: '5', role: 'api' })
afterAll(async () => {
  await gateway.stop()
  await prepaid.stop()
})

const item = (customId: unknown = 'a', body: unknown = { messages: [{ role: 'user', content: 'hi' }] }) => ({
  custom_id: customId,
  body,
})
const batch = (changes: Record<string, unknown> = {}) => ({
  endpoint: '/v1/chat/completions',
  model: 'openai/gpt-4o-mini',
  requests: [item()],
  ...changes,
})
const without = (name: string) =>
  Object.fromEntries(Object.entries(batch()).filter(([member]) => member !== name))
const create = (body: unknown) => gateway.post('/batches', body, { key: roomy.key })
// Only one test is about the rate of creations, so the organization of the others has no rate.
const roomy = await gateway.addOrganization({ batchesPerMinute: null })

async function refusalOf(body: unknown) {
  const { status, json } = await create(body)
  expect(at(json, 'error.code')).toBe(status)
  return { status, message: String(at(json, 'error.message')) }
}

test('4.1.f1 endpoint is required and one of the four values', async () => {
  expect(await refusalOf(without('endpoint'))).toMatchObject({ status: 400 })
  for (const endpoint of ['/v1/completions', '/chat/completions', '', null, 3]) {
    const { status, message } = await refusalOf(batch({ endpoint }))
    expect([status, message.includes('endpoint')]).toEqual([400, true])
  }
  expect((await create(batch())).status).toBe(202)
  const embeddings = batch({
    endpoint: '/v1/embeddings',
    model: 'openai/text-embedding-3-small',
    requests: [item('a', { input: 'x' })],
  })
  expect((await create(embeddings)).status).toBe(202)
})

test('4.1.f1b endpoint /v1/responses and /v1/messages are accepted, each with bodies of its own format', async () => {
  const responses = batch({ endpoint: '/v1/responses', requests: [item('a', { input: 'x' })] })
  expect((await create(responses)).status).toBe(202)
  const body = { max_tokens: 5, messages: [{ role: 'user', content: 'x' }] }
  const messages = batch({ endpoint: '/v1/messages', requests: [item('a', body)] })
  expect((await create(messages)).status).toBe(202)
})

test('4.1.f2 model is required and has at least one character', async () => {
  for (const body of [without('model'), batch({ model: '' }), batch({ model: null }), batch({ model: 4 })]) {
    const { status, message } = await refusalOf(body)
    expect([status, message.includes('model')]).toEqual([400, true])
  }
})

test('4.1.f3 completion_window is optional, and only "24h"', async () => {
  const { status, json } = await create(batch())
  expect([status, json['completion_window']]).toEqual([202, '24h'])
  expect((await create(batch({ completion_window: '24h' }))).status).toBe(202)
  for (const window of ['48h', '1h', '', null, 24]) {
    const { status: refused, message } = await refusalOf(batch({ completion_window: window }))
    expect([refused, message.includes('completion_window')]).toEqual([400, true])
  }
})

test('4.1.f4 provider is optional and may be null', async () => {
  expect((await create(batch({ provider: null }))).status).toBe(202)
  expect((await create(batch({ provider: {} }))).status).toBe(202)
  expect(await refusalOf(batch({ provider: 'openai' }))).toMatchObject({ status: 400 })
})

test('4.1.f5 provider has no members but only', async () => {
  for (const name of ['order', 'ignore', 'zdr', 'max_price']) {
    const { status, message } = await refusalOf(batch({ provider: { [name]: ['sandbox'] } }))
    expect([status, message.includes(`provider.${name}`)]).toEqual([400, true])
  }
})

test('4.1.f6 provider.only is an array of provider slugs, or null', async () => {
  expect((await create(batch({ provider: { only: null } }))).status).toBe(202)
  expect((await create(batch({ provider: { only: ['sandbox'] } }))).status).toBe(202)
  for (const only of ['sandbox', [1], {}]) {
    const { status, message } = await refusalOf(batch({ provider: { only } }))
    expect([status, message.includes('provider.only')]).toEqual([400, true])
  }
})

test('4.1.f7 provider.only is merged with the providers that the account allows', async () => {
  const limited = await gateway.addOrganization({ policy: { allowed_providers: ['sandbox'] } })
  const answer = await gateway.post('/batches', batch({ provider: { only: ['openai'] } }), {
    key: limited.key,
  })
  expect(answer.status).toBe(404)
  const message = String(at(answer.json, 'error.message'))
  expect([message.includes('openai'), message.includes('sandbox')]).toEqual([true, true])
  const allowed = await gateway.post('/batches', batch({ provider: { only: ['sandbox', 'openai'] } }), {
    key: limited.key,
  })
  expect([allowed.status, allowed.json['provider']]).toEqual([202, 'sandbox'])
})

test('4.1.f8 requests is required and an array of at least one item', async () => {
  const bodies = [
    without('requests'),
    batch({ requests: [] }),
    batch({ requests: {} }),
    batch({ requests: null }),
  ]
  for (const body of bodies) {
    const { status, message } = await refusalOf(body)
    expect([status, message.includes('requests')]).toEqual([400, true])
  }
})

test('4.1.f9 custom_id is required, a string of at least one character', async () => {
  const items = [{ body: {} }, item(''), item(null), item(7)]
  for (const [index, wrong] of items.entries()) {
    const { status, message } = await refusalOf(batch({ requests: [item('fine'), wrong] }))
    expect([index, status, message.includes('requests[1].custom_id')]).toEqual([index, 400, true])
  }
})

test('4.1.f10 custom_id is unique within the batch; a second one is 422', async () => {
  const { status, message } = await refusalOf(batch({ requests: [item('a'), item('b'), item('a')] }))
  expect(status).toBe(422)
  expect(message).toContain('requests[2].custom_id')
  expect((await create(batch({ requests: [item('a'), item('A'), item('a ')] }))).status).toBe(202)
})

test('4.1.f11 body is required and an object with any members', async () => {
  for (const wrong of [{ custom_id: 'a' }, item('a', 'text'), item('a', null), item('a', [])]) {
    const { status, message } = await refusalOf(batch({ requests: [wrong] }))
    expect([status, message.includes('requests[0].body')]).toEqual([400, true])
  }
  const anything = item('a', { messages: [{ role: 'user', content: 'x' }], whatever: { is: ['there'] } })
  expect((await create(batch({ requests: [anything] }))).status).toBe(202)
})

test('4.1.f12 an item’s own model must be the batch’s', async () => {
  const of = (model: string) => batch({ requests: [item('a', { model, messages: [] })] })
  expect((await create(of('openai/gpt-4o-mini'))).status).toBe(202)
  const { status, message } = await refusalOf(of('openai/gpt-4o'))
  expect([status, message.includes('requests[0].body.model')]).toEqual([400, true])
})

test('4.1.a1 the answer is 202 with a batch that is validating', async () => {
  const { status, headers, json } = await create(batch())
  expect(status).toBe(202)
  expect(headers.get('content-type')).toContain('application/json')
  expect(json).toMatchObject({ object: 'batch', status: 'validating', results: null })
})

test('4.1.a2 a dry run makes no batch, and an unclear dry_run is refused', async () => {
  const { key } = await gateway.addOrganization()
  const ask = (value: string) => gateway.post(`/batches?dry_run=${value}`, batch(), { key })
  for (const value of ['true', 'True', '1', '']) {
    const { status, json } = await ask(value)
    expect([value, status, json['object']]).toEqual([value, 200, 'batch.estimate'])
  }
  for (const value of ['maybe', 'no', '2']) {
    const { status, json } = await ask(value)
    expect([value, status, at(json, 'error.param')]).toEqual([value, 400, 'dry_run'])
  }
  expect(at((await gateway.get('/batches', { key })).json, 'data')).toEqual([])
  for (const value of ['false', 'False', '0']) expect((await ask(value)).status).toBe(202)
})

test('4.1.a4 the estimate is the same for every name of the model, even after answers were seen', async () => {
  const { key } = await gateway.addOrganization()
  const messages = [{ role: 'user', content: 'hi' }]
  for (let turn = 0; turn < 25; turn += 1)
    await gateway.post('/chat/completions', { model: 'openai/gpt-4o-mini', messages }, { key })
  const estimates = []
  for (const model of ['openai/gpt-4o-mini', 'openai/gpt-4o-mini:batch', 'gpt-4o-mini']) {
    const { json } = await gateway.post('/batches?dry_run=true', batch({ model }), { key })
    estimates.push(json['estimate'])
  }
  expect(new Set(estimates).size).toBe(1)
})

test('4.1.a3 an encoding of the body that is not read is 400 and named', async () => {
  const { status, json } = await gateway.post('/batches', batch(), {
    key: roomy.key,
    headers: { 'content-encoding': 'compress' },
  })
  expect([status, at(json, 'error.param')]).toEqual([400, 'content-encoding'])
})

test('4.1.e400 malformed input and unknown or incompatible models are 400', async () => {
  for (const body of ['{', '[]', '"x"', '', '{"endpoint":']) {
    expect(await refusalOf(body)).toMatchObject({ status: 400 })
  }
  expect(await refusalOf(batch({ model: 'nobody/has-this' }))).toMatchObject({ status: 400 })
  expect(await refusalOf(batch({ model: 'openai/tts-1' }))).toMatchObject({ status: 400 })
  expect(await refusalOf(batch({ requests: [item('a', { stream: true, messages: [] })] }))).toMatchObject({
    status: 400,
  })
})

test('4.1.e401 a missing or invalid key is 401', async () => {
  for (const key of [null, 'nobody-has-this-key-01']) {
    const { status, json } = await gateway.post('/batches', batch(), { key })
    expect([status, at(json, 'error.code')]).toEqual([401, 401])
  }
})

test('4.1.e402 an estimate above the balance is 402, and names both', async () => {
  const poor = await prepaid.addOrganization({ credits: '0.0001' })
  const requests = Array.from({ length: 50 }, (_, index) => item(`${index}`))
  const { status, json } = await prepaid.post('/batches', batch({ requests }), { key: poor.key })
  expect([status, at(json, 'error.code')]).toEqual([402, 402])
  expect(String(at(json, 'error.message'))).toContain('0.0001')
  const credits = await prepaid.get('/credits', { key: poor.key })
  expect(at(credits.json, 'data.total_usage')).toBe(0)
})

test('4.1.e402b the refusal tells credits from a key’s limit', async () => {
  const poor = await prepaid.addOrganization({ credits: '0.0001' })
  const rich = await prepaid.addOrganization({ credits: '10' })
  const limited = await prepaid.addKey({
    organizationId: rich.organizationId,
    limitNanocredits: 100_000n,
  })
  const requests = Array.from({ length: 50 }, (_, index) => item(`${index}`))
  for (const [key, source] of [
    [poor.key, 'openrouter_credits'],
    [limited, 'openrouter_key_limit'],
  ] as const) {
    const { status, json } = await prepaid.post('/batches', batch({ requests }), { key })
    expect([status, at(json, 'error.metadata.limit_source')]).toEqual([402, source])
  }
})

test('4.1.e403 an endpoint that policy blocks is 403', async () => {
  const blocked = await gateway.addOrganization({ policy: { ignored_providers: ['sandbox'] } })
  const { status, json } = await gateway.post('/batches', batch(), { key: blocked.key })
  expect([status, at(json, 'error.code')]).toEqual([403, 403])
})

test('4.1.e404 an id that no batch has is 404, also when another organization has it', async () => {
  const { json } = await create(batch())
  const other = await gateway.addOrganization()
  const id = String(json['id'])
  expect((await gateway.get(`/batches/${id}`, { key: roomy.key })).status).toBe(200)
  for (const [path, key] of [
    [`/batches/${id}`, other.key],
    ['/batches/batch_nobody', gateway.key],
  ] as const) {
    const answer = await gateway.get(path, { key })
    expect([answer.status, at(answer.json, 'error.code')]).toEqual([404, 404])
  }
})

test('4.1.e422 a variant that cannot be batched, and custom ids against the rules, are 422', async () => {
  expect(await refusalOf(batch({ model: 'openai/gpt-4o-mini:online' }))).toMatchObject({ status: 422 })
  expect(await refusalOf(batch({ requests: [item('x'.repeat(65))] }))).toMatchObject({ status: 422 })
  expect(await refusalOf(batch({ requests: [item('a\u0000b')] }))).toMatchObject({ status: 422 })
  expect((await create(batch({ requests: [item('🜁'.repeat(64))] }))).status).toBe(202)
})

test('4.1.e422b an unserved variant of the model is 422, and an unknown model 400', async () => {
  const { status, message } = await refusalOf(batch({ model: 'openai/gpt-4o-mini:free' }))
  expect([status, message.includes(':free')]).toEqual([422, true])
  expect(await refusalOf(batch({ model: 'nobody/has-this:free' }))).toMatchObject({ status: 400 })
})

test('4.1.e429 creations beyond the organization’s rate are 429', async () => {
  const slow = await gateway.addOrganization({ batchesPerMinute: 1 })
  const others = async () => {
    const broken = await gateway.post('/batches', '{"model": "m",\n}', { key: slow.key })
    const incomplete = await gateway.post('/batches', { model: 'm' }, { key: slow.key })
    const dry = await gateway.post('/batches?dry_run=true', batch(), { key: slow.key })
    return [broken.status, incomplete.status, dry.status]
  }
  // None of these requests makes a batch, so none of them uses up the rate.
  for (let turn = 0; turn < 2; turn += 1) expect(await others()).toEqual([400, 400, 200])
  const statuses = []
  for (let turn = 0; turn < 3; turn += 1) {
    const { status, headers, json } = await gateway.post('/batches', batch(), { key: slow.key })
    statuses.push(status)
    if (status !== 429) continue
    expect(at(json, 'error.code')).toBe(429)
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
  }
  expect(statuses).toContain(429)
  expect(statuses[0]).toBe(202)
  // A dry run reports the rate too.
  const dry = await gateway.post('/batches?dry_run=true', batch(), { key: slow.key })
  expect([dry.status, at(dry.json, 'error.metadata.limit_source')]).toEqual([429, 'organization_batches'])
  expect(Number(dry.headers.get('retry-after'))).toBeGreaterThan(0)
  expect((await create(batch())).status).toBe(202)
})

test('4.1.e502 a batch service that is shutting down is 502', async () => {
  const leaving = await startTestGateway({ providers: (url) => [sandboxProvider(url)] })
  await leaving.stop()
  const { status, json } = await leaving.post('/batches', batch())
  expect([status, at(json, 'error.code')]).toEqual([502, 502])
})

test('5.5 creation is 403 when policy blocks the endpoint, the provider or the model', async () => {
  const policies = [
    { ignored_providers: ['sandbox'] },
    { ignored_models: ['openai/gpt-4o-mini'] },
    { allowed_models: ['openai/gpt-4o'] },
    { allowed_providers: ['groq'] },
  ]
  for (const policy of policies) {
    const { key } = await gateway.addOrganization({ policy })
    const { status } = await gateway.post('/batches', batch(), { key })
    expect([JSON.stringify(policy), status]).toEqual([JSON.stringify(policy), 403])
  }
})

test('8.l2 a batch has at least one request', async () => {
  expect(await refusalOf(batch({ requests: [] }))).toMatchObject({ status: 400 })
})

test('8.l3 the completion window is 24h only', async () => {
  expect(await refusalOf(batch({ completion_window: '24H' }))).toMatchObject({ status: 400 })
})

test('8.n1 the rate of creations belongs to the billable entity, whichever of its keys is used', async () => {
  const another = await startTestGateway({ role: 'api' })
  try {
    const organization = await another.addOrganization({ batchesPerMinute: 1 })
    const second = await another.addKey({ organizationId: organization.organizationId })
    const statuses = []
    for (const key of [organization.key, second, organization.key, second]) {
      statuses.push((await another.post('/batches', batch(), { key })).status)
    }
    expect(statuses[0]).toBe(202)
    expect(statuses.at(-1)).toBe(429)
  } finally {
    await another.stop()
  }
})
