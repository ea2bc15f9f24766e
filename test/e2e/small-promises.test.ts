import { afterAll, expect, test } from 'bun:test'
import { at, customProvider, startTestGateway, until } from '../support/gateway.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'

const gateway = await startTestGateway()
afterAll(() => gateway.stop())

test('what a batch spends is in the metrics like what a live call spends', async () => {
  const body = { messages: [{ role: 'user', content: 'hello' }] }
  await gateway.post('/chat/completions', { ...body, model: 'openai/gpt-4o-mini' })
  const created = await gateway.post('/batches', {
    endpoint: '/v1/chat/completions',
    model: 'openai/gpt-4o-mini',
    requests: ['a', 'b', 'c'].map((id) => ({ custom_id: id, body })),
  })
  await until(
    () => gateway.get(`/batches/${String(created.json['id'])}`),
    (answer) => answer.json['status'] === 'completed',
  )
  const credits = await gateway.get('/credits')
  const text = await (await gateway.request('//metrics')).text()
  expect(text).toMatch(/^headrace_calls_total\{operation="chat_completions",.*\} 4$/m)
  const cost = /^headrace_cost_credits_total\{.*\} (\S+)$/m.exec(text)?.[1]
  const used = (credits.json['data'] as { total_usage: number }).total_usage
  expect(Number(cost)).toBeGreaterThan(0)
  expect(Number(cost)).toBeCloseTo(used, 9)
})

test('the details that a model links to are there', async () => {
  const { json } = await gateway.get('/models')
  const [model] = json['data'] as { id: string; links: { details: string } }[]
  const answer = await (await gateway.request(`/${model?.links.details ?? ''}`)).json()
  expect(answer).toMatchObject({ data: { id: model?.id } })
})

test('a model with slashes in its name, below a base path, links to details that are there', async () => {
  const id = 'hf.co/somebody/A Model#1:Q4'
  const below = await startTestGateway({
    basePath: '/ai',
    providers: () => [customProvider('http://127.0.0.1:9', [{ id, modality: 'language' }])],
  })
  try {
    const { data } = (await (await below.request('//ai/v1/models')).json()) as {
      data: { links: { details: string } }[]
    }
    const link = data[0]?.links.details ?? ''
    expect(link).toBe('/ai/api/v1/model/hf.co/somebody/A%20Model%231:Q4')
    const answer = await (await below.request(`/${link}`)).json()
    expect(answer).toMatchObject({ data: { id, links: { details: link } } })
    for (const path of [id.replaceAll(' ', '%20').replace('#', '%23'), encodeURIComponent(id)])
      expect(await (await below.request(`//ai/v1/models/${path}`)).json()).toMatchObject({
        id,
        object: 'model',
        owned_by: 'hf.co',
      })
    const nowhere = await (await below.request('//ai/v1/nowhere')).text()
    expect(nowhere).toContain('listed at /ai/openapi.json')
  } finally {
    await below.stop()
  }
})

test('a request that reaches no route is counted, and so has its line in the log', async () => {
  const answer = await gateway.request('/chat/complete', { method: 'POST', body: {} })
  expect(answer.status).toBe(404)
  const metrics = await (await gateway.request('//metrics')).text()
  expect(metrics).toMatch(/headrace_requests_total\{route="none",status="404"\} [1-9]/)
  expect(metrics).toMatch(/headrace_errors_total\{route="none",error_type="not_found"\} [1-9]/)
})

test('a caller who leaves before the answer is no failure of the gateway or a provider', async () => {
  const upstream = startScriptedUpstream()
  upstream.answer(() => new Promise(() => undefined))
  const patient = await startTestGateway({
    providers: () => [customProvider(upstream.url, [{ id: 'acme/chat', modality: 'language' }])],
  })
  try {
    const leaving = new AbortController()
    const answering = patient.gateway.fetch(
      new Request('http://gateway.test/v1/chat/completions', {
        method: 'POST',
        headers: { authorization: `Bearer ${patient.key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'acme/chat', messages: [{ role: 'user', content: 'hi' }] }),
        signal: leaving.signal,
      }),
    )
    await until(
      () => Promise.resolve(upstream.seen.length),
      (seen) => seen === 1,
    )
    leaving.abort()
    await answering
    const metrics = await (await patient.request('//metrics')).text()
    expect(metrics).toMatch(/headrace_requests_total\{route="chat_completions",status="499"\} 1/)
    expect(metrics).not.toMatch(/headrace_errors_total\{route="chat_completions"/)
  } finally {
    await patient.stop()
    await upstream.stop()
  }
})

test('below a base path the root leads to the console there, and nothing is outside', async () => {
  const below = await startTestGateway({ basePath: '/ai' })
  try {
    for (const path of ['//ai', '//ai/']) {
      const page = await below.request(path, { key: null })
      expect([path, page.status, page.headers.get('location')]).toEqual([path, 302, '/ai/ui/'])
    }
    expect((await below.request('//', { key: null })).status).toBe(404)
  } finally {
    await below.stop()
  }
})

test('every response has a request id, whatever was asked', async () => {
  for (const [method, path] of [
    ['GET', '/models'],
    ['HEAD', '/models'],
    ['OPTIONS', '/models'],
    ['POST', '/nowhere'],
    ['GET', '//healthz'],
    ['GET', '//metrics'],
    ['GET', '//openapi.json'],
  ] as const) {
    const response = await gateway.request(path, { method })
    expect([method, path, response.headers.get('x-request-id')?.startsWith('req_')]).toEqual([
      method,
      path,
      true,
    ])
  }
})

test("servers of one's own are told apart wherever a provider is named", async () => {
  const prices = { input_per_million: '1', output_per_million: '1' }
  const two = await startTestGateway({
    providers: (url) =>
      ['north', 'south'].map((id) => ({
        ...customProvider(`${url}/v1`, [
          { id: `${id}/chat`, upstream: 'gpt-4o-mini', modality: 'language', prices },
        ]),
        id,
        api_key: 'any',
      })),
  })
  try {
    const messages = [{ role: 'user', content: 'hello' }]
    for (const name of ['north', 'south']) {
      const { json } = await two.post('/batches', {
        endpoint: '/v1/chat/completions',
        model: `${name}/chat`,
        provider: { only: [name] },
        requests: [{ custom_id: 'a', body: { messages } }],
      })
      expect(json['provider']).toBe(name)
      const done = await until(
        () => two.get(`/batches/${String(json['id'])}`),
        (answer) => answer.json['status'] === 'completed',
      )
      expect([done.json['provider'], at(done.json, 'results.0.response.body.provider')]).toEqual([name, name])
    }
    const listed = await two.get('/batches')
    expect(
      (listed.json['data'] as { provider: string }[]).map(({ provider }) => provider).toSorted(),
    ).toEqual(['north', 'south'])
    for (const only of [['north'], ['custom'], ['custom/north']]) {
      const answer = await two.post('/chat/completions', {
        model: 'north/chat',
        messages,
        provider: { only },
      })
      expect([answer.status, answer.json['provider']]).toEqual([200, 'north'])
    }
  } finally {
    await two.stop()
  }
})

test('uploads of one organization that never end keep nobody else from creating a batch', async () => {
  const other = await gateway.addOrganization()
  const leave = new AbortController()
  const slow = () => {
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(
          new TextEncoder().encode('{"endpoint":"/v1/chat/completions","model":"openai/gpt-4o-mini",'),
        )
        leave.signal.addEventListener('abort', () => controller.error(new Error('left')))
      },
    })
    return gateway.request('/batches', { method: 'POST', body })
  }
  const uploads = Array.from({ length: 12 }, slow)
  await Bun.sleep(50)
  const created = await Promise.race([
    gateway.post(
      '/batches',
      {
        endpoint: '/v1/chat/completions',
        model: 'openai/gpt-4o-mini',
        requests: [{ custom_id: 'a', body: { messages: [{ role: 'user', content: 'hello' }] } }],
      },
      { key: other.key },
    ),
    Bun.sleep(5_000).then(() => null),
  ])
  leave.abort()
  await Promise.all(uploads)
  expect(created?.status).toBe(202)
})

test("a request beyond its provider's whole rate limit ends at once, and the others of its batch go on", async () => {
  const upstream = startScriptedUpstream()
  const message =
    'Request too large for gpt-4o in organization org-abcdefghijkl on tokens per min (TPM): Limit 30000, Requested 36278. Visit https://platform.example.com/limits to learn more.'
  upstream.answer(({ body }) =>
    body.includes('so much')
      ? Response.json(
          { error: { message, type: 'tokens', param: null, code: 'rate_limit_exceeded' } },
          { status: 429, headers: { 'retry-after': '20' } },
        )
      : Response.json({
          choices: [{ message: { role: 'assistant', content: 'yes' }, finish_reason: 'stop' }],
          usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
        }),
  )
  const limited = await startTestGateway({
    providers: () => [customProvider(upstream.url, [{ id: 'acme/chat', modality: 'language' }])],
  })
  try {
    const { json } = await limited.post('/batches', {
      endpoint: '/v1/chat/completions',
      model: 'acme/chat',
      requests: ['a', 'so much', 'b', 'c'].map((content) => ({
        custom_id: content,
        body: { messages: [{ role: 'user', content }] },
      })),
    })
    const done = await until(
      () => limited.get(`/batches/${String(json['id'])}`),
      (answer) => answer.json['status'] === 'completed',
      10_000,
    )
    expect(done.json['request_counts']).toEqual({ total: 4, completed: 3, failed: 1 })
    expect(at(done.json, 'results.1.error')).toMatchObject({ type: 'payload_too_large' })
    const words = String(at(done.json, 'results.1.error.message'))
    expect(words).toContain(
      'The request is too large for the provider. Send less at once. It said: Request too large',
    )
    expect(words).not.toMatch(/org-abc|example/)
    expect(upstream.seen.filter(({ body }) => body.includes('so much'))).toHaveLength(1)
  } finally {
    await limited.stop()
    await upstream.stop()
  }
})

test('an item of too many values is told its bounds, and the others of its batch go on', async () => {
  const body = { messages: [{ role: 'user', content: 'hello' }] }
  const created = await gateway.post('/batches', {
    endpoint: '/v1/chat/completions',
    model: 'openai/gpt-4o-mini',
    requests: [
      { custom_id: 'large', body: { ...body, numbers: Array.from({ length: 2_100_000 }, () => 0) } },
      { custom_id: 'small', body },
    ],
  })
  const { json } = await until(
    () => gateway.get(`/batches/${at(created.json, 'id')}`),
    (read) => read.json['status'] === 'completed',
  )
  expect(at(json, 'results.0.error.message')).toContain('more than 4000000 besides its long texts. Send less')
  expect(at(json, 'results.1.response.status_code')).toBe(200)
})
