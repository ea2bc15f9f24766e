import { expect, test } from 'bun:test'
import Groq, { toFile } from 'groq-sdk'
import type { UpstreamRequest } from '../../canonical/upstream.ts'
import { sentByAdapter, sentTo } from '../../../test/support/sent-requests.ts'
import { groqBatchJobs as jobs } from './jobs.ts'

const lines = '{"custom_id":"h1_0"}\n'
const replies = [{ body: { id: 'x', data: [] } }]

test('uploads, creates, looks at, cancels, lists and deletes as the SDK of Groq does', async () => {
  const body = { contentLength: lines.length, open: () => new Blob([lines]).stream() }
  const file = await toFile(Buffer.from(lines), 'headrace-1.jsonl', { type: 'application/jsonl' })
  const operation = jobs.operationOf({ path: '/chat/completions', headers: {}, model: 'llama' })
  expect(operation).toBe('/v1/chat/completions')
  const metadata = { headrace_job: 'abc' }
  const created = jobs.create({ nonce: 'abc', operation: String(operation), fileId: 'file-1', lines: null })
  const removed = jobs.resources['groq.batch_input']?.remove?.('file-1')
  const uploaded = jobs.upload?.request('headrace-1', body, null)
  if (jobs.search === null || removed === undefined || uploaded === undefined)
    throw new Error('all are there')
  const listedFiles = jobs.resources['groq.batch_input']?.listing?.request(null)
  const calls: [UpstreamRequest | undefined, (client: Groq) => PromiseLike<unknown>][] = [
    [uploaded, (client) => client.files.create({ file, purpose: 'batch' })],
    [
      created,
      (client) =>
        client.batches.create({
          input_file_id: 'file-1',
          endpoint: '/v1/chat/completions',
          completion_window: '24h',
          metadata: metadata,
        }),
    ],
    [jobs.look('batch_1'), (client) => client.batches.retrieve('batch_1')],
    [jobs.cancel?.('batch_1'), (client) => client.batches.cancel('batch_1')],
    [jobs.search.request(null), (client) => client.batches.list()],
    [listedFiles, (client) => client.files.list()],
    [jobs.download('file-2'), (client) => client.files.content('file-2')],
    [removed, (client) => client.files.delete('file-1')],
  ]
  for (const [request, call] of calls) {
    if (request === undefined) throw new Error('every call has a request')
    const [sent] = await sentTo(replies, (origin) =>
      call(new Groq({ apiKey: 'key', baseURL: origin, maxRetries: 0 })),
    )
    expect(await sentByAdapter('/openai/v1', request)).toEqual(sent as never)
  }
})

test('runs nothing but chat', () => {
  for (const path of ['/responses', '/embeddings', '/audio/speech'])
    expect(jobs.operationOf({ path, headers: {}, model: 'llama' })).toBeNull()
})
