import { expect, test } from 'bun:test'
import { GoogleGenAI } from '@google/genai'
import type { UpstreamRequest } from '../../canonical/upstream.ts'
import { sentByAdapter, sentTo } from '../../../test/support/sent-requests.ts'
import { geminiBatchJobs as jobs } from './jobs.ts'

const lines = '{"key":"h1_0","request":{}}\n'
const model = 'gemini-2.5-flash'
const operation = '/models/gemini-2.5-flash:batchGenerateContent'
const clientOf = (baseUrl: string) => new GoogleGenAI({ apiKey: 'key', httpOptions: { baseUrl } })
const replyOf = (value: unknown, headers: Record<string, string> = {}) => ({
  headers: new Headers(headers),
  bytes: Buffer.from(JSON.stringify(value)),
})
const batch = (change: object = {}, more: object = {}) => ({
  name: 'batches/abc',
  metadata: {
    displayName: 'nonce',
    createTime: '2026-08-19T14:34:12.267870162Z',
    batchStats: { requestCount: '2', pendingRequestCount: '2' },
    state: 'BATCH_STATE_PENDING',
    name: 'batches/abc',
    ...change,
  },
  ...more,
})

test('creates, looks at, cancels, lists and deletes batches, and reads and deletes files, as the SDK of Google does', async () => {
  const created = jobs.create({ nonce: 'nonce', operation, fileId: 'files/in', lines: null })
  const [deleted] =
    jobs.resources['gemini.batch']?.remains?.read(replyOf(batch({ state: 'BATCH_STATE_CANCELLED' }))) ?? []
  const removed = jobs.resources['gemini.batch_input']?.remove?.('files/in')
  const calls: [UpstreamRequest | undefined, (client: GoogleGenAI) => PromiseLike<unknown>][] = [
    [
      created,
      (client) =>
        client.batches.create({ model, src: { fileName: 'files/in' }, config: { displayName: 'nonce' } }),
    ],
    [jobs.look('batches/abc'), (client) => client.batches.get({ name: 'batches/abc' })],
    [jobs.cancel?.('batches/abc'), (client) => client.batches.cancel({ name: 'batches/abc' })],
    [deleted, (client) => client.batches.delete({ name: 'batches/abc' })],
    [removed, (client) => client.files.delete({ name: 'files/in' })],
    [
      jobs.download('files/out'),
      (client) => client.files.download({ file: 'files/out', downloadPath: '/dev/null' }),
    ],
  ]
  for (const [request, call] of calls) {
    if (request === undefined) throw new Error('every call has a request')
    const [sent] = await sentTo([{ body: batch() }], (origin) => call(clientOf(origin)))
    const { method, path, body } = await sentByAdapter('/v1beta', request)
    expect([method, path, body ?? {}]).toEqual([sent?.method, sent?.path, sent?.body ?? {}] as never)
  }
  const [listed] = await sentTo([{ body: { operations: [] } }], (origin) =>
    clientOf(origin).batches.list({ config: { pageSize: 100 } }),
  )
  expect(`/v1beta${jobs.search?.request(null).path}`).toBe(String(listed?.path))
})

test('announces a file and sends it to the place that the answer names, as the SDK of Google does', async () => {
  const place = 'ORIGIN/upload/v1beta/files?upload_id=u1&upload_protocol=resumable'
  const begun = { body: {}, headers: { 'x-goog-upload-url': place } }
  const final = { body: { file: { name: 'files/in' } }, headers: { 'x-goog-upload-status': 'final' } }
  const [first, second] = await sentTo([begun, final], (origin) =>
    clientOf(origin).files.upload({
      file: new Blob([lines], { type: 'application/jsonl' }),
      config: { displayName: 'headrace-1' },
    }),
  )
  const body = { contentLength: lines.length, open: () => new Blob([lines]).stream() }
  const { upload } = jobs
  if (upload?.begin === undefined) throw new Error('a file is announced')
  const announced = await sentByAdapter('', upload.begin('headrace-1', body))
  expect([announced.method, announced.path]).toEqual([first?.method, first?.path] as never)
  expect(announced.body).toMatchObject({ file: { displayName: 'headrace-1' } })
  expect(first?.body).toMatchObject({ file: { displayName: 'headrace-1' } })
  const sent = await sentByAdapter(
    '',
    upload.request(
      'headrace-1',
      body,
      replyOf({}, { 'x-goog-upload-url': place.replace('ORIGIN', 'https://other.test') }),
    ),
  )
  expect([sent.method, sent.path]).toEqual([second?.method, second?.path] as never)
  // The SDK says of its bytes that they are JSON.
  expect(JSON.parse(String(sent.body))).toEqual(second?.body as never)
  expect(upload.readId(replyOf(final.body))).toBe('files/in')
  expect(() => upload.request('headrace-1', body, replyOf({}))).toThrow('named no place')
  expect(() => upload.readId(replyOf({ file: { name: 'files/../x' } }))).toThrow('named no file')
})

test('runs whole answers of one model, and no embeddings', () => {
  const at = (path: string) => jobs.operationOf({ path, headers: {}, model })
  expect(at('/models/gemini-2.5-flash:generateContent')).toBe(operation)
  expect(at('/models/gemini-2.5-flash:streamGenerateContent?alt=sse')).toBeNull()
  expect(at('/models/gemini-embedding-001:batchEmbedContents')).toBeNull()
})

test('reads every state by its last word, the counts that are written as text, and the file of results', () => {
  expect(jobs.readJob(replyOf(batch()))).toEqual({
    id: 'batches/abc',
    state: 'running',
    doneCount: 0,
    outputs: [],
    problem: null,
  })
  const states = { SUCCEEDED: 'completed', FAILED: 'failed', CANCELLED: 'cancelled', EXPIRED: 'expired' }
  for (const [word, state] of Object.entries(states)) {
    expect(jobs.readJob(replyOf(batch({ state: `BATCH_STATE_${word}` }))).state).toBe(state as never)
    expect(jobs.readJob(replyOf(batch({ state: `JOB_STATE_${word}` }))).state).toBe(state as never)
  }
  expect(jobs.readJob(replyOf(batch({ state: 'BATCH_STATE_UNSPECIFIED' }))).state).toBeNull()
  const batchStats = { requestCount: '2', successfulRequestCount: '2' }
  const ended = batch(
    { state: 'BATCH_STATE_SUCCEEDED', batchStats },
    { response: { responsesFile: 'files/out' } },
  )
  expect(jobs.readJob(replyOf(ended))).toMatchObject({ doneCount: 2, outputs: ['files/out'] })
  const full = batch({ state: 'BATCH_STATE_FAILED' }, { error: { code: 8, message: 'Quota.' } })
  expect(jobs.readJob(replyOf(full)).problem).toEqual({ code: '8', message: 'Quota.', isFull: true })
  expect(() => jobs.readJob(replyOf({ name: 'batches/../models' }))).toThrow('named no batch')
})

test('finds the batch of a nonce on a page', () => {
  const other = { ...batch({ displayName: 'other' }), name: 'batches/other' }
  const page = jobs.search?.read(replyOf({ operations: [other, batch()], nextPageToken: 't 1' }), 'nonce')
  expect(page?.found.map(({ reading }) => reading.id)).toEqual(['batches/abc'])
  expect(page?.found[0]?.createdAtMs).toBe(Date.parse('2026-08-19T14:34:12.267Z'))
  expect(jobs.search?.request(page?.older ?? null).path).toBe('/batches?pageSize=100&pageToken=t%201')
})

test('reads lines with their bytes as they are, refusals by their code, and lines that were not run', () => {
  const exact = '{"key":"h1_0","response":{"n":12345678901234567890}}'
  const answer = jobs.readLine(Buffer.from(exact))?.result
  expect(answer?.type === 'answer' && Buffer.from(answer.body).toString()).toBe('{"n":12345678901234567890}')
  const lineOf = (error: object) => jobs.readLine(Buffer.from(JSON.stringify({ key: 'h1_0', error })))?.result
  expect(lineOf({ code: 3, message: 'No.' })).toMatchObject({ type: 'answer', status: 400 })
  expect(lineOf({ code: 8, message: 'Slow.' })).toMatchObject({ status: 429 })
  expect(lineOf({ code: 503, message: 'Full.' })).toMatchObject({ status: 503 })
  expect(lineOf({ code: 1 })).toEqual({ type: 'not run', reason: 'batch_cancelled' })
  expect(lineOf({ message: 'What?' })).toEqual({ type: 'failed', message: 'What?' })
  expect(jobs.readLine(Buffer.from('{"key":"h1'))).toBeNull()
})
