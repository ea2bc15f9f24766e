import { afterAll, expect, test } from 'bun:test'
import { startTestGateway, until } from '../support/gateway.ts'

// Live progress of a batch, beside the contract's polling: server-sent events through a real socket.

const gateway = await startTestGateway({ hooks: { keepAliveMs: 100, writeLog: () => undefined } })
afterAll(() => gateway.stop())
const base = gateway.listen()

const batch = (count: number) => ({
  endpoint: '/v1/chat/completions',
  model: 'openai/gpt-4o-mini',
  requests: Array.from({ length: count }, (_, index) => ({
    custom_id: `item ${index}`,
    body: { messages: [{ role: 'user', content: `say ${index}` }] },
  })),
})

const watch = (id: string, headers: Record<string, string> = {}) =>
  fetch(`${base}/batches/${id}/events`, { headers: { authorization: `Bearer ${gateway.key}`, ...headers } })

/** The named fields of every frame with data. */
function framesOf(text: string): { id: string; event: string; data: Record<string, unknown> }[] {
  return text.split('\n\n').flatMap((frame) => {
    const fields = Object.fromEntries(
      frame.split('\n').map((line): [string, string] => {
        const colon = line.indexOf(': ')
        return [line.slice(0, colon), line.slice(colon + 2)]
      }),
    )
    const { id = '', event = '', data } = fields
    return data === undefined ? [] : [{ id, event, data: JSON.parse(data) as Record<string, unknown> }]
  })
}

test('events lead from the accepted batch to its end, with comments between, and the stream closes', async () => {
  await gateway.admin('faults', [{ match: { path: '/chat/completions' }, fault: 'latency=600' }])
  const { json } = await gateway.post('/batches', batch(2))
  const response = await watch(String(json['id']))
  expect(response.status).toBe(200)
  expect(response.headers.get('content-type')).toBe('text/event-stream')
  expect(response.headers.get('x-accel-buffering')).toBe('no')
  const text = await response.text()
  expect(text).toContain(': ping\n\n')
  const frames = framesOf(text)
  expect(frames[0]?.event).toBe('status')
  expect(frames.at(-1)).toMatchObject({
    event: 'end',
    data: {
      id: json['id'],
      object: 'batch',
      status: 'completed',
      results: null,
      request_counts: { total: 2, completed: 2, failed: 0 },
    },
  })
  expect(new Set(frames.map(({ id }) => id)).size).toBe(frames.length)
  // Continued after the end: a client that would come back for ever is told not to.
  const again = await watch(String(json['id']), { 'last-event-id': frames.at(-1)?.id ?? '' })
  expect([again.status, await again.text()]).toEqual([204, ''])
  const earlier = framesOf(
    await (await watch(String(json['id']), { 'last-event-id': frames[0]?.id ?? '' })).text(),
  )
  expect(earlier.map(({ event }) => event)).toEqual(['end'])
})

test('a batch of another organization is 404, and a management key is 403', async () => {
  const { json } = await gateway.post('/batches', batch(1))
  const other = await gateway.addOrganization()
  const path = `/batches/${String(json['id'])}/events`
  expect((await gateway.get(path, { key: other.key })).status).toBe(404)
  expect((await gateway.get(path, { key: gateway.managementKey })).status).toBe(403)
  expect((await gateway.get('/batches/batch_none/events')).status).toBe(404)
})

test('a caller who leaves ends the stream', async () => {
  await gateway.admin('faults', [{ match: { path: '/chat/completions' }, fault: 'latency=3000' }])
  const { json } = await gateway.post('/batches', batch(1))
  const leaving = new AbortController()
  const response = await fetch(`${base}/batches/${String(json['id'])}/events`, {
    headers: { authorization: `Bearer ${gateway.key}` },
    signal: leaving.signal,
  })
  await response.body?.getReader().read()
  const running = async () => /headrace_requests_running (\d+)/.exec(await metrics())?.[1]
  expect(Number(await running())).toBeGreaterThanOrEqual(2)
  leaving.abort()
  // The request for the metrics is the one that is left.
  await until(running, (count) => count === '1')
})

async function metrics(): Promise<string> {
  return (await gateway.request('//metrics', { key: null })).text()
}
