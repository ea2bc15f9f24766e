import { afterAll, expect, test } from 'bun:test'
import { type Answer, at, startTestGateway, until } from '../support/gateway.ts'

const gateway = await startTestGateway({ credits: '10' })
afterAll(() => gateway.stop())

const model = 'openai/gpt-4o-mini'
const say = (text: string) => ({ messages: [{ role: 'user', content: text }], max_tokens: 20 })

const isEnded = (answer: Answer) =>
  ['completed', 'failed', 'expired', 'cancelled'].includes(String(answer.json['status']))

async function ended(id: unknown): Promise<Record<string, unknown>> {
  const { json } = await until(() => gateway.get(`/batches/${String(id)}`), isEnded, 60_000)
  return json
}

function idsOf(batch: Record<string, unknown>): string[] {
  return (batch['results'] as { custom_id: string }[]).map((result) => result.custom_id)
}

/** The chat calls whose text has these words are refused, until the next call of this. */
async function refuse(words: string | null): Promise<void> {
  const match = { path: '/v1/chat/completions', body_contains: words }
  await gateway.admin('faults', { rules: words === null ? [] : [{ match, fault: 'status=400' }] })
}

async function failedBatch(more: object = {}) {
  await refuse('please fail')
  const texts = ['one', 'please fail two', 'three', 'please fail four', 'five']
  const created = await gateway.post('/batches', {
    endpoint: '/v1/chat/completions',
    model,
    ...more,
    requests: texts.map((text, index) => ({ custom_id: `item-${index}`, body: say(text) })),
  })
  if (created.status !== 202) throw new Error(created.text)
  const batch = await ended(created.json['id'])
  await refuse(null)
  return batch
}

test('what failed of a batch runs again as a batch of its own, in its order, with what was asked of the first one', async () => {
  const first = await failedBatch({
    provider: { only: ['sandbox'] },
    headrace: { lane: 'emulated', max_cost: 1 },
  })
  expect(first['request_counts']).toEqual({ total: 5, completed: 3, failed: 2 })
  const path = `/batches/${String(first['id'])}/retry`
  const estimate = await gateway.post(`${path}?dry_run=true`, undefined)
  expect([estimate.status, estimate.json['total']]).toEqual([200, 2])
  const created = await gateway.post(path, undefined)
  expect(created.status).toBe(202)
  expect(created.json).toMatchObject({
    endpoint: '/v1/chat/completions',
    model,
    request_counts: { total: 2, completed: 0, failed: 0 },
  })
  expect(created.json['id']).not.toBe(first['id'])
  const retried = await ended(created.json['id'])
  expect(retried['request_counts']).toEqual({ total: 2, completed: 2, failed: 0 })
  expect(idsOf(retried)).toEqual(['item-1', 'item-3'])
  expect(at(retried, 'results.0.response.body.choices.0.message.content')).toContain('two')
  // The first one stays as it ended.
  expect((await ended(first['id']))['request_counts']).toEqual({ total: 5, completed: 3, failed: 2 })
})

test('the same Idempotency-Key makes one batch of what failed', async () => {
  const first = await failedBatch()
  const path = `/batches/${String(first['id'])}/retry`
  const headers = { 'idempotency-key': 'retry-once' }
  const [one, two] = [
    await gateway.post(path, undefined, { headers }),
    await gateway.post(path, undefined, { headers }),
  ]
  expect([one.status, two.status, two.json['id']]).toEqual([202, 202, one.json['id']])
  expect(two.headers.get('idempotent-replayed')).toBe('true')
})

test('there is nothing to retry of a batch that runs, has no failure or is of another organization', async () => {
  const good = await gateway.post('/batches', {
    endpoint: '/v1/chat/completions',
    model,
    requests: [{ custom_id: 'item-0', body: say('hello') }],
  })
  const path = `/batches/${String(good.json['id'])}/retry`
  const early = await gateway.post(path, undefined)
  if (early.status !== 409) throw new Error(`answered ${early.status}: ${early.text}`)
  await ended(good.json['id'])
  const late = await gateway.post(path, undefined)
  expect(late.status).toBe(409)
  expect(at(late.json, 'error.message')).toContain('nothing to retry')
  const other = await gateway.addOrganization()
  expect((await gateway.post(path, undefined, { key: other.key })).status).toBe(404)
  expect((await gateway.post('/batches/batch_unknown/retry', undefined)).status).toBe(404)
})

test('a batch of messages in the form of Anthropic is retried with its betas, and its items keep their requests', async () => {
  await refuse('please fail')
  const params = (text: string) => ({ model, ...say(text) })
  const texts = ['one', 'please fail two']
  const created = await gateway.post('/messages/batches', {
    requests: texts.map((text, index) => ({ custom_id: `item-${index}`, params: params(text) })),
  })
  const first = await ended(created.json['id'])
  expect(first['request_counts']).toEqual({ total: 2, completed: 1, failed: 1 })
  await refuse(null)
  const retried = await ended(
    (await gateway.post(`/batches/${String(first['id'])}/retry`, undefined)).json['id'],
  )
  expect(retried['request_counts']).toEqual({ total: 1, completed: 1, failed: 0 })
  expect(at(retried, 'results.0.response.body.content.0.text')).toContain('two')
})

test('of a batch of several segments, what failed in each is found', async () => {
  await refuse('please fail')
  const failing = new Set([0, 1_050, 2_099])
  const created = await gateway.post('/batches', {
    endpoint: '/v1/chat/completions',
    model,
    headrace: { lane: 'emulated' },
    requests: Array.from({ length: 2_100 }, (_, index) => ({
      custom_id: `item-${index}`,
      body: say(failing.has(index) ? `please fail ${index}` : 'go on'),
    })),
  })
  const first = await ended(created.json['id'])
  await refuse(null)
  expect(first['request_counts']).toEqual({ total: 2_100, completed: 2_097, failed: 3 })
  const again = await gateway.post(`/batches/${String(first['id'])}/retry`, undefined)
  expect(idsOf(await ended(again.json['id']))).toEqual(['item-0', 'item-1050', 'item-2099'])
}, 90_000)
