import { expect, test } from 'bun:test'
import { Mistral } from '@mistralai/mistralai'
import type { UpstreamRequest } from '../../canonical/upstream.ts'
import { sentByAdapter, sentTo } from '../../../test/support/sent-requests.ts'
import { mistralBatchJobs as jobs } from './jobs.ts'

const id = '0b7e1a5c-4f1f-4c4f-8f8e-5a7f2f0d9c11'
const lines = '{"custom_id":"h1_0","body":{}}\n'
const job = (change: object = {}) => ({
  id,
  object: 'batch',
  input_files: ['file-1'],
  metadata: { headrace_job: 'abc' },
  endpoint: '/v1/chat/completions',
  model: 'mistral-small-latest',
  output_file: null,
  error_file: null,
  errors: [],
  outputs: null,
  status: 'RUNNING',
  created_at: 1_787_150_000,
  total_requests: 2,
  completed_requests: 1,
  succeeded_requests: 1,
  failed_requests: 0,
  ...change,
})
const replyOf = (value: unknown) => ({ headers: new Headers(), bytes: Buffer.from(JSON.stringify(value)) })

const operation = jobs.operationOf({ path: '/chat/completions', headers: {}, model: 'mistral-small-latest' })

test('uploads, creates, looks at, cancels, lists and deletes as the SDK of Mistral does', async () => {
  const body = { contentLength: lines.length, open: () => new Blob([lines]).stream() }
  const created = jobs.create({ nonce: 'abc', operation: String(operation), fileId: 'file-1', lines: null })
  const listedFiles = jobs.resources['mistral.batch_input']?.listing?.request(null)
  const removed = jobs.resources['mistral.batch_input']?.remove?.('file-1')
  const [deleted] =
    jobs.resources['mistral.batch']?.remains?.read(replyOf(job({ status: 'CANCELLED' }))) ?? []
  const file = { fileName: 'headrace-1.jsonl', content: new Blob([lines], { type: 'application/jsonl' }) }
  const calls: [UpstreamRequest | undefined, (client: Mistral) => PromiseLike<unknown>][] = [
    [
      jobs.upload?.request('headrace-1', body, null),
      (client) => client.files.upload({ file, purpose: 'batch' }),
    ],
    [
      created,
      (client) =>
        client.batch.jobs.create({
          inputFiles: ['file-1'],
          endpoint: '/v1/chat/completions',
          model: 'mistral-small-latest',
          metadata: { headrace_job: 'abc' },
        }),
    ],
    [jobs.look(id), (client) => client.batch.jobs.get({ jobId: id })],
    [jobs.cancel?.(id), (client) => client.batch.jobs.cancel({ jobId: id })],
    [deleted, (client) => client.batch.jobs.delete({ jobId: id })],
    [jobs.download('file-2'), (client) => client.files.download({ fileId: 'file-2' })],
    [removed, (client) => client.files.delete({ fileId: 'file-1' })],
  ]
  for (const [request, call] of calls) {
    if (request === undefined) throw new Error('every call has a request')
    // What the SDK makes of the answers does not matter here.
    const [sent] = await sentTo([{ body: job() }], (origin) =>
      call(new Mistral({ apiKey: 'key', serverURL: origin })).then(null, () => null),
    )
    // The SDK states a default: who of the workspace sees the file.
    const meant =
      sent?.type === 'multipart/form-data' ? { ...(sent.body as object), visibility: undefined } : sent?.body
    expect(await sentByAdapter('/v1', request)).toEqual({ ...sent, body: meant } as never)
  }
  // The SDK sends every parameter of a listing, the adapter only those that differ from their defaults.
  const [listed] = await sentTo([{ body: { object: 'list', data: [], total: 0 } }], (origin) =>
    new Mistral({ apiKey: 'key', serverURL: origin }).batch.jobs
      .list({ pageSize: 100, orderBy: '-created' })
      .then(null, () => null),
  )
  const asked = jobs.search === null ? '' : jobs.search.request(null).path
  const parametersOf = (path: string) => [...new URL(path, 'http://x').searchParams]
  expect(parametersOf(listed?.path ?? '')).toEqual(expect.arrayContaining(parametersOf(asked)))
  expect(listed?.path).toStartWith('/v1/batch/jobs?')
  expect(asked).toStartWith('/batch/jobs?')
  expect(listedFiles?.path).toBe('/files?page_size=100&purpose=batch')
})

test('a job has the model of its lines, which name it too', () => {
  expect(operation).toBe('/v1/chat/completions mistral-small-latest')
  expect(jobs.operationOf({ path: '/embeddings', headers: {}, model: 'mistral-embed' })).toBe(
    '/v1/embeddings mistral-embed',
  )
  expect(jobs.operationOf({ path: '/audio/speech', headers: {}, model: 'x' })).toBeNull()
  const line = jobs.encodeLine({ id: 'h1_0', operation: String(operation), body: Buffer.from('{"a":1}') })
  expect(Buffer.from(line).toString()).toBe('{"custom_id":"h1_0","body":{"a":1}}\n')
})

test.each([
  ['QUEUED', 'running'],
  ['RUNNING', 'running'],
  ['CANCELLATION_REQUESTED', 'running'],
  ['SUCCESS', 'completed'],
  ['FAILED', 'failed'],
  ['TIMEOUT_EXCEEDED', 'expired'],
  ['CANCELLED', 'cancelled'],
  ['NAPPING', null],
])('reads the state %s', (status, state) => {
  expect(jobs.readJob(replyOf(job({ status })))).toEqual({
    id,
    state: state as never,
    doneCount: 1,
    outputs: [],
    problem: null,
  })
})

test('reads both files of results, why a job failed, and the job that has a nonce', () => {
  const ended = job({ status: 'SUCCESS', output_file: 'file-o', error_file: 'file-e' })
  expect(jobs.readJob(replyOf(ended)).outputs).toEqual(['file-o', 'file-e'])
  const failed = job({ status: 'FAILED', errors: [{ message: 'No such model.', count: 2 }] })
  expect(jobs.readJob(replyOf(failed)).problem).toEqual({
    code: 'failed',
    message: 'No such model.',
    isFull: false,
  })
  const page = jobs.search?.read(replyOf({ data: [job({ metadata: null }), job()] }), 'abc')
  expect(page?.found).toEqual([{ reading: jobs.readJob(replyOf(job())), createdAtMs: 1_787_150_000_000 }])
  expect(page?.older).toBeNull()
})
