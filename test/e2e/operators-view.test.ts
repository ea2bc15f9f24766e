import { afterAll, beforeEach, expect, test } from 'bun:test'
import { at, customProvider, startTestGateway, until } from '../support/gateway.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'

// What an operator sees of providers that fail and of requests that are refused, without asking their callers.

const upstream = startScriptedUpstream()
let log = ''
const gateway = await startTestGateway({
  credits: '1',
  logLevel: 'info',
  trustedProxies: ['127.0.0.1'],
  hooks: { writeLog: (line) => void (log += line) },
  providers: () => [
    customProvider(upstream.url, [
      { id: 'acme/chat', modality: 'language', prices: { input_per_million: '1', output_per_million: '1' } },
      {
        id: 'acme/hf-coder-32b-instruct-q4_k_m',
        modality: 'language',
        prices: { input_per_million: '1', output_per_million: '1' },
      },
      {
        id: 'acme/dear',
        modality: 'language',
        prices: { input_per_million: '1', output_per_million: '1', per_request: '50' },
      },
    ]),
    {
      ...customProvider(upstream.url, [
        {
          id: 'other/chat',
          modality: 'language',
          prices: { input_per_million: '1', output_per_million: '1' },
        },
      ]),
      id: 'other',
    },
  ],
})
afterAll(async () => {
  await gateway.stop()
  await upstream.stop()
})
beforeEach(() => void (log = ''))

type Line = Record<string, unknown>
const lines = (): Line[] =>
  log
    .split('\n')
    .filter((text) => text !== '')
    .map((text) => JSON.parse(text) as Line)

const prompt = 'Tell nobody that the vault opens with 4711, my dear.'
const ask = (more: object = {}, init: object = {}) =>
  gateway.post(
    '/chat/completions',
    { model: 'acme/chat', messages: [{ role: 'user', content: prompt }], ...more },
    init,
  )
const attempts = async () =>
  [
    ...(await (await gateway.request('//metrics')).text()).matchAll(
      /^headrace_deployment_attempts_total\{deployment="acme",model="([^"]*)",outcome="(\w+)",error_type="(\w+)"\} (\d+)$/gm,
    ),
  ].map(([, model, outcome, type, count]) => `${model} ${outcome} ${type} ${count}`)

const answer = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'chat',
  choices: [{ index: 0, message: { role: 'assistant', content: 'yes' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 },
}
const answers = () => upstream.answer(() => Response.json(answer))
const fails = (status: number, message: string) =>
  upstream.answer(() => Response.json({ error: { message, type: 'server_error' } }, { status }))

test('a provider that fails is counted by what it failed of, with its words in the log', async () => {
  answers()
  await ask()
  fails(
    500,
    'Worker 7 of cluster blue died while it read "the vault opens with 4711" for sk-secret-of-the-gateway.',
  )
  expect((await ask()).status).toBe(502)
  expect((await ask()).status).toBe(502)
  expect((await attempts()).toSorted()).toEqual([
    'acme/chat answered none 1',
    'acme/chat failed provider_failed 4',
  ])
  const said = 'Worker 7 of cluster blue died while it read "[removed]" for [removed]'
  const opened = lines().filter(({ event }) => event === 'circuit_open')
  expect(opened).toMatchObject([
    { level: 'warn', deployment: 'acme', model: 'acme/chat', error_type: 'provider_failed', said },
  ])
  const failed = lines().filter(({ msg }) => msg === 'request failed')
  expect(failed).toMatchObject([{ said }, { said }])
  const request = lines().find(({ msg, status }) => msg === 'request' && status === 502)
  expect(request).toMatchObject({
    failed_attempts: [
      { deployment: 'acme', model: 'acme/chat', status: 500, error_type: 'provider_failed', said },
      { said },
    ],
  })
  expect(log).not.toContain('4711')
})

test('the names of models stay readable, in the log and in the answer to the caller', async () => {
  const name = 'hf-coder-32b-instruct-q4_k_m'
  fails(500, `The worker of "${name}" is gone.`)
  expect((await ask({ model: `acme/${name}` })).status).toBe(502)
  const said = `The worker of "${name}" is gone.`
  const request = lines().find(({ msg }) => msg === 'request')
  expect(request).toMatchObject({
    model: `acme/${name}`,
    failed_attempts: [{ model: `acme/${name}`, said }, { said }],
  })
  expect(lines().find(({ msg }) => msg === 'request failed')).toMatchObject({ said })
  // The same inside an answer that says 200.
  const error = { type: 'invalid_request_error', message: `${name} has no room for that.` }
  upstream.answer(() => Response.json({ error }))
  const refused = await ask({ model: `acme/${name}` })
  expect([refused.status, at(refused.json, 'error.message')]).toEqual([
    400,
    `The provider refused the request. It said: ${name} has no room for that.`,
  ])
})

test('a stream that breaks is a failed attempt, one whose caller leaves is not', async () => {
  const frame = `data: ${JSON.stringify({ ...answer, object: 'chat.completion.chunk', choices: [{ index: 0, delta: { content: 'one' }, finish_reason: null }] })}\n\n`
  const shown = (restMs: number) => {
    async function* body() {
      yield Buffer.from(frame)
      await Bun.sleep(restMs)
    }
    return new Response(body(), { headers: { 'content-type': 'text/event-stream' } })
  }
  upstream.answer(() => shown(50))
  const before = await attempts()
  await ask({ stream: true })
  expect((await attempts()).filter((line) => !before.includes(line))).toEqual([
    'acme/chat failed provider_failed 5',
  ])
  upstream.answer(() => shown(5_000))
  const left = await gateway.request('/chat/completions', {
    method: 'POST',
    body: { model: 'acme/chat', stream: true, messages: [{ role: 'user', content: 'hi' }] },
  })
  await left.body?.cancel()
  await until(attempts, (counted) => counted.includes('acme/chat cancelled none 1'))
})

test('a credential that is lost is one warning, however many calls find out', async () => {
  fails(401, 'Incorrect API key provided.')
  const other = { model: 'other/chat' }
  await ask(other)
  await ask(other)
  expect(lines().filter(({ event }) => event === 'credential_lost')).toMatchObject([
    { level: 'warn', deployment: 'other', said: 'Incorrect API key provided.' },
  ])
})

test('a provider that fails the items of a batch is one line, with its words', async () => {
  fails(400, 'No "vault opens with 4711" for sk-secret-of-the-gateway, says worker 9.')
  const requests = Array.from({ length: 20 }, (_, index) => ({
    custom_id: `item-${index}`,
    body: { messages: [{ role: 'user', content: prompt }] },
  }))
  const { json } = await gateway.post('/batches', {
    endpoint: '/v1/chat/completions',
    model: 'acme/chat',
    requests,
  })
  const id = String(json['id'])
  await until(
    () => gateway.get(`/batches/${id}`),
    (polled) => polled.json['status'] === 'completed',
  )
  expect(lines().filter(({ batch_id: batchId }) => batchId === id)).toMatchObject([
    {
      level: 'warn',
      deployment: 'acme',
      model: 'acme/chat',
      status: 400,
      error_type: 'invalid_request',
      said: 'No "[removed]" for [removed], says worker 9.',
    },
  ])
  expect(log).not.toContain('4711')
})

test('every line says whose request it was, also where it was refused', async () => {
  const managed = { key: gateway.managementKey }
  const limited = await gateway.addOrganization({ credits: '1', requestsPerMinute: 1 })
  const disabled = await gateway.addKey({ expiresAtMs: 1 })
  answers()
  const forwarded = { headers: { 'x-forwarded-for': '198.51.100.7, 127.0.0.1' } }
  const asked: [number, object][] = [
    [401, { key: 'no-such-key' }],
    [401, { key: disabled }],
    [402, {}],
    [403, managed],
    [200, { key: limited.key }],
    [429, { key: limited.key }],
  ]
  const statuses: number[] = []
  for (const [status, init] of asked)
    statuses.push(
      (await ask({ model: status === 402 ? 'acme/dear' : 'acme/chat' }, { ...init, ...forwarded })).status,
    )
  await gateway.request('/nowhere', forwarded)
  const requests = lines().filter(({ msg }) => msg === 'request')
  expect(requests.map(({ client_address: address }) => address)).toEqual(requests.map(() => '198.51.100.7'))
  const owners = requests.map(({ status, organization_id: organization, key_id: key }) => [
    status,
    organization,
    typeof key === 'string' && key.startsWith('key_'),
  ])
  const own = gateway.organizationId
  expect(owners.filter(([status]) => status !== 200 && status !== 503)).toEqual([
    [401, undefined, false],
    [401, own, true],
    [402, own, true],
    [403, own, true],
    [429, limited.organizationId, true],
    [404, undefined, false],
  ])
  for (const secret of [gateway.key, gateway.managementKey, limited.key, disabled, 'no-such-key'])
    expect(log).not.toContain(secret)
})
