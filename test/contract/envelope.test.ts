import { afterAll, expect, test } from 'bun:test'
import {
  type Answer,
  at,
  readAnswer,
  sandboxProvider,
  startTestGateway,
  toneWav,
  until,
} from '../support/gateway.ts'

// Sections 1, 2.6, 5, 7 and 9: the rules that all operations have in common.

const gateway = await startTestGateway()
afterAll(() => gateway.stop())

const chat = { model: 'openai/gpt-4o-mini', messages: [{ role: 'user', content: 'hi' }] }
const speech = { model: 'openai/tts-1', input: 'hello', voice: 'alloy' }
const transcription = {
  model: 'openai/whisper-1',
  input_audio: { data: Buffer.from(toneWav(1)).toString('base64'), format: 'wav' },
}
const batch = {
  endpoint: '/v1/chat/completions',
  model: 'openai/gpt-4o-mini',
  requests: [{ custom_id: 'a', body: { messages: chat.messages } }],
}
const settings = { is_filtered_model_catalog_enabled: false }
const operations = [
  { method: 'POST', path: '/batches', body: batch, status: 202 },
  { method: 'PATCH', path: '/organization/settings', body: settings, status: 200 },
  { method: 'POST', path: '/audio/transcriptions', body: transcription, status: 200 },
  { method: 'POST', path: '/audio/speech', body: speech, status: 200 },
] as const

const keyOf = (path: string) => (path.startsWith('/organization') ? gateway.managementKey : gateway.key)

/** The status, with the body read to its end, because an unread body keeps a gateway from stopping. */
async function statusOf(response: Response): Promise<number> {
  await response.bytes()
  return response.status
}

async function isEnvelope(response: Response, status: number): Promise<void> {
  const { json, headers } = await readAnswer(response)
  expect(response.status).toBe(status)
  expect(headers.get('content-type')).toContain('application/json')
  expect(at(json, 'error.code')).toBe(status)
  expect(typeof at(json, 'error.message')).toBe('string')
  expect(String(at(json, 'error.message')).length).toBeGreaterThan(5)
}

test('0.1 paths are relative to a base address that ends in /v1', async () => {
  for (const { method, path, body, status } of operations) {
    const response = await gateway.request(`//v1${path}`, { method, body, key: keyOf(path) })
    expect([path, await statusOf(response)]).toEqual([path, status])
    await isEnvelope(await gateway.request(`/${path}`, { method, body, key: keyOf(path) }), 404)
  }
})

test('0.2 JSON bodies say so; another content type is 400', async () => {
  for (const { method, path } of operations) {
    const headers = { 'content-type': 'text/plain' }
    await isEnvelope(await gateway.request(path, { method, body: '{}', headers, key: keyOf(path) }), 400)
  }
})

test('0.2b a compressed body that is not read is refused as such, and not as bad JSON', async () => {
  for (const { method, path } of operations.filter((operation) => operation.path !== '/batches')) {
    const headers = { 'content-type': 'application/json', 'content-encoding': 'gzip' }
    const body = Bun.gzipSync('{}')
    const { status, json } = await readAnswer(
      await gateway.request(path, { method, body, headers, key: keyOf(path) }),
    )
    expect([path, status, at(json, 'error.param')]).toEqual([path, 400, 'content-encoding'])
  }
})

test('0.2c the refusal of a content type names every one that the operation takes', async () => {
  for (const { method, path } of operations) {
    const headers = { 'content-type': 'text/plain' }
    const response = await gateway.request(path, { method, body: '{}', headers, key: keyOf(path) })
    const message = String(at((await readAnswer(response)).json, 'error.message'))
    expect(message).toContain('application/json')
    expect(message.includes('multipart/form-data')).toBe(path === '/audio/transcriptions')
  }
})

test('1.1 the operations of the specification exist', async () => {
  for (const { method, path, body, status } of operations) {
    const response = await gateway.request(path, { method, body, key: keyOf(path) })
    expect([path, await statusOf(response)]).toEqual([path, status])
  }
})

test('1.2 a request goes to a provider chosen by its model and its preferences', async () => {
  const two = await startTestGateway({
    providers: (url) => [
      sandboxProvider(url, { id: 'first', name: 'First', discover: false }),
      sandboxProvider(`${url}/p/other`, {
        preset: 'custom',
        id: 'other',
        name: 'Other',
        discover: false,
        models: [{ id: 'openai/gpt-4o-mini', upstream: 'gpt-4o-mini', modality: 'language' }],
      }),
    ],
  })
  try {
    for (const [slug, name] of [
      ['sandbox', 'First'],
      ['custom', 'Other'],
    ] as const) {
      const answer = await two.post('/chat/completions', { ...chat, provider: { only: [slug] } })
      expect([answer.status, answer.json['provider']]).toEqual([200, name])
    }
  } finally {
    await two.stop()
  }
})

test('1.3 usage is billed against the account’s credits', async () => {
  const prepaid = await startTestGateway({ credits: '2' })
  try {
    const answer = await prepaid.post('/chat/completions', chat)
    const cost = Number(at(answer.json, 'usage.cost'))
    expect(cost).toBeGreaterThan(0)
    const credits = await prepaid.get('/credits')
    expect(at(credits.json, 'data.total_credits')).toBe(2)
    expect(Number(at(credits.json, 'data.total_usage'))).toBeCloseTo(cost, 9)
  } finally {
    await prepaid.stop()
  }
})

test('1.4 the operations that the specification refers to exist too', async () => {
  const { json } = await gateway.post('/batches', batch)
  for (const path of [`/batches/${String(json['id'])}`, '/batches', '/models', '/models/user']) {
    expect([path, (await gateway.get(path)).status]).toEqual([path, 200])
  }
  const removed = await gateway.request(`/batches/${String(json['id'])}`, { method: 'DELETE' })
  expect([200, 409]).toContain(removed.status)
})

test('1.4b an unknown path is refused, and the message says where the paths are listed', async () => {
  for (const path of ['/edits']) {
    const { status, json } = await gateway.post(path, chat)
    expect([path, status, at(json, 'error.code')]).toEqual([path, 404, 404])
    expect(String(at(json, 'error.message'))).toContain('/openapi.json')
  }
})

test('1.4c a list of batches bounds their time by the seconds they show, and leaves the bounds out', async () => {
  const { key } = await gateway.addOrganization()
  const { json } = await gateway.post('/batches', batch, { key })
  const second = Number(json['created_at'])
  const found = async (query: string) => {
    const answer = await gateway.get(`/batches?${query}`, { key })
    return (answer.json['data'] as unknown[]).length
  }
  const iso = (seconds: number) => new Date(seconds * 1000).toISOString()
  expect([await found(`created_after=${second - 1}`), await found(`created_after=${second}`)]).toEqual([1, 0])
  expect([await found(`created_before=${second + 1}`), await found(`created_before=${second}`)]).toEqual([
    1, 0,
  ])
  expect([
    await found(`created_after=${iso(second - 0.5)}`),
    await found(`created_after=${iso(second)}`),
  ]).toEqual([1, 0])
  expect([
    await found(`created_before=${iso(second + 0.5)}`),
    await found(`created_before=${iso(second)}`),
  ]).toEqual([1, 0])
})

test('1.4d a list of batches names the member of its query that is wrong', async () => {
  for (const [query, param] of [
    ['limit=0', 'limit'],
    ['after=batch_nobody', 'after'],
    ['status=cancelling', 'status'],
    ['created_after=soon', 'created_after'],
    ['created_before=1.5', 'created_before'],
  ] as const) {
    const { status, json } = await gateway.get(`/batches?${query}`)
    expect([query, status, at(json, 'error.param')]).toEqual([query, 400, param])
    expect(at(json, 'error.message')).toBe('Invalid batch list query.')
  }
})

test('1.4e every model of the list can be read by the id it has there', async () => {
  const { json } = await gateway.get('/models?output_modalities=all')
  const listed = json['data'] as Record<string, unknown>[]
  expect(listed.map(({ id }) => String(id)).some((id) => id.endsWith(':batch'))).toBe(true)
  for (const model of listed) {
    const one = await gateway.get(`/model/${String(model['id'])}`)
    expect([one.status, one.json['data']]).toEqual([200, model])
    for (const path of [String(model['id']), encodeURIComponent(String(model['id']))]) {
      const object = await gateway.get(`/models/${path}`)
      expect([object.status, object.json]).toEqual([200, model])
    }
    const owner = String(model['id']).split('/')[0]
    expect(model).toMatchObject({ object: 'model', owned_by: owner })
  }
  expect((await gateway.get('/models/openai/none-such')).status).toBe(404)
  // A call for such a model and a read of its entry get the same refusal.
  for (const variant of ['thinking', 'extended', 'online', 'turbo', 'free']) {
    const id = `openai/gpt-4o-mini:${variant}`
    expect([id, (await gateway.get(`/models/${id}`)).status]).toEqual([id, 404])
    expect([id, (await gateway.get(`/model/${id}`)).status]).toEqual([id, 404])
    const call = { model: id, messages: [{ role: 'user', content: 'hi' }] }
    expect([id, (await gateway.post('/chat/completions', call)).status >= 400]).toEqual([id, true])
  }
  for (const variant of ['nitro', 'floor'])
    expect(at((await gateway.get(`/models/openai/gpt-4o-mini:${variant}`)).json, 'id')).toBe(
      'openai/gpt-4o-mini',
    )
  expect(at((await gateway.get('/models/count')).json, 'data.count')).toBeNumber()
  expect((await gateway.get('/model/openai/tts-1:batch')).status).toBe(404)
  expect(at((await gateway.get('/model/openai/gpt-4o:nitro')).json, 'data.id')).toBe('openai/gpt-4o')
})

test('1.4f a filter by parameters leaves only models that are shown with all of them', async () => {
  const { json } = await gateway.get('/models?supported_parameters=tools,seed')
  const listed = json['data'] as Record<string, unknown>[]
  expect(listed.length).toBeGreaterThan(0)
  for (const model of listed)
    expect(model['supported_parameters']).toEqual(expect.arrayContaining(['tools', 'seed']))
  const none = await gateway.get('/models?supported_parameters=tools,nobody_has_this')
  expect([none.json['data'], none.json['total_count']]).toEqual([[], 0])
})

test('2.6.r1 every error is {error: {code, message}}, a whole number and a text', async () => {
  for (const { method, path } of operations) {
    await isEnvelope(await gateway.request(path, { method, body: '{', key: keyOf(path) }), 400)
  }
})

test('5.1 every operation takes an API key as a bearer token', async () => {
  for (const { method, path, body, status } of operations) {
    const headers = { authorization: `bearer ${keyOf(path)}` }
    const response = await gateway.request(path, { method, body, headers, key: null })
    expect([path, await statusOf(response)]).toEqual([path, status])
  }
})

test('5.3 a missing or invalid credential is 401', async () => {
  for (const { method, path, body } of operations) {
    for (const value of ['Bearer nobody-has-this-key-01', 'Bearer ', 'Bearer', 'Basic dTpw', gateway.key]) {
      const response = await gateway.request(path, {
        method,
        body,
        headers: { authorization: value },
        key: null,
      })
      await isEnvelope(response, 401)
    }
  }
})

test('5.3b a missing Authorization header is reported as missing authentication', async () => {
  for (const { method, path, body } of operations) {
    const { json } = await readAnswer(await gateway.request(path, { method, body, key: null }))
    expect(String(at(json, 'error.message'))).toMatch(/missing auth/i)
    const wrong = await readAnswer(
      await gateway.request(path, { method, body, key: 'nobody-has-this-key-01' }),
    )
    expect(String(at(wrong.json, 'error.message'))).not.toMatch(/missing auth/i)
  }
})

test('5.4 a credential of the wrong kind is 403', async () => {
  for (const { method, path, body } of operations) {
    const key = path.startsWith('/organization') ? gateway.key : gateway.managementKey
    await isEnvelope(await gateway.request(path, { method, body, key }), 403)
  }
})

test('5.6 authentication comes before validation', async () => {
  for (const { method, path } of operations) {
    await isEnvelope(await gateway.request(path, { method, body: '{', key: null }), 401)
  }
})

test('7.r1 code equals the HTTP status, whatever the status', async () => {
  const seen = new Set<number>()
  const faults: readonly [string, number][] = [
    ['status=400', 400],
    ['status=429', 429],
    ['status=500', 502],
    ['status=529', 529],
    ['status=408', 524],
  ]
  for (const [fault, status] of faults) {
    await gateway.admin('faults', [{ match: { path: '/chat/completions' }, fault }])
    await isEnvelope(await gateway.request('/chat/completions', { method: 'POST', body: chat }), status)
    seen.add(status)
  }
  await gateway.admin('faults', [])
  expect(seen.size).toBe(5)
})

// Each status of section 7 by the shortest way to it, with the one error_type that clients may rely on.
const statuses: readonly [name: string, status: number, errorType: string, ask: () => Promise<Answer>][] = [
  [
    '7.e400 invalid parameters are 400',
    400,
    'invalid_request',
    () => gateway.post('/audio/speech', { ...speech, voice: 1 }),
  ],
  [
    '7.e401 missing or invalid authentication is 401',
    401,
    'authentication',
    () => gateway.post('/audio/speech', speech, { key: 'nobody-has-this-key-01' }),
  ],
  [
    '7.e402 insufficient credits are 402',
    402,
    'payment_required',
    async () => {
      const { key } = await gateway.addOrganization({ credits: '0.000001' })
      return gateway.post('/chat/completions', chat, { key })
    },
  ],
  [
    '7.e403 what policy forbids is 403',
    403,
    'permission_denied',
    async () => {
      const { key } = await gateway.addOrganization({ policy: { allowed_models: ['openai/gpt-4o'] } })
      return gateway.post('/chat/completions', chat, { key })
    },
  ],
  [
    '7.e404b a resource that does not exist is 404',
    404,
    'not_found',
    () => gateway.get('/batches/batch_nobody'),
  ],
  [
    '7.e413 a payload that is too large is 413',
    413,
    'payload_too_large',
    () => gateway.post('/batches', '{}', { headers: { 'content-length': '200000001' } }),
  ],
  [
    '7.e422 violated batch constraints are 422',
    422,
    'unprocessable',
    () => gateway.post('/batches', { ...batch, requests: [...batch.requests, ...batch.requests] }),
  ],
  [
    '7.e429 a rate limit is 429',
    429,
    'rate_limit_exceeded',
    async () => {
      const { key } = await gateway.addOrganization({ requestsPerMinute: 1 })
      for (let turn = 0; turn < 2; turn += 1) await gateway.post('/chat/completions', chat, { key })
      return gateway.post('/chat/completions', chat, { key })
    },
  ],
  [
    '7.e502 a provider that returned an error is 502',
    502,
    'provider_unavailable',
    () => failing('/audio/speech', speech, 'status=500'),
  ],
  [
    '7.e524 a provider that did not answer in time is 524',
    524,
    'timeout',
    () => failing('/audio/speech', speech, 'status=524'),
  ],
  [
    '7.e529 a provider that is overloaded is 529',
    529,
    'provider_overloaded',
    () => failing('/audio/speech', speech, 'status=529'),
  ],
]

async function failing(path: string, body: unknown, fault: string): Promise<Answer> {
  await gateway.admin('faults', [{ match: { path }, fault }])
  const answer = await gateway.post(path, body)
  await gateway.admin('faults', [])
  return answer
}

for (const [name, status, errorType, ask] of statuses) {
  test(name, async () => {
    const { json, status: got } = await ask()
    expect([got, at(json, 'error.code'), at(json, 'error.error_type')]).toEqual([status, status, errorType])
  })
}

test('7.e503 a service that is stopping is 503 on audio operations', async () => {
  const leaving = await startTestGateway()
  await leaving.stop()
  for (const path of ['/audio/speech', '/audio/transcriptions'])
    expect((await leaving.post(path, speech)).status).toBe(503)
})

test('7.e404 a path that does not exist, and a wrong method, are 404 with the envelope', async () => {
  await isEnvelope(await gateway.request('/nothing/here'), 404)
  await isEnvelope(await gateway.request('/audio/speech'), 404)
  await isEnvelope(await gateway.request('/organization/settings', { method: 'DELETE' }), 404)
  await isEnvelope(await gateway.request('//elsewhere'), 404)
})

test('7.e404c a wrong method is told the right ones', async () => {
  for (const [method, path, allowed] of [
    ['GET', '/chat/completions', 'POST'],
    ['PUT', '/organization/settings', 'GET, PATCH'],
    ['POST', '/batches/batch_nobody', 'GET, DELETE'],
    ['HEAD', '/audio/speech', 'POST'],
  ] as const) {
    const response = await gateway.request(path, { method })
    const { json } = await readAnswer(response)
    expect([path, response.status, response.headers.get('allow')]).toEqual([path, 404, allowed])
    for (const one of allowed.split(', ')) expect(String(at(json, 'error.message'))).toContain(one)
  }
  const nowhere = await gateway.request('/nothing/here')
  await nowhere.text()
  expect(nowhere.headers.get('allow')).toBeNull()
})

test('7.e500 an unexpected failure is 500 on every operation, with the envelope and without its cause', async () => {
  let isBroken = false
  const clock = {
    nowMs: () => {
      if (isBroken) throw new Error('secret detail')
      return Date.now()
    },
    monotonicMs: () => performance.now(),
  }
  const broken = await startTestGateway({ hooks: { clock, writeLog: () => undefined } })
  try {
    for (const { method, path, body } of operations) {
      isBroken = true
      const key = path.startsWith('/organization') ? broken.managementKey : broken.key
      const response = await broken.request(path, { method, body, key })
      isBroken = false
      expect(response.headers.get('x-request-id')).toStartWith('req_')
      expect(await response.clone().text()).not.toContain('secret')
      await isEnvelope(response, 500)
    }
  } finally {
    isBroken = false
    await broken.stop()
  }
})

test('7.m1 a failure of a provider names the provider, and every try with the error that it would give by itself', async () => {
  await gateway.admin('faults', [{ match: { path: '/chat/completions' }, fault: 'status=500' }])
  const { status, json } = await gateway.post('/chat/completions', chat)
  await gateway.admin('faults', [{ match: { path: '/chat/completions' }, fault: 'status=400' }])
  const once = await gateway.post('/chat/completions', chat)
  await gateway.admin('faults', [])
  const tried = { provider: 'Sandbox', status: 500, code: 502, error_type: 'provider_unavailable' }
  expect([status, at(json, 'error.metadata')]).toEqual([
    502,
    {
      error_type: 'provider_unavailable',
      provider_name: 'Sandbox',
      is_byok: false,
      previous_errors: [tried, tried],
    },
  ])
  expect([once.status, at(once.json, 'error.metadata')]).toEqual([
    400,
    { error_type: 'invalid_request', provider_name: 'Sandbox', is_byok: false },
  ])
  expect(at((await gateway.post('/chat/completions', {})).json, 'error.metadata')).toEqual({
    error_type: 'invalid_request',
  })
})

test('7.n1 a failure of one request of a batch is in its result, not in a status', async () => {
  const created = await gateway.post('/batches', {
    ...batch,
    requests: [{ custom_id: 'bad', body: { messages: 1 } }],
  })
  expect(created.status).toBe(202)
  const ended = await until(
    () => gateway.get(`/batches/${String(created.json['id'])}`),
    ({ json }) => json['status'] === 'completed',
  )
  expect([ended.status, at(ended.json, 'results.0.response')]).toEqual([200, null])
  expect(typeof at(ended.json, 'results.0.error.message')).toBe('string')
})

test('9.1 the version segment is /v1, and the description of the interface carries version 1.0.0', async () => {
  const description = await gateway.get('//openapi.json', { key: null })
  expect(at(description.json, 'info.version')).toBe('1.0.0')
  expect(String(at(description.json, 'servers.0.url'))).toEndWith('/v1')
})

test('9.2 the endpoint values of a batch carry their own /v1', async () => {
  const { status } = await gateway.post('/batches', { ...batch, endpoint: '/chat/completions' })
  expect(status).toBe(400)
  expect((await gateway.post('/batches', batch)).status).toBe(202)
})

test('a browser may read the request id of every refusal, also where there is no such path', async () => {
  for (const path of ['/nothing/here', '/batches/batch_nobody', '//elsewhere']) {
    const refused = await gateway.request(path)
    await refused.text()
    expect([path, refused.status]).toEqual([path, 404])
    expect(refused.headers.get('x-request-id')).toStartWith('req_')
    expect(refused.headers.get('access-control-expose-headers')).toContain('X-Request-Id')
  }
})

test('HEAD has the headers of GET, the length included, without the body', async () => {
  const base = gateway.listen()
  for (const path of ['/models/count', '/nothing/here', '/key']) {
    const [get, head] = await Promise.all([
      fetch(`${base}${path}`),
      fetch(`${base}${path}`, { method: 'HEAD' }),
    ])
    const length = (await get.bytes()).length
    expect([path, head.status, await head.text()]).toEqual([path, get.status, ''])
    expect(head.headers.get('content-type')).toBe('application/json')
    if (path === '/models/count') expect(head.headers.get('content-length')).toBe(String(length))
    expect(Number(head.headers.get('content-length') ?? length)).toBeGreaterThan(0)
  }
})

test('a path is the same with a slash at its end and with escapes in a parameter', async () => {
  const [plain, slash] = await Promise.all([gateway.request('/models'), gateway.request('/models/')])
  expect([plain.status, slash.status]).toEqual([200, 200])
  expect(await slash.text()).toBe(await plain.text())
  const id = String((await gateway.post('/batches', batch)).json['id'])
  const escaped = await gateway.get(`/batches/${id.replace('_', '%5F')}`)
  expect([escaped.status, escaped.json['id']]).toEqual([200, id])
})

test('a browser’s preflight request is answered, and a browser may read the same headers as other callers', async () => {
  const asked = await gateway.request('/batches', { method: 'OPTIONS' })
  expect(asked.status).toBe(204)
  expect(asked.headers.get('access-control-allow-headers')).toContain('Idempotency-Key')
  const refused = await gateway.request('/batches', { key: null })
  await refused.text()
  expect(refused.status).toBe(401)
  expect(refused.headers.get('access-control-allow-origin')).toBe('*')
  expect(refused.headers.get('access-control-expose-headers')).toContain('X-Request-Id')
})
