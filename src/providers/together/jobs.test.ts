import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Together from 'together-ai'
import { expectSdkRequests, fileRequests, jobFile, jobLines } from '../../../test/support/job-requests.ts'
import { sentByAdapter, type SentRequest } from '../../../test/support/sent-requests.ts'
import { togetherBatchJobs as jobs } from './jobs.ts'

const operation = '/v1/chat/completions'
const clientAt = (baseURL: string) => new Together({ apiKey: 'key', baseURL, maxRetries: 0 })

test('creates, looks at, cancels and lists batches, and lists, reads and deletes files, as the SDK of Together does', async () => {
  const files = { ...fileRequests(jobs), upload: null }
  await expectSdkRequests('', [
    [
      jobs.create({ nonce: 'abc', operation, fileId: 'file-1', lines: null }),
      (at) =>
        clientAt(at).batches.create({
          input_file_id: 'file-1',
          endpoint: operation,
          completion_window: '24h',
        }),
    ],
    [jobs.look('batch_1'), (at) => clientAt(at).batches.retrieve('batch_1')],
    [jobs.cancel?.('batch_1'), (at) => clientAt(at).batches.cancel('batch_1')],
    [jobs.search?.request(null), (at) => clientAt(at).batches.list()],
    [files.list, (at) => clientAt(at).files.list()],
    [jobs.download('file-2'), (at) => clientAt(at).files.content('file-2')],
    [files.remove, (at) => clientAt(at).files.delete('file-1')],
  ])
})

test('announces a file and sends it, without the key, to the place of the redirect, as the SDK of Together does', async () => {
  const seen: (SentRequest & { authorization: string | null })[] = []
  const folder = mkdtempSync(join(tmpdir(), 'together-upload-'))
  const path = join(folder, 'headrace-1.jsonl')
  writeFileSync(path, jobLines)
  const answer = async (input: Request): Promise<Response> => {
    const { pathname, searchParams } = new URL(input.url)
    searchParams.sort()
    const type = input.headers.get('content-type')
    const asked = searchParams.size === 0 ? pathname : `${pathname}?${searchParams.toString()}`
    const body = await input.text()
    const authorization = input.headers.get('authorization')
    seen.push({ method: input.method, path: asked, type, body, authorization })
    const location = 'https://storage.test/stored?signature=a%2Bb'
    if (pathname === '/v1/files' && input.method === 'POST')
      return new Response('', { status: 302, headers: { location, 'x-together-file-id': 'file-1' } })
    return Response.json({ id: 'file-1' })
  }
  // The SDK sends uploads to its own address, whatever address its client has.
  const usual = globalThis.fetch
  const ours = async (input: string | URL | Request, init?: RequestInit & { body?: unknown }) => {
    const { body } = init ?? {}
    const isFile = typeof body === 'object' && body !== null && 'path' in body
    const bytes = isFile ? await Array.fromAsync(body as unknown as AsyncIterable<Uint8Array>) : []
    const sent = isFile ? { body: Buffer.concat(bytes) } : {}
    return answer(new Request(input as string, { ...init, ...sent }))
  }
  globalThis.fetch = Object.assign(ours, usual)
  try {
    await new Together({ apiKey: 'key', maxRetries: 0, fetch: ours }).files.upload(path, 'batch-api', false)
  } finally {
    globalThis.fetch = usual
    rmSync(folder, { recursive: true, force: true })
  }
  const [announced, sent] = seen
  const { upload } = jobs
  if (upload?.begin === undefined) throw new Error('a file is announced')
  const begin = await sentByAdapter('/v1', upload.begin('headrace-1', jobFile))
  const withoutFolder = (text: unknown) => String(text).replaceAll(encodeURIComponent(`${folder}/`), '')
  expect([begin.method, begin.path, begin.type, begin.body]).toEqual([
    'POST',
    withoutFolder(announced?.path),
    String(announced?.type),
    withoutFolder(announced?.body),
  ])
  const headers = new Headers({
    location: 'https://storage.test/stored?signature=a%2Bb',
    'x-together-file-id': 'file-1',
  })
  const begun = { headers, bytes: new Uint8Array(0) }
  const put = upload.request('headrace-1', jobFile, begun)
  expect(put).toMatchObject({ method: 'PUT', at: 'https://storage.test/stored?signature=a%2Bb' })
  expect([sent?.method, sent?.type, sent?.body, sent?.authorization]).toEqual([
    put.method,
    String(put.headers['content-type']),
    jobLines,
    null,
  ])
  expect(upload.readId(begun, begun)).toBe('file-1')
  expect(upload.finish?.('file-1')).toMatchObject({ method: 'POST', path: '/files/file-1/preprocess' })
  const nowhere = { headers: new Headers(), bytes: new Uint8Array(0) }
  expect(() => upload.request('headrace-1', jobFile, nowhere)).toThrow('named no place')
  expect(() => upload.readId(nowhere, nowhere)).toThrow('named no file')
})

const reply = (value: unknown) => ({ headers: new Headers(), bytes: Buffer.from(JSON.stringify(value)) })
const job = (change: object) => ({ id: '01-ab', status: 'IN_PROGRESS', input_file_id: 'file-1', ...change })

test('reads the batch inside the answer to its creation and alone, and finds it by its file in a bare list', () => {
  expect(jobs.readJob(reply({ job: job({}), warning: '' })).state).toBe('running')
  const ended = job({ status: 'COMPLETED', output_file_id: 'file-o', error_file_id: 'file-e' })
  expect(jobs.readJob(reply(ended))).toMatchObject({ state: 'completed', outputs: ['file-o', 'file-e'] })
  expect(jobs.readJob(reply(job({ status: 'FAILED', error: 'no model' })))).toMatchObject({
    state: 'failed',
    problem: { message: 'no model', isFull: false },
  })
  expect(jobs.readJob(reply(job({ status: 'NAPPING' }))).state).toBeNull()
  const mark = jobs.search?.markOf({ nonce: 'abc', itemCount: 2, fileId: 'file-1' }) ?? ''
  const page = jobs.search?.read(reply([job({ id: '02', input_file_id: 'file-2' }), job({})]), mark)
  expect(page?.found.map(({ reading }) => reading.id)).toEqual(['01-ab'])
})
