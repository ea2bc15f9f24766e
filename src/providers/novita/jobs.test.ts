import { expect, test } from 'bun:test'
import OpenAI, { toFile } from 'openai'
import { expectSdkRequests, fileRequests, jobLines } from '../../../test/support/job-requests.ts'
import { novitaBatchJobs as jobs } from './jobs.ts'

const operation = '/v1/chat/completions'
const clientAt = (origin: string) =>
  new OpenAI({ apiKey: 'key', baseURL: `${origin}/openai/v1`, maxRetries: 0 })

test('asks for files and batches as the client of OpenAI does, which its pages name', async () => {
  const file = await toFile(Buffer.from(jobLines), 'headrace-1.jsonl', { type: 'application/jsonl' })
  const created = { input_file_id: 'file-1', endpoint: operation, completion_window: '24h' } as const
  const files = fileRequests(jobs)
  await expectSdkRequests('/openai/v1', [
    [files.upload, (at) => clientAt(at).files.create({ file, purpose: 'batch' })],
    [
      jobs.create({ nonce: 'abc', operation, fileId: 'file-1', lines: null }),
      (at) => clientAt(at).batches.create(created),
    ],
    [jobs.look('batch_1'), (at) => clientAt(at).batches.retrieve('batch_1')],
    [jobs.cancel?.('batch_1'), (at) => clientAt(at).batches.cancel('batch_1')],
    [jobs.download('file-2'), (at) => clientAt(at).files.content('file-2')],
    [files.remove, (at) => clientAt(at).files.delete('file-1')],
  ])
})

test('finds a batch by its file, and reads its states in capitals', () => {
  const reply = (value: unknown) => ({ headers: new Headers(), bytes: Buffer.from(JSON.stringify(value)) })
  const batch = { id: 'batch_1', status: 'PROGRESS', input_file_id: 'file-1', metadata: {}, errors: '' }
  expect(jobs.readJob(reply(batch)).state).toBe('running')
  expect(jobs.readJob(reply({ ...batch, status: 'COMPLETED' })).state).toBe('completed')
  const mark = jobs.search?.markOf({ nonce: 'abc', itemCount: 1, fileId: 'file-1' }) ?? ''
  const others = { ...batch, id: 'batch_2', input_file_id: 'file-2' }
  expect(
    jobs.search?.read(reply({ data: [others, batch] }), mark).found.map(({ reading }) => reading.id),
  ).toEqual(['batch_1'])
})

test('writes lines without an address, and runs chat alone', () => {
  const line = jobs.encodeLine({ id: 'h1_0', operation, body: Buffer.from('{"a":1}') })
  expect(Buffer.from(line).toString()).toBe('{"custom_id":"h1_0","body":{"a":1}}\n')
  for (const path of ['/responses', '/embeddings', '/anthropic/v1/messages'])
    expect(jobs.operationOf({ path, headers: {}, model: 'a' })).toBeNull()
})
