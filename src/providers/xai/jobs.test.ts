import { expect, test } from 'bun:test'
import { xAiBatchJobs as jobs } from './jobs.ts'

// The SDK of xAI (PyPI xai-sdk) speaks gRPC, so the requests are those of its pages.

const reply = (value: unknown) => ({ headers: new Headers(), bytes: Buffer.from(JSON.stringify(value)) })
const sent = (request: { method: string; path: string } | null | undefined) =>
  `${request?.method} ${request?.path}`
const counts = { num_requests: 0, num_pending: 0, num_success: 0, num_error: 0, num_cancelled: 0 }
const batch = (state: Partial<typeof counts>, change: object = {}) => ({
  batch_id: 'batch_1',
  name: 'abc',
  create_time: '2026-08-10',
  cancel_time: null,
  cancel_by_xai_message: null,
  state: { ...counts, ...state },
  ...change,
})

test('asks for batches as its pages have it', () => {
  const created = jobs.create({
    nonce: 'abc',
    operation: '/v1/chat/completions',
    fileId: 'file-1',
    lines: null,
  })
  expect([sent(created), created.body]).toEqual([
    'POST /batches',
    ['{"name":"abc","input_file_id":"file-1"}'],
  ])
  expect(sent(jobs.look('batch_1'))).toBe('GET /batches/batch_1')
  expect(sent(jobs.cancel?.('batch_1'))).toBe('POST /batches/batch_1:cancel')
  expect(sent(jobs.search?.request('t 1'))).toBe('GET /batches?limit=100&pagination_token=t%201')
  expect(sent(jobs.download('batch_1'))).toBe('GET /batches/batch_1/results?limit=100')
  expect(sent(jobs.resultsIn?.pages?.request('batch_1', 'next'))).toBe(
    'GET /batches/batch_1/results?limit=100&pagination_token=next',
  )
})

test('reads what a batch does from its counts: zeros are not an end', () => {
  const stateOf = (wire: object) => jobs.readJob(reply(wire)).state
  expect(stateOf(batch({}))).toBe('running')
  expect(stateOf(batch({ num_requests: 3, num_pending: 1, num_success: 2 }))).toBe('running')
  const ended = batch({ num_requests: 3, num_success: 2, num_error: 1 })
  expect(jobs.readJob(reply(ended))).toMatchObject({ state: 'completed', doneCount: 3, outputs: ['batch_1'] })
  const cancelled = batch(
    { num_requests: 3, num_success: 1, num_cancelled: 2 },
    { cancel_time: '2026-08-11' },
  )
  expect(stateOf(cancelled)).toBe('cancelled')
  // What had ended before the cancellation is complete.
  expect(stateOf({ ...ended, cancel_time: '2026-08-11' })).toBe('completed')
  const stopped = { cancel_by_xai_message: 'The model is gone.' }
  expect(jobs.readJob(reply(batch({ num_requests: 2, num_cancelled: 2 }, stopped)))).toMatchObject({
    state: 'failed',
    problem: { message: 'The model is gone.' },
  })
})

test('reads results in each of their forms', () => {
  const read = (batch_result: object, more: object = {}) =>
    jobs.readLine(Buffer.from(JSON.stringify({ batch_request_id: 'h1_0', batch_result, ...more })))?.result
  const completion = { id: 'x', object: 'chat.completion' }
  const answer = read({ response: { chat_get_completion: completion } })
  if (answer?.type !== 'answer') throw new Error('it is an answer')
  expect([answer.status, JSON.parse(Buffer.from(answer.body).toString())]).toEqual([200, completion])
  expect(read({ error: { code: 3, message: 'bad' } })).toMatchObject({ type: 'answer', status: 400 })
  expect(read({ error: { code: 1, message: 'stopped' } })).toEqual({
    type: 'not run',
    reason: 'batch_cancelled',
  })
  expect(read({}, { error_message: 'lost' })).toEqual({ type: 'failed', message: 'lost' })
  expect(jobs.readLine(Buffer.from('{"batch_result":{}}'))).toBeNull()
})
