import { beforeAll, describe, expect, test } from 'bun:test'
import OpenAI, { toFile } from 'openai'
import { at, refusalOf, say, simulatorForTests } from '../testing.ts'

const simulator = simulatorForTests()
const clientOf = (mount: string) =>
  new OpenAI({ apiKey: 'test-key', baseURL: `${simulator.url(mount)}/v1`, maxRetries: 0 })

const lineOf = (index: number, more: object = {}) =>
  JSON.stringify({
    custom_id: `item-${index}`,
    method: 'POST',
    url: '/v1/chat/completions',
    body: say(`Say ${index}`),
    ...more,
  })

async function uploaded(client: OpenAI, lines: readonly string[]): Promise<OpenAI.FileObject> {
  const file = await toFile(Buffer.from(lines.join('\n')), 'lines.jsonl', { type: 'application/jsonl' })
  return client.files.create({ file, purpose: 'batch' })
}

async function created(
  client: OpenAI,
  lines: readonly string[],
  metadata: Record<string, string> = {},
): Promise<OpenAI.Batch> {
  const { id } = await uploaded(client, lines)
  return client.batches.create({
    input_file_id: id,
    endpoint: '/v1/chat/completions',
    completion_window: '24h',
    metadata,
  })
}

/** Looks until the batch has ended; with the statuses that were seen. */
async function ended(client: OpenAI, { id }: OpenAI.Batch) {
  const seen: string[] = []
  for (;;) {
    const batch = await client.batches.retrieve(id)
    if (seen.at(-1) !== batch.status) seen.push(batch.status)
    if (['completed', 'failed', 'expired', 'cancelled'].includes(batch.status)) return { batch, seen }
    expect(seen.length).toBeLessThan(10)
  }
}

async function linesOf(
  client: OpenAI,
  fileId: string | undefined | null,
): Promise<Record<string, unknown>[]> {
  if (fileId === undefined || fileId === null) return []
  const text = await (await client.files.content(fileId)).text()
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
}

const setFault = (mount: string, fault: string) =>
  simulator.admin('faults', {
    mount,
    rules: [{ match: { path: '/v1/batches', method: 'POST' }, fault }],
  })
const countsOf = async (mount: string) => at(await simulator.admin(`counters?mount=${mount}`), 'batches')
const five = [0, 1, 2, 3, 4].map((index) => lineOf(index))

describe('a batch with the official client', () => {
  let client: OpenAI
  beforeAll(() => {
    client = clientOf('whole')
  })

  test('goes from its file to the answer of each line', async () => {
    const begun = await created(client, five, { nonce: 'abc' })
    expect(begun).toMatchObject({
      object: 'batch',
      status: 'validating',
      output_file_id: null,
      metadata: { nonce: 'abc' },
      request_counts: { total: 0, completed: 0, failed: 0 },
    })
    expect(begun.expires_at).toBe(begun.created_at + 86_400)
    const { batch, seen } = await ended(client, begun)
    expect(seen).toEqual(['validating', 'in_progress', 'finalizing', 'completed'])
    expect(batch.request_counts).toEqual({ total: 5, completed: 5, failed: 0 })
    expect(batch.error_file_id).toBeNull()
    const lines = await linesOf(client, batch.output_file_id)
    expect(lines.map((line) => String(line['custom_id'])).toSorted()).toEqual(
      [0, 1, 2, 3, 4].map((index) => `item-${index}`),
    )
    for (const line of lines) {
      expect(line['error']).toBeNull()
      expect(at(line, 'response.status_code')).toBe(200)
      expect(at(line, 'response.body.object')).toBe('chat.completion')
    }
    const sum = lines.reduce(
      (tokens, line) => tokens + Number(at(line, 'response.body.usage.prompt_tokens')),
      0,
    )
    expect(batch.usage?.input_tokens).toBe(sum)
  })

  test('is found in the list by its metadata, page by page', async () => {
    const many = [1, 2, 3].map((index) => created(client, five, { nonce: `page-${index}` }))
    await Promise.all(many)
    const found: string[] = []
    for await (const batch of client.batches.list({ limit: 1 })) found.push(String(batch.metadata?.['nonce']))
    expect(found).toEqual(expect.arrayContaining(['page-1', 'page-2', 'page-3', 'abc']))
  })

  test('leaves files that are listed by their purpose, and that go when they are deleted', async () => {
    const file = await uploaded(client, five)
    const names: string[] = []
    for await (const each of client.files.list({ purpose: 'batch' })) names.push(each.id)
    expect(names).toContain(file.id)
    expect(await client.files.delete(file.id)).toEqual({ id: file.id, object: 'file', deleted: true })
    expect(await refusalOf(client.files.retrieve(file.id))).toMatchObject({ status: 404 })
  })

  test('has lines that the operation refuses in its error file', async () => {
    const lines = [lineOf(0), lineOf(1, { body: { model: 'gpt-4o-mini', messages: [], nonsense: 1 } })]
    const { batch } = await ended(client, await created(client, lines))
    expect(batch.request_counts).toEqual({ total: 2, completed: 1, failed: 1 })
    const [refused] = await linesOf(client, batch.error_file_id)
    expect(at(refused, 'response.status_code')).toBe(400)
    expect(at(refused, 'response.body.error.type')).toBe('invalid_request_error')
  })
})

describe('a batch that does not complete', () => {
  test.each([
    ['broken JSON', ['{"custom_id":'], 'invalid_json_line'],
    ['a line for another operation', [lineOf(0, { url: '/v1/embeddings' })], 'mismatched_url'],
    ['an id that comes twice', [lineOf(0), lineOf(0)], 'duplicate_custom_id'],
    ['two models', [lineOf(0), lineOf(1, { body: say('x', { model: 'gpt-4o' }) })], 'model_mismatch'],
    ['no line at all', ['', ''], 'empty_file'],
  ])('fails with %s', async (_, lines, code) => {
    const client = clientOf('failing')
    const { batch, seen } = await ended(client, await created(client, lines))
    expect(seen).toEqual(['validating', 'failed'])
    expect(batch.errors?.data?.[0]?.code).toBe(code)
    expect(batch.output_file_id).toBeNull()
  })

  test('fails with the code that a fault names', async () => {
    const client = clientOf('limited')
    await setFault('limited', 'batch_failed=token_limit_exceeded')
    const { batch } = await ended(client, await created(client, five))
    expect(batch.errors?.data?.[0]?.code).toBe('token_limit_exceeded')
  })

  test('has what was finished when it is cancelled, and names the rest', async () => {
    const client = clientOf('cancelled')
    const begun = await created(client, five)
    await client.batches.retrieve(begun.id)
    expect((await client.batches.cancel(begun.id)).status).toBe('cancelling')
    const { batch, seen } = await ended(client, begun)
    expect(seen).toEqual(['cancelling', 'cancelled'])
    const done = await linesOf(client, batch.output_file_id)
    const rest = await linesOf(client, batch.error_file_id)
    expect([done.length, rest.length]).toEqual([3, 2])
    expect(at(rest[0], 'error.code')).toBe('batch_cancelled')
    expect(await refusalOf(client.batches.cancel(begun.id))).toMatchObject({ status: 409 })
  })

  test('keeps its partial output when it expires', async () => {
    const client = clientOf('expired')
    await setFault('expired', 'batch_end=expired,batch_looks=5')
    const { batch } = await ended(client, await created(client, five))
    expect(batch.status).toBe('expired')
    expect(await linesOf(client, batch.output_file_id)).toHaveLength(3)
    expect(at((await linesOf(client, batch.error_file_id))[0], 'error.code')).toBe('batch_expired')
  })
})

describe('an output file with faults', () => {
  test('lacks lines, has some twice, some of nobody and some that break off', async () => {
    const client = clientOf('spoiled')
    await setFault(
      'spoiled',
      'batch_lines_lost,batch_lines_doubled,batch_lines_foreign,batch_lines_malformed',
    )
    const { batch } = await ended(client, await created(client, five))
    const text = await (await client.files.content(String(batch.output_file_id))).text()
    const ids = text
      .trim()
      .split('\n')
      .map((line) => {
        try {
          return String(at(JSON.parse(line), 'custom_id'))
        } catch {
          return 'broken'
        }
      })
    expect(ids).toHaveLength(6)
    expect(ids.filter((id) => id === 'broken')).toHaveLength(1)
    expect(ids.filter((id) => id.startsWith('foreign'))).toHaveLength(1)
    expect(new Set(ids).size).toBeLessThan(ids.length + 1)
    expect(await countsOf('spoiled')).toMatchObject({ batches_made: 1, lines_run: 5 })
  })

  test('is lost on its way, or refused, by rules for a part of the path', async () => {
    const client = clientOf('unlucky')
    await simulator.admin('faults', {
      mount: 'unlucky',
      rules: [
        { match: { path_contains: '/batches/', method: 'GET' }, fault: 'status=429;retry_after=7', times: 1 },
        { match: { path: '/batches', method: 'POST' }, fault: 'cut_after=0', times: 1 },
      ],
    })
    expect(await refusalOf(created(client, five, { nonce: 'lost' }))).toBeInstanceOf(Error)
    const found = (await client.batches.list()).data.find(({ metadata }) => metadata?.['nonce'] === 'lost')
    expect(await refusalOf(client.batches.retrieve(String(found?.id)))).toMatchObject({ status: 429 })
    expect(await client.batches.retrieve(String(found?.id))).toMatchObject({ status: 'validating' })
  })
})
