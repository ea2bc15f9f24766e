import { expect, test } from 'bun:test'
import { AzureOpenAI, OpenAI, toFile } from 'openai'
import { addressOf } from '../../transport/credentials.ts'
import {
  expectSdkRequests,
  fileRequests,
  type JobCall,
  jobLines,
} from '../../../test/support/job-requests.ts'
import { azureBatchJobs as jobs } from './jobs.ts'

const apiVersion = '2025-04-01-preview'
const metadata = { headrace_job: 'abc' }

async function callsBy(clientAt: (origin: string) => OpenAI, operation: string): Promise<JobCall[]> {
  const file = await toFile(Buffer.from(jobLines), 'headrace-1.jsonl', { type: 'application/jsonl' })
  const body = { input_file_id: 'file-1', completion_window: '24h', metadata } as const
  // The SDK's type has only the names with a version.
  const endpoint = operation as '/v1/responses'
  const files = fileRequests(jobs)
  return [
    [files.upload, (at) => clientAt(at).files.create({ file, purpose: 'batch' })],
    [
      jobs.create({ nonce: 'abc', operation, fileId: 'file-1', lines: null }),
      (at) => clientAt(at).batches.create({ ...body, endpoint }),
    ],
    [jobs.look('batch_1'), (at) => clientAt(at).batches.retrieve('batch_1')],
    [jobs.cancel?.('batch_1'), (at) => clientAt(at).batches.cancel('batch_1')],
    [jobs.search?.request(null), (at) => clientAt(at).batches.list({ limit: 100 })],
    [jobs.search?.request('batch_9'), (at) => clientAt(at).batches.list({ limit: 100, after: 'batch_9' })],
    [jobs.download('file-2'), (at) => clientAt(at).files.content('file-2')],
    [files.list, (at) => clientAt(at).files.list({ purpose: 'batch', limit: 1_000, order: 'desc' })],
    [files.remove, (at) => clientAt(at).files.delete('file-1')],
  ]
}

test('asks a resource for its files and batches as the client of OpenAI does', async () => {
  const clientAt = (origin: string) =>
    new OpenAI({ apiKey: 'key', baseURL: `${origin}/openai/v1`, maxRetries: 0 })
  await expectSdkRequests('/openai/v1', await callsBy(clientAt, '/v1/responses'))
})

test('asks the older address for them as the client for Azure does', async () => {
  const clientAt = (endpoint: string) =>
    new AzureOpenAI({ apiKey: 'key', endpoint, apiVersion, maxRetries: 0 })
  // The version is the operator's, and travels with every request.
  const calls = await callsBy(clientAt, '/chat/completions')
  const versioned = calls.map(([request, call]): JobCall => {
    if (!request) return [request, call]
    return [
      {
        ...request,
        path: `${request.path}${request.path.includes('?') ? '&' : '?'}api-version=${apiVersion}`,
      },
      call,
    ]
  })
  await expectSdkRequests('/openai', versioned)
})

test('names the operation as its address does, and runs neither embeddings nor Claude', () => {
  const operationOf = (path: string) => jobs.operationOf({ path, headers: {}, model: 'a' })
  expect(operationOf('/chat/completions')).toBe('/v1/chat/completions')
  expect(operationOf('/responses')).toBe('/v1/responses')
  expect(operationOf('/openai/v1/responses')).toBe('/v1/responses')
  expect(operationOf('/openai/deployments/gpt-batch/chat/completions')).toBe('/chat/completions')
  for (const path of ['/embeddings', '/openai/deployments/a/embeddings', '/anthropic/v1/messages'])
    expect(operationOf(path)).toBeNull()
})

test('finds the files and batches of each form of the address', () => {
  const at = (baseUrl: string) =>
    addressOf(jobs.look('batch_1'), {
      baseUrl,
      client: undefined,
      credential: { reference: { id: 'a', isByok: false }, auth: { type: 'none' } },
    })
  const host = 'https://acme.openai.azure.com'
  expect(at(`${host}/openai/v1`)).toBe(`${host}/openai/v1/batches/batch_1`)
  expect(at(`${host}/openai`)).toBe(`${host}/openai/batches/batch_1`)
  expect(at(`${host}/models`)).toBe(`${host}/openai/v1/batches/batch_1`)
  expect(at(`${host}/anthropic`)).toBe(`${host}/openai/v1/batches/batch_1`)
})

test('reads dates and states as its pages show them', () => {
  const reply = (value: unknown) => ({ headers: new Headers(), bytes: Buffer.from(JSON.stringify(value)) })
  const batch = {
    id: 'batch_1',
    status: 'Validating',
    created_at: '2026-11-23T10:00:00Z',
    request_counts: { total: null, completed: null, failed: null },
    metadata,
  }
  const reading = { id: 'batch_1', state: 'running', doneCount: null, outputs: [], problem: null } as const
  expect(jobs.readJob(reply(batch))).toEqual(reading)
  const page = jobs.search?.read(reply({ data: [batch], has_more: false }), 'abc')
  expect(page).toEqual({
    found: [{ reading, createdAtMs: Date.parse('2026-11-23T10:00:00Z') }],
    oldestAtMs: Date.parse('2026-11-23T10:00:00Z'),
    older: null,
  })
  const full = { ...batch, status: 'Failed', errors: { data: [{ code: 'token_limit_exceeded' }] } }
  expect(jobs.readJob(reply(full))).toMatchObject({ state: 'failed', problem: { isFull: true } })
})
