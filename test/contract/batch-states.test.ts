import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type Answer,
  at,
  sandboxProvider,
  startTestGateway,
  type TestGateway,
  type TestGatewayOptions,
  until,
} from '../support/gateway.ts'

// Section 3: every status is reached, and an accepted batch outlives the process that accepted it.

const folders: string[] = []
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

const batchOf = (model: string, count = 1) => ({
  endpoint: '/v1/chat/completions',
  model,
  requests: Array.from({ length: count }, (_, index) => ({
    custom_id: `item ${index}`,
    body: { messages: [{ role: 'user', content: `say ${index}` }] },
  })),
})

/** Accepts a batch in one gateway that runs none, and hands its folder to the next. */
async function acceptOnly(batch: unknown, options: TestGatewayOptions = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'headrace-states-'))
  folders.push(folder)
  const gateway = await startTestGateway({ ...options, folder, role: 'api' })
  const accepted = await gateway.post('/batches', batch)
  await gateway.stop()
  expect(accepted.status).toBe(202)
  return { folder, accepted, id: String(accepted.json['id']) }
}

async function withGateway(options: TestGatewayOptions, run: (gateway: TestGateway) => Promise<void>) {
  const gateway = await startTestGateway(options)
  try {
    await run(gateway)
  } finally {
    await gateway.stop()
  }
}

const isIn = (status: string) => (answer: Answer) => answer.json['status'] === status

test('3.s2 an accepted payload is durable: the next process runs a batch that the last one only accepted', async () => {
  const { folder, accepted, id } = await acceptOnly(batchOf('openai/gpt-4o-mini'))
  expect(accepted.json['status']).toBe('validating')
  await withGateway({ folder }, async (gateway) => {
    const done = await until(() => gateway.get(`/batches/${id}`), isIn('completed'))
    expect(done.json['request_counts']).toEqual({ total: 1, completed: 1, failed: 0 })
  })
})

test('3.v1 validating: a batch that no worker has looked at yet', async () => {
  const { accepted } = await acceptOnly(batchOf('openai/gpt-4o-mini'))
  expect([accepted.status, accepted.json['status']]).toEqual([202, 'validating'])
})

test('3.v2 in_progress: a batch whose requests run', async () => {
  await withGateway({}, async (gateway) => {
    await gateway.admin('faults', [{ match: { path: '/chat/completions' }, fault: 'latency=700' }])
    const { json } = await gateway.post('/batches', batchOf('openai/gpt-4o-mini'))
    const running = await until(() => gateway.get(`/batches/${String(json['id'])}`), isIn('in_progress'))
    expect([running.json['results'], running.json['finalized_at']]).toEqual([null, null])
  })
})

test('3.v3 completed: every request has a result, also those that failed', async () => {
  await withGateway({}, async (gateway) => {
    await gateway.admin('faults', [{ match: { body_contains: 'say 1' }, fault: 'status=400' }])
    const { json } = await gateway.post('/batches', batchOf('openai/gpt-4o-mini', 3))
    const done = await until(() => gateway.get(`/batches/${String(json['id'])}`), isIn('completed'))
    expect(done.json['request_counts']).toEqual({ total: 3, completed: 2, failed: 1 })
  })
})

test('3.v4 failed: nothing could run; the error says why', async () => {
  const only = (upstream: string) => (url: string) => [
    sandboxProvider(url, {
      preset: 'custom',
      id: 'acme',
      discover: false,
      models: [{ id: `acme/${upstream}`, upstream: 'gpt-4o-mini', modality: 'language' }],
    }),
  ]
  const { folder, id } = await acceptOnly(batchOf('acme/gone', 2), { providers: only('gone') })
  await withGateway({ folder, providers: only('other') }, async (gateway) => {
    const failed = await until(() => gateway.get(`/batches/${id}`), isIn('failed'))
    expect(String(at(failed.json, 'error.message')).length).toBeGreaterThan(10)
    expect(failed.json['results']).toBeNull()
    expect(failed.json['request_counts']).toEqual({ total: 2, completed: 0, failed: 2 })
    expect(Number.isSafeInteger(failed.json['finalized_at'])).toBe(true)
  })
})

test('3.v5 expired: a day has passed; unfinished requests end as errors', async () => {
  const { folder, id } = await acceptOnly(batchOf('openai/gpt-4o-mini', 2))
  const nextDay = `(cast(unixepoch('subsec') * 1000 as integer) + ${25 * 3_600_000})`
  await withGateway(
    { folder, hooks: { nowExpression: nextDay, writeLog: () => undefined } },
    async (gateway) => {
      const expired = await until(() => gateway.get(`/batches/${id}`), isIn('expired'))
      expect(expired.json['request_counts']).toEqual({ total: 2, completed: 0, failed: 2 })
      expect(at(expired.json, 'results.0.response')).toBeNull()
      expect(at(expired.json, 'results.0.error.type')).toBe('batch_expired')
    },
  )
})

test('3.v6 cancelling and cancelled: the caller gave up; unfinished requests end as errors', async () => {
  await withGateway({}, async (gateway) => {
    await gateway.admin('faults', [{ match: { body_contains: 'say 0' }, fault: 'latency=700' }])
    const { json } = await gateway.post('/batches', batchOf('openai/gpt-4o-mini', 1))
    const path = `/batches/${String(json['id'])}`
    await until(() => gateway.get(path), isIn('in_progress'))
    const cancelling = await gateway.post(`${path}/cancel`, undefined)
    expect(cancelling.status).toBe(200)
    expect(['cancelling', 'cancelled']).toContain(String(cancelling.json['status']))
    const cancelled = await until(() => gateway.get(path), isIn('cancelled'))
    expect(at(cancelled.json, 'request_counts.total')).toBe(1)
    expect((cancelled.json['results'] as unknown[]).length).toBe(1)
  })
})
