import { expect, test } from 'bun:test'
import OpenAI, { toFile } from 'openai'
import type { UpstreamRequest } from '../../canonical/upstream.ts'
import { joinPieces } from '../../core/body.ts'
import { openAiBatchJobs as jobs } from '../../providers/openai/jobs.ts'

interface Seen {
  method: string
  path: string
  /** Of the headers, those that both sides choose: what is sent, and what is wanted. */
  types: (string | null)[]
  /** Of a form, its parts. */
  body: unknown
}

/** What the official client sends for these calls. */
async function sentByClient(call: (client: OpenAI) => PromiseLike<unknown>): Promise<Seen> {
  let seen: Seen | null = null
  const client = new OpenAI({
    apiKey: 'key',
    baseURL: 'http://openai.test/v1',
    maxRetries: 0,
    fetch: async (input, init) => {
      seen = await seenOf(new Request(input as string, init))
      return Response.json({ id: 'x', data: [] })
    },
  })
  await call(client)
  if (seen === null) throw new Error('nothing was sent')
  return seen
}

function sentByJobs({ method, path, headers, body }: UpstreamRequest): Promise<Seen> {
  let bytes: ReadableStream<Uint8Array> | Uint8Array<ArrayBuffer> | null = null
  if (body !== null) bytes = 'open' in body ? body.open() : joinPieces(body)
  return seenOf(new Request(`http://openai.test/v1${path}`, { method, headers, body: bytes }))
}

async function seenOf(request: Request): Promise<Seen> {
  const { pathname, search } = new URL(request.url)
  const type = request.headers.get('content-type') ?? ''
  const types = [type === '' ? null : (type.split(';')[0] ?? null), request.headers.get('accept')]
  const seen = { method: request.method, path: pathname + search, types }
  if (!type.startsWith('multipart/')) {
    const text = await request.text()
    return { ...seen, body: text === '' ? null : JSON.parse(text) }
  }
  const parts: Record<string, unknown> = {}
  for (const [name, value] of await request.formData())
    parts[name] = typeof value === 'string' ? value : [value.name, await value.text()]
  return { ...seen, body: parts }
}

const lines = '{"custom_id":"h1_0"}\n'

test('uploads as the official client does', async () => {
  const body = { contentLength: lines.length, open: () => new Blob([lines]).stream() }
  const file = await toFile(Buffer.from(lines), 'headrace-1.jsonl', { type: 'application/jsonl' })
  const expected = await sentByClient((client) => client.files.create({ file, purpose: 'batch' }))
  if (jobs.upload === null) throw new Error('OpenAI takes files')
  expect(await sentByJobs(jobs.upload.request('headrace-1', body, null))).toEqual(expected)
})

test('creates, looks at, cancels and lists jobs, and reads and deletes files, as the official client does', async () => {
  const created = { input_file_id: 'file-1', endpoint: '/v1/responses', completion_window: '24h' } as const
  const metadata = { headrace_job: 'abc' }
  const calls: [UpstreamRequest | undefined, (client: OpenAI) => PromiseLike<unknown>][] = [
    [
      jobs.create({ nonce: 'abc', operation: '/v1/responses', fileId: 'file-1', lines: null }),
      (client) => client.batches.create({ ...created, metadata }),
    ],
    [jobs.look('batch_1'), (client) => client.batches.retrieve('batch_1')],
    [jobs.cancel?.('batch_1'), (client) => client.batches.cancel('batch_1')],
    [jobs.download('file-2'), (client) => client.files.content('file-2')],
  ]
  if (jobs.search) {
    calls.push([jobs.search.request(null), (client) => client.batches.list({ limit: 100 })])
    calls.push([
      jobs.search.request('batch_9'),
      (client) => client.batches.list({ limit: 100, after: 'batch_9' }),
    ])
  }
  const remove = jobs.resources['openai.batch_input']?.remove
  if (remove) calls.push([remove('file-1'), (client) => client.files.delete('file-1')])
  expect(calls).toHaveLength(7)
  for (const [request, call] of calls) {
    if (request === undefined) throw new Error('every call has a request')
    expect(await sentByJobs(request)).toEqual(await sentByClient(call))
  }
})

const reply = (value: unknown) => ({ headers: new Headers(), bytes: Buffer.from(JSON.stringify(value)) })
const batch = (change: object) => ({
  id: 'batch_1',
  status: 'in_progress',
  errors: null,
  output_file_id: null,
  error_file_id: null,
  request_counts: { total: 2, completed: 1, failed: 0 },
  metadata: null,
  ...change,
})

test('reads a job in any state, both files of its end, and concludes nothing from an unknown word', () => {
  expect(jobs.readJob(reply(batch({})))).toEqual({
    id: 'batch_1',
    state: 'running',
    doneCount: 1,
    outputs: [],
    problem: null,
  })
  const ended = batch({ status: 'expired', output_file_id: 'file-o', error_file_id: 'file-e' })
  expect(jobs.readJob(reply(ended))).toMatchObject({ state: 'expired', outputs: ['file-o', 'file-e'] })
  expect(jobs.readJob(reply(batch({ status: 'napping' }))).state).toBeNull()
  const data = [{ code: 'token_limit_exceeded', message: 'Too much.', line: null }]
  const full = jobs.readJob(reply(batch({ status: 'failed', errors: { object: 'list', data } })))
  expect(full.problem).toEqual({ code: 'token_limit_exceeded', message: 'Too much.', isFull: true })
  expect(() => jobs.readJob(reply({}))).toThrow('no id')
  expect(() => jobs.readJob({ headers: new Headers(), bytes: Buffer.from('<html>') })).toThrow('no JSON')
})

test('finds a job by its nonce on a page, and says where the next page begins', () => {
  const entries = [
    batch({ metadata: { headrace_job: 'other' } }),
    batch({ id: 'batch_2', metadata: { headrace_job: 'abc' } }),
  ]
  const page = jobs.search?.read(reply({ data: entries, has_more: true }), 'abc')
  expect([page?.found.map(({ reading }) => reading.id), page?.older]).toEqual([['batch_2'], 'batch_2'])
  expect(jobs.search?.read(reply({ data: entries, has_more: false }), 'none')).toMatchObject({
    found: [],
    older: null,
  })
})

test('reads lines with their bytes as they are, refusals, lines that were not run, and null for broken ones', () => {
  const lineOf = (value: object) =>
    jobs.readLine(Buffer.from(JSON.stringify({ custom_id: 'h1_0', ...value })))
  const exact = Buffer.from(
    '{"custom_id":"h1_0","response":{"status_code":200,"body":{"n":12345678901234567890}},"error":null}',
  )
  const answer = jobs.readLine(exact)?.result
  expect(answer?.type === 'answer' && Buffer.from(answer.body).toString()).toBe('{"n":12345678901234567890}')
  expect(lineOf({ response: { status_code: 400, body: { error: {} } } })?.result).toMatchObject({
    status: 400,
  })
  expect(lineOf({ response: null, error: { code: 'batch_expired' } })?.result).toEqual({
    type: 'not run',
    reason: 'batch_expired',
  })
  expect(lineOf({ response: null, error: { code: 'x', message: 'No.' } })?.result).toEqual({
    type: 'failed',
    message: 'No.',
  })
  expect(jobs.readLine(Buffer.from('{"custom_id":"h1'))).toBeNull()
})
