import { expect, test } from 'bun:test'
import { openRouterBatchJobs as jobs } from './jobs.ts'

// The SDK of OpenRouter (npm @openrouter/sdk 1.3.19) has no batches, so the requests are those of its pages.

const reply = (value: unknown) => ({ headers: new Headers(), bytes: Buffer.from(JSON.stringify(value)) })
const linesOf = (ids: readonly string[]) => {
  const bytes = Buffer.concat(
    ids.map((id) => jobs.encodeLine({ id, operation: '', body: Buffer.from('{"messages":[]}') })),
  )
  return { contentLength: bytes.length, open: () => new Blob([bytes]).stream() }
}

test('creates a batch with its lines behind what they need, as long as it says', async () => {
  const operation = jobs.operationOf({ path: '/messages', headers: {}, model: 'anthropic/claude' }) ?? ''
  const { body, method, path } = jobs.create({
    nonce: 'a',
    operation,
    fileId: null,
    lines: linesOf(['a', 'b']),
  })
  if (body === null || !('open' in body)) throw new Error('the lines are streamed')
  const text = await new Response(body.open()).text()
  expect([method, path, text.length]).toEqual(['POST', '/batches', body.contentLength])
  const asked = JSON.parse(text) as object
  expect(Object.keys(asked)).toEqual(['endpoint', 'model', 'completion_window', 'requests'])
  expect(asked).toEqual({
    endpoint: '/v1/messages',
    model: 'anthropic/claude',
    completion_window: '24h',
    requests: ['a', 'b'].map((custom_id) => ({ custom_id, body: { messages: [] } })),
  })
})

test('runs text alone, because one other item fails the whole batch', () => {
  const asked = { path: '/chat/completions', headers: {}, model: 'a/b' }
  expect(jobs.operationOf(asked)).toBe('/v1/chat/completions a/b')
  expect(jobs.operationOf({ ...asked, hasMedia: true })).toBeNull()
  expect(jobs.operationOf({ ...asked, headers: { 'anthropic-beta': 'x' } })).toBeNull()
  expect(jobs.operationOf({ ...asked, path: '/rerank' })).toBeNull()
})

test('cannot cancel a batch, deletes it when it has ended, and finds one by its number of items', () => {
  expect(jobs.cancel).toBeNull()
  const kind = jobs.resources['openrouter.batch']
  expect(kind?.remove?.('batch-1')).toMatchObject({ method: 'DELETE', path: '/batches/batch-1' })
  const entry = (id: string, total: number) => ({
    id,
    status: 'in_progress',
    created_at: 1_000,
    request_counts: { total, completed: 0, failed: 0 },
  })
  const mark = jobs.search?.markOf({ nonce: 'a', itemCount: 2, fileId: null }) ?? ''
  const listing = { data: [entry('batch-3', 3), entry('batch-2', 2)], has_more: true, last_id: 'batch-2' }
  const page = jobs.search?.read(reply(listing), mark)
  expect(page?.found.map(({ reading }) => reading.id)).toEqual(['batch-2'])
  expect([page?.oldestAtMs, page?.older]).toEqual([1_000_000, 'batch-2'])
})

test('reads answers, refusals by their kind, and what was not run', () => {
  const read = (line: object) =>
    jobs.readLine(Buffer.from(JSON.stringify({ custom_id: 'h1_0', response: null, error: null, ...line })))
      ?.result
  expect(read({ response: { status_code: 200, body: { id: 'x' } } })).toMatchObject({
    type: 'answer',
    status: 200,
  })
  const refused = { type: 'error', error_type: 'rate_limit_exceeded', message: 'slower' }
  expect(read({ error: refused })).toMatchObject({ type: 'answer', status: 429 })
  expect(read({ error: { type: 'batch_expired' } })).toEqual({ type: 'not run', reason: 'batch_expired' })
  expect(read({ error: { type: 'unmapped', message: 'odd' } })).toEqual({ type: 'failed', message: 'odd' })
})
