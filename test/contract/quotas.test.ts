import { afterAll, beforeEach, expect, test } from 'bun:test'
import { at, startTestGateway, until } from '../support/gateway.ts'
import { startScriptedUpstream, type UpstreamSeen } from '../support/scripted-upstream.ts'

// Quotas of deployments: those that the operator states, and those that a provider's headers tell of.

const [first, second] = [startScriptedUpstream(), startScriptedUpstream()]
const prices = { input_per_million: '1', output_per_million: '1' }
const row = (id: string, url: string, models: readonly string[], more: Record<string, unknown> = {}) => ({
  preset: 'custom',
  id,
  base_url: url,
  api_key: 'key-of-a-test',
  weight: 1,
  discover: false,
  models: models.map((name) => ({ id: `shared/${name}`, upstream: name, prices })),
  ...more,
})
const gateway = await startTestGateway({
  credits: '5',
  providers: () =>
    [
      row('narrow', first.url, ['both'], { weight: 1000, requests_per_minute: 4 }),
      row('wide', second.url, ['both'], { weight: 0.001 }),
      row('alone', first.url, ['alone'], { requests_per_minute: 2 }),
      row('tokens', first.url, ['tokens'], { tokens_per_minute: 2_000 }),
      row('paced', first.url, ['paced'], { requests_per_minute: 240 }),
      {
        ...row('several', first.url, ['free']),
        models: [
          { id: 'shared/free', upstream: 'free', prices },
          { id: 'shared/slow', upstream: 'slow', prices, requests_per_minute: 1 },
        ],
      },
      row('told', first.url, ['told'], { weight: 1000 }),
      row('silent', second.url, ['told'], { weight: 0.001 }),
    ] as never,
})
afterAll(async () => {
  await gateway.stop()
  await Promise.all([first.stop(), second.stop()])
})

const chat = (model: string, more: Record<string, unknown> = {}) =>
  gateway.post('/chat/completions', { model, messages: [{ role: 'user', content: 'x' }], ...more })

function answer({ total = 7, headers = {} }: { total?: number; headers?: Record<string, string> } = {}) {
  return (_seen: UpstreamSeen): Response =>
    Response.json(
      {
        id: 'c',
        object: 'chat.completion',
        created: 1,
        model: 'm',
        choices: [{ index: 0, message: { role: 'assistant', content: 'Yes.' }, finish_reason: 'stop' }],
        usage: { prompt_tokens: total - 2, completion_tokens: 2, total_tokens: total },
      },
      { headers },
    )
}

beforeEach(() => {
  first.seen.length = 0
  second.seen.length = 0
  for (const upstream of [first, second]) upstream.answer(answer())
})

test('what is beyond the quota of one deployment goes to another, and nobody is refused', async () => {
  const statuses: number[] = []
  for (let call = 0; call < 10; call += 1) statuses.push((await chat('shared/both')).status)
  expect(new Set(statuses)).toEqual(new Set([200]))
  expect(first.seen.length).toBeLessThanOrEqual(2)
  expect(first.seen.length + second.seen.length).toBe(10)
})

test('where there is no other a call gets 429 with the wait, and the provider is not asked', async () => {
  expect((await chat('shared/alone')).status).toBe(200)
  const { status, headers, json } = await chat('shared/alone')
  expect(status).toBe(429)
  expect(Number(headers.get('retry-after'))).toBeGreaterThan(30)
  expect(Number(headers.get('retry-after'))).toBeLessThanOrEqual(60)
  expect(String(at(json, 'error.message'))).toContain('quota of alone')
  expect(at(json, 'error.error_type')).toBe('rate_limit_exceeded')
  expect(first.seen.length).toBe(1)
})

test('tokens count with what a call used', async () => {
  first.answer(answer({ total: 1_900 }))
  expect((await chat('shared/tokens', { max_tokens: 10 })).status).toBe(200)
  // What it used is known once it is charged.
  await until(
    () => chat('shared/tokens', { max_tokens: 10 }),
    ({ status }) => status === 429,
  )
  expect(first.seen.length).toBeLessThanOrEqual(3)
})

test('a provider that says that nothing remains is not asked first until it has room again', async () => {
  first.answer(
    answer({ headers: { 'x-ratelimit-remaining-requests': '0', 'x-ratelimit-reset-requests': '1.2s' } }),
  )
  expect((await chat('shared/told')).status).toBe(200)
  expect([first.seen.length, second.seen.length]).toEqual([1, 0])
  for (let call = 0; call < 5; call += 1) expect((await chat('shared/told')).status).toBe(200)
  expect([first.seen.length, second.seen.length]).toEqual([1, 5])
  await Bun.sleep(1_300)
  await chat('shared/told')
  expect(first.seen.length).toBe(2)
})

test('the quota of a model does not hold up batches of another model there', async () => {
  for (let call = 0; call < 2; call += 1) await chat('shared/slow')
  expect((await chat('shared/slow')).status).toBe(429)
  const requests = ['a', 'b', 'c'].map((custom_id) => ({
    custom_id,
    body: { model: 'shared/free', messages: [{ role: 'user', content: 'x' }] },
  }))
  const startedMs = performance.now()
  const body = { model: 'shared/free', endpoint: '/v1/chat/completions', completion_window: '24h', requests }
  const { json } = await gateway.post('/batches', body)
  await until(
    () => gateway.get(`/batches/${String(json['id'])}`),
    (seen) => seen.json['status'] === 'completed',
  )
  expect(performance.now() - startedMs).toBeLessThan(8_000)
})

test('a batch goes at the pace of the quota, and every item is answered', async () => {
  const requests = Array.from({ length: 20 }, (_, index) => ({
    custom_id: `i${index}`,
    body: { model: 'shared/paced', messages: [{ role: 'user', content: 'x' }] },
  }))
  const body = { model: 'shared/paced', endpoint: '/v1/chat/completions', completion_window: '24h', requests }
  const startedMs = performance.now()
  const { json } = await gateway.post('/batches', body)
  const ended = await until(
    () => gateway.get(`/batches/${String(json['id'])}`),
    (seen) => ['completed', 'failed', 'expired'].includes(String(seen.json['status'])),
  )
  expect(ended.json).toMatchObject({ status: 'completed', request_counts: { completed: 20, failed: 0 } })
  expect(first.seen.length).toBe(20)
  // 12 may come at once, and then 3.68 a second.
  expect(performance.now() - startedMs).toBeGreaterThan(1_900)
})
