import { afterAll, expect, test } from 'bun:test'
import { createHmac, timingSafeEqual } from 'node:crypto'
import { at, startTestGateway, until } from '../support/gateway.ts'

// Reference 1.9: the end of a batch is told to its callback_url, in the contract's words and under its signature. The
// receiver is written after the contract alone.

/** An event that the receiver has taken or refused. */
interface Received {
  path: string
  type: string
  createdAt: string
  data: Record<string, unknown>
  idempotencyKey: string | null
  isSigned: boolean
}

let secret = ''
let refusals = 0
const received: Received[] = []
const receiver = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  async fetch(request) {
    const body = await request.text()
    const event = JSON.parse(body) as { type: string; created_at: string; data: Record<string, unknown> }
    received.push({
      path: new URL(request.url).pathname,
      type: event.type,
      createdAt: event.created_at,
      data: event.data,
      idempotencyKey: request.headers.get('x-openrouter-idempotency-key'),
      isSigned: isSigned(request.headers.get('x-openrouter-signature') ?? '', body),
    })
    if (refusals-- > 0) return new Response('not now', { status: 503 })
    return new Response(null, { status: 204 })
  },
})
const host = `127.0.0.1:${receiver.port}`
const gateway = await startTestGateway({ callbackHosts: [host] })
afterAll(async () => {
  await gateway.stop()
  await receiver.stop(true)
})

function isSigned(header: string, body: string): boolean {
  const parts = new Map(header.split(',').map((part) => part.split('=', 2) as [string, string]))
  const time = parts.get('t') ?? ''
  if (Math.abs(Date.now() / 1000 - Number(time)) > 300) return false
  const wanted = createHmac('sha256', secret).update(`${time},${body}`).digest()
  const found = Buffer.from(parts.get('v1') ?? '', 'hex')
  return found.length === wanted.length && timingSafeEqual(found, wanted)
}

const batch = (change: Record<string, unknown> = {}) => ({
  endpoint: '/v1/chat/completions',
  model: 'openai/gpt-4o-mini',
  ...change,
  requests: [{ custom_id: 'one', body: { messages: [{ role: 'user', content: 'say hello' }] } }],
})

async function rotate(): Promise<void> {
  const answer = await gateway.post('/organization/signing-secret', {}, { key: gateway.managementKey })
  expect(answer.status).toBe(201)
  secret = String(at(answer.json, 'data.signing_secret'))
  expect(secret).toMatch(/^whsec_/)
}

const eventOf = (id: unknown) =>
  until(
    async () => received.filter(({ data }) => data['id'] === id),
    (found) => found.length > 0,
  )

test('the end of a batch is posted with its type, its time, the batch, a signature and an idempotency key', async () => {
  await rotate()
  const { status, json } = await gateway.post('/batches', batch({ callback_url: `http://${host}/done` }))
  expect(status).toBe(202)
  const [event] = await eventOf(json['id'])
  expect(event).toMatchObject({
    path: '/done',
    type: 'batch.completed',
    idempotencyKey: `${String(json['id'])}-completed`,
    isSigned: true,
    data: { object: 'batch', status: 'completed', results: null },
  })
  expect(event?.createdAt).toBe(new Date(event?.createdAt ?? 0).toISOString())
  const log = await until(
    () => gateway.get(`/batches/${String(json['id'])}/deliveries`),
    (answer) => at(answer.json, 'data.0.state') === 'delivered',
  )
  expect(log.json).toMatchObject({
    object: 'list',
    data: [{ event: 'batch.completed', tries: 1, log: [{ try: 1, status: 204, problem: null }] }],
  })
})

test('what a receiver refuses is posted again, and on demand', async () => {
  refusals = 1
  const { json } = await gateway.post('/batches', batch({ callback_url: `http://${host}/again` }))
  const id = String(json['id'])
  await eventOf(id)
  await until(
    () => gateway.get(`/batches/${id}/deliveries`),
    (answer) => at(answer.json, 'data.0.tries') === 1,
  )
  const again = await gateway.post(`/batches/${id}/redeliver`, {})
  expect(again.status).toBe(202)
  await until(
    () => gateway.get(`/batches/${id}/deliveries`),
    (answer) => at(answer.json, 'data.0.state') === 'delivered',
  )
  const own = received.filter(({ data }) => data['id'] === id)
  expect(own.map(({ isSigned: isGood }) => isGood)).toEqual([true, true])
  expect(new Set(own.map(({ idempotencyKey }) => idempotencyKey)).size).toBe(1)
})

test('an address that is not public, not https or no address is 400, and names the member', async () => {
  for (const url of [
    'http://hooks.example.com/x',
    'https://127.0.0.1:1/x',
    'https://localhost/x',
    'https://169.254.169.254/latest/meta-data',
    'https://[::1]/x',
    'https://user:word@hooks.example.com/x',
    'not an address',
    7,
  ]) {
    const answer = await gateway.post('/batches', batch({ callback_url: url }))
    expect([url, answer.status]).toEqual([url, 400])
    expect(at(answer.json, 'error.message')).toStartWith('callback_url ')
  }
  const silent = await gateway.post('/batches', batch({ callback_url: null }))
  expect(silent.status).toBe(202)
})

test('a batch without an address has nothing to tell, and other organizations see no log', async () => {
  const { json } = await gateway.post('/batches', batch())
  const path = `/batches/${String(json['id'])}`
  await until(
    () => gateway.get(path),
    (answer) => answer.json['status'] === 'completed',
  )
  expect((await gateway.get(`${path}/deliveries`)).json).toEqual({ object: 'list', data: [] })
  expect((await gateway.post(`${path}/redeliver`, {})).status).toBe(409)
  const other = await gateway.addOrganization()
  expect((await gateway.get(`${path}/deliveries`, { key: other.key })).status).toBe(404)
  expect((await gateway.post(`${path}/redeliver`, {}, { key: other.key })).status).toBe(404)
  expect((await gateway.post('/organization/signing-secret', {})).status).toBe(403)
})

test('without a master key for a named database what needs it is refused by name', async () => {
  const nowhere = await startTestGateway({ isOwnDatabase: false, callbackHosts: [host] })
  try {
    const refused = await nowhere.post('/batches', batch({ callback_url: `http://${host}/x` }))
    expect([refused.status, at(refused.json, 'error.message')]).toEqual([
      400,
      expect.stringContaining('HEADRACE_MASTER_KEY'),
    ])
    const rotation = await nowhere.post('/organization/signing-secret', {}, { key: nowhere.managementKey })
    expect([rotation.status, at(rotation.json, 'error.message')]).toEqual([
      400,
      expect.stringContaining('HEADRACE_MASTER_KEY'),
    ])
    expect((await nowhere.post('/batches', batch())).status).toBe(202)
  } finally {
    await nowhere.stop()
  }
})
