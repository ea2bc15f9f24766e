import { expect, test } from 'bun:test'
import Anthropic from '@anthropic-ai/sdk'
import type { UpstreamRequest } from '../../canonical/upstream.ts'
import { messageJobs as jobs } from './message-jobs.ts'

interface Seen {
  method: string
  path: string
  accept: string | null
  body: unknown
}

async function seenOf(request: Request): Promise<Seen> {
  const { pathname, search } = new URL(request.url)
  const text = await request.text()
  return {
    method: request.method,
    path: pathname + search,
    accept: request.headers.get('accept'),
    body: text === '' ? null : JSON.parse(text),
  }
}

/** What the official client sends for these calls. */
async function sentByClient(call: (client: Anthropic) => PromiseLike<unknown>): Promise<Seen> {
  const seen: Seen[] = []
  const client = new Anthropic({
    apiKey: 'key',
    baseURL: 'http://anthropic.test',
    maxRetries: 0,
    fetch: async (input, init) => {
      seen.push(await seenOf(new Request(input as string, init)))
      const results_url = 'http://anthropic.test/v1/messages/batches/msgbatch_1/results'
      return Response.json({ id: 'msgbatch_1', data: [], results_url })
    },
  })
  await call(client)
  const last = seen.at(-1)
  if (last === undefined) throw new Error('nothing was sent')
  return last
}

function sentByJobs({ method, path, headers, body }: UpstreamRequest): Promise<Seen> {
  const stream = body !== null && 'open' in body ? body.open() : null
  return seenOf(new Request(`http://anthropic.test/v1${path}`, { method, headers, body: stream }))
}

const params = {
  model: 'claude-haiku-4-5',
  max_tokens: 10,
  messages: [{ role: 'user' as const, content: 'hi' }],
}
const requests = [
  { custom_id: 'habc_0', params },
  { custom_id: 'habc_1', params },
]

function linesOf(chunkBytes: number) {
  const body = Buffer.from(JSON.stringify(params))
  const encoded = requests.map(({ custom_id: id }) => jobs.encodeLine({ id, operation: '/messages', body }))
  const bytes = Buffer.concat(encoded)
  const pieces = Array.from({ length: Math.ceil(bytes.length / chunkBytes) }, (_, index) =>
    bytes.subarray(index * chunkBytes, (index + 1) * chunkBytes),
  )
  return { contentLength: bytes.length, open: () => new Blob(pieces).stream() }
}

test('creates, looks at, cancels, lists, reads and deletes batches as the official client does', async () => {
  const lines = linesOf(7)
  const created = jobs.create({ nonce: 'abc', operation: '/messages', fileId: null, lines })
  const removed = jobs.resources['anthropic.batch_output']?.remove?.('msgbatch_1')
  if (removed === undefined || jobs.search === null)
    throw new Error('batches of messages are listed and deleted')
  const calls: [UpstreamRequest | undefined, (client: Anthropic) => PromiseLike<unknown>][] = [
    [created, (client) => client.messages.batches.create({ requests })],
    [jobs.look('msgbatch_1'), (client) => client.messages.batches.retrieve('msgbatch_1')],
    [jobs.cancel?.('msgbatch_1'), (client) => client.messages.batches.cancel('msgbatch_1')],
    [removed, (client) => client.messages.batches.delete('msgbatch_1')],
    [jobs.download('msgbatch_1'), (client) => client.messages.batches.results('msgbatch_1')],
    [jobs.search.request(null), (client) => client.messages.batches.list({ limit: 1000 })],
    [
      jobs.search.request('msgbatch_9'),
      (client) => client.messages.batches.list({ limit: 1000, after_id: 'msgbatch_9' }),
    ],
  ]
  for (const [request, call] of calls) {
    if (request === undefined) throw new Error('every call has a request')
    expect(await sentByJobs(request)).toEqual(await sentByClient(call))
  }
})

test('says how long the request is that carries the lines, however they are cut', async () => {
  for (const chunkBytes of [1, 50, 10_000]) {
    const { body } = jobs.create({
      nonce: 'a',
      operation: '/messages',
      fileId: null,
      lines: linesOf(chunkBytes),
    })
    if (body === null || !('open' in body)) throw new Error('the lines are streamed')
    const text = await new Response(body.open()).text()
    expect(text.length).toBe(body.contentLength)
    expect(JSON.parse(text)).toEqual({ requests })
  }
})

test('takes no line that needs a beta, which would hold for all lines of the batch', () => {
  const model = 'claude-haiku-4-5'
  expect(jobs.operationOf({ path: '/messages', headers: {}, model })).toBe('/messages')
  expect(jobs.operationOf({ path: '/messages', headers: { 'anthropic-beta': 'x' }, model })).toBeNull()
  expect(jobs.operationOf({ path: '/messages/count_tokens', headers: {}, model })).toBeNull()
})

const reply = (value: unknown) => ({ headers: new Headers(), bytes: Buffer.from(JSON.stringify(value)) })
const batch = (change: object) => ({
  id: 'msgbatch_1',
  processing_status: 'in_progress',
  request_counts: { processing: 2, succeeded: 0, errored: 0, canceled: 0, expired: 0 },
  created_at: '2026-08-19T14:44:51.493319+00:00',
  cancel_initiated_at: null,
  results_url: null,
  ...change,
})

test('reads a batch in any state, and concludes nothing from an unknown word', () => {
  const running = { id: 'msgbatch_1', state: 'running', doneCount: 0, outputs: [], problem: null }
  expect(jobs.readJob(reply(batch({})))).toEqual(running as never)
  expect(jobs.readJob(reply(batch({ processing_status: 'canceling' }))).state).toBe('running')
  expect(jobs.readJob(reply(batch({ processing_status: 'napping' }))).state).toBeNull()
  const ended = { processing_status: 'ended', results_url: 'https://anthropic.test/results' }
  expect(jobs.readJob(reply(batch(ended)))).toMatchObject({ state: 'completed', outputs: ['msgbatch_1'] })
  const cancelled = { ...ended, cancel_initiated_at: '2026-08-19T15:00:00Z' }
  expect(jobs.readJob(reply(batch(cancelled))).state).toBe('cancelled')
  const request_counts = { processing: 0, succeeded: 1, errored: 0, canceled: 0, expired: 1 }
  expect(jobs.readJob(reply(batch({ ...ended, request_counts })))).toMatchObject({
    state: 'expired',
    doneCount: 2,
  })
  expect(() => jobs.readJob(reply({}))).toThrow('no id')
})

test('finds the batches of a listing that have as many lines', () => {
  const other = batch({ id: 'msgbatch_2', request_counts: { processing: 3 } })
  const page = jobs.search?.read(reply({ data: [batch({}), other], has_more: true }), '2')
  expect(page?.found.map(({ reading }) => reading.id)).toEqual(['msgbatch_1'])
  expect(page?.found[0]?.createdAtMs).toBe(Date.parse('2026-08-19T14:44:51.493Z'))
  expect(page?.older).toBe('msgbatch_2')
})

test('reads lines with their bytes as they are, refusals with the status of a live one, and lines that were not run', () => {
  const lineOf = (result: object) =>
    jobs.readLine(Buffer.from(JSON.stringify({ custom_id: 'habc_0', result })))?.result
  const exact = '{"custom_id":"habc_0","result":{"type":"succeeded","message":{"n":12345678901234567890}}}'
  const answer = jobs.readLine(Buffer.from(exact))?.result
  expect(answer?.type === 'answer' && Buffer.from(answer.body).toString()).toBe('{"n":12345678901234567890}')
  const errorOf = (type: string) => ({
    type: 'errored',
    error: { type: 'error', error: { type, message: 'No.' } },
  })
  expect(lineOf(errorOf('invalid_request_error'))).toMatchObject({ type: 'answer', status: 400 })
  expect(lineOf(errorOf('overloaded_error'))).toMatchObject({ status: 529 })
  expect(lineOf(errorOf('new_error'))).toMatchObject({ status: 500 })
  expect(lineOf({ type: 'expired' })).toEqual({ type: 'not run', reason: 'batch_expired' })
  expect(lineOf({ type: 'canceled' })).toEqual({ type: 'not run', reason: 'batch_cancelled' })
  expect(lineOf({ type: 'errored' })).toEqual({ type: 'failed', message: '' })
  expect(jobs.readLine(Buffer.from('{"custom_id":"habc'))).toBeNull()
})
