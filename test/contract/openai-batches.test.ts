import { afterAll, expect, test } from 'bun:test'
import OpenAI, { toFile } from 'openai'
import { at, startTestGateway, until } from '../support/gateway.ts'

// OpenAI's files and batches, as its own client uses them.

const gateway = await startTestGateway({ credits: '5' })
const origin = gateway.listen().replace(/\/v1$/, '')
afterAll(() => gateway.stop())
const clientOf = (apiKey: string) => new OpenAI({ baseURL: `${origin}/openai/v1`, apiKey, maxRetries: 0 })
const client = clientOf(gateway.key)

const model = 'openai/gpt-4o-mini'
const endpoint = '/v1/chat/completions'
const line = (customId: string, text: string, more: object = {}) =>
  JSON.stringify({
    custom_id: customId,
    method: 'POST',
    url: endpoint,
    body: { model, messages: [{ role: 'user', content: text }] },
    ...more,
  })

function uploaded(lines: readonly string[], name = 'input.jsonl') {
  return toFile(Buffer.from(lines.join('\n')), name).then((file) =>
    client.files.create({ file, purpose: 'batch' }),
  )
}

async function made(lines: readonly string[], more: object = {}) {
  const { id } = await uploaded(lines)
  return client.batches.create({ input_file_id: id, endpoint, completion_window: '24h', ...more })
}

function ended(id: string) {
  return until(
    () => client.batches.retrieve(id),
    ({ status }) => ['completed', 'failed', 'cancelled', 'expired'].includes(status),
    60_000,
  )
}

const linesOf = async (id: string) => {
  const text = await (await client.files.content(id)).text()
  return text
    .trim()
    .split('\n')
    .map((each) => JSON.parse(each) as Record<string, unknown>)
}

test('a file becomes a batch, and its results become files, with OpenAI’s own client', async () => {
  await gateway.admin('faults', [
    { match: { body_contains: 'too long for anybody' }, fault: 'context_length' },
  ])
  const input = await uploaded([
    line('a', 'good morning'),
    '',
    line('b', 'too long for anybody'),
    line('c', 'good night'),
  ])
  expect(input).toMatchObject({
    object: 'file',
    purpose: 'batch',
    filename: 'input.jsonl',
    status: 'processed',
  })
  expect(input.id).toStartWith('hrfile_')
  expect((input.expires_at ?? 0) - input.created_at).toBe(2_592_000)
  const created = await client.batches.create({
    input_file_id: input.id,
    endpoint,
    completion_window: '24h',
    metadata: { job: 'nightly' },
  })
  expect(created).toMatchObject({
    object: 'batch',
    input_file_id: input.id,
    endpoint,
    completion_window: '24h',
    status: 'validating',
    errors: null,
    output_file_id: null,
    error_file_id: null,
    metadata: { job: 'nightly' },
  })
  const batch = await ended(created.id)
  expect(batch).toMatchObject({ status: 'completed', request_counts: { total: 3, completed: 2, failed: 1 } })
  expect(batch.completed_at).toBeGreaterThanOrEqual(created.created_at)
  expect(batch.usage?.total_tokens).toBeGreaterThan(0)
  expect(batch.usage?.input_tokens).toBeGreaterThan(0)
  const output = await linesOf(batch.output_file_id ?? '')
  expect(output.map((each) => each['custom_id'])).toEqual(['a', 'c'])
  expect(output[0]).toMatchObject({
    response: { status_code: 200, body: { object: 'chat.completion' } },
    error: null,
  })
  const errors = await linesOf(batch.error_file_id ?? '')
  expect(errors).toMatchObject([
    { custom_id: 'b', response: null, error: { code: 'context_length_exceeded' } },
  ])
  for (const id of [batch.output_file_id ?? '', batch.error_file_id ?? '']) {
    const { bytes, purpose } = await client.files.retrieve(id)
    expect(purpose).toBe('batch_output')
    expect((await (await client.files.content(id)).arrayBuffer()).byteLength).toBe(bytes)
  }
  const own = await gateway.get(`/batches/${created.id}`)
  expect((at(own.json, 'results') as { custom_id: string }[]).map(({ custom_id: id }) => id)).toEqual([
    'a',
    'b',
    'c',
  ])
  expect(await client.files.delete(batch.output_file_id ?? '')).toMatchObject({
    object: 'file',
    deleted: true,
  })
  const gone = await client.files.content(batch.output_file_id ?? '').catch((error: unknown) => error)
  expect(at(gone, 'status')).toBe(404)
})

const faulty = [
  ['no JSON', [line('a', 'x'), '{"custom_id":'], 'invalid_json_line', 2],
  ['one id twice', [line('a', 'x'), line('a', 'y')], 'duplicate_custom_id', 2],
  ['another address', [line('a', 'x', { url: '/v1/responses' })], 'mismatched_url', 1],
  [
    'two models',
    [line('a', 'x'), '', line('b', 'x', { body: { model: 'openai/gpt-4o', messages: [] } })],
    'model_mismatch',
    3,
  ],
  [
    'an unknown model',
    [line('a', 'x', { body: { model: 'nobody/none', messages: [] } })],
    'model_not_found',
    1,
  ],
  ['no line', [''], 'empty_file', null],
] as const

for (const [name, lines, code, number] of faulty)
  test(`a file with ${name} makes a batch that has failed, and says in which line`, async () => {
    const batch = await made(lines)
    expect(batch).toMatchObject({ status: 'failed', output_file_id: null, error_file_id: null })
    expect(batch.errors?.data).toMatchObject([{ code, line: number }])
    expect(await client.batches.retrieve(batch.id)).toEqual(batch)
    const balance = await gateway.get('/credits')
    expect(at(balance.json, 'data.total_usage')).toBeDefined()
  })

test('batches are listed in pages, and one that runs is cancelled', async () => {
  await gateway.admin('faults', [{ match: { body_contains: 'slow' }, fault: 'latency=1000' }])
  const { id } = await made(Array.from({ length: 60 }, (_, place) => line(`item-${place}`, 'slow tide')))
  const canceling = await client.batches.cancel(id)
  expect(['cancelling', 'cancelled']).toContain(canceling.status)
  const batch = await ended(id)
  expect(batch.status).toBe('cancelled')
  const closed = await linesOf(batch.error_file_id ?? '')
  expect(closed.every((each) => at(each, 'error.code') === 'batch_cancelled')).toBe(true)
  expect(closed.length).toBe(batch.request_counts?.failed ?? -1)
  const listed: string[] = []
  for await (const each of client.batches.list({ limit: 2 })) listed.push(each.id)
  expect(listed[0]).toBe(id)
  expect(new Set(listed).size).toBe(listed.length)
})

test('a batch whose requests came with it is read here too, with its results as files', async () => {
  const inline = await gateway.post('/batches', {
    endpoint,
    model,
    requests: [{ custom_id: 'x', body: { messages: [{ role: 'user', content: 'hello' }] } }],
  })
  const batch = await ended(String(inline.json['id']))
  expect(batch.input_file_id).toBeNull()
  expect((await linesOf(batch.output_file_id ?? '')).map((each) => each['custom_id'])).toEqual(['x'])
  expect((await gateway.post('/batches', { input_file_id: 'hrfile_1', endpoint })).status).toBe(400)
})

test('an Idempotency-Key makes one batch of a file, also of a faulty one, and holds for the same body alone', async () => {
  const send = async (body: object, key: string) => {
    const headers = { authorization: `Bearer ${gateway.key}`, 'idempotency-key': key }
    const json = { ...headers, 'content-type': 'application/json' }
    const answer = await fetch(`${origin}/openai/v1/batches`, {
      method: 'POST',
      headers: json,
      body: JSON.stringify(body),
    })
    const id = at(await answer.json(), 'id')
    return { status: answer.status, id, replayed: answer.headers.get('idempotent-replayed') }
  }
  for (const [key, lines] of [
    ['whole', [line('a', 'x')]],
    ['faulty', ['{']],
  ] as const) {
    const body = { input_file_id: (await uploaded(lines)).id, endpoint, completion_window: '24h' }
    const first = await send(body, key)
    expect(first).toMatchObject({ status: 200, replayed: null })
    expect(await send(body, key)).toEqual({ ...first, replayed: 'true' })
    expect((await send({ ...body, metadata: { job: 'other' } }, key)).status).toBe(422)
    const other = await send(body, `${key}-2`)
    expect(other.status).toBe(200)
    expect(other.id).not.toBe(first.id)
  }
})

test('a repetition with its Idempotency-Key gets the batch of a file that was deleted since, and leaves the key free where there is no file', async () => {
  const { id } = await uploaded([line('a', 'x')])
  const send = (fileId: string) =>
    fetch(`${origin}/openai/v1/batches`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${gateway.key}`,
        'content-type': 'application/json',
        'idempotency-key': 'of-a-deleted-file',
      },
      body: JSON.stringify({ input_file_id: fileId, endpoint, completion_window: '24h' }),
    })
  expect((await send('hrfile_none')).status).toBe(404)
  const first = await send(id)
  expect([first.status, first.headers.get('idempotent-replayed')]).toEqual([200, null])
  const madeId = at(await first.json(), 'id')
  await client.files.delete(id)
  const again = await send(id)
  expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([200, 'true'])
  expect(at(await again.json(), 'id')).toBe(madeId)
})

test('a batch of a file takes a callback_url, and refuses an address that is not public', async () => {
  const created = await made([line('a', 'x')], { callback_url: 'https://1.1.1.1/done' })
  expect(created.status).toBe('validating')
  const refused = await made([line('a', 'x')], { callback_url: 'http://127.0.0.1/done' }).catch(
    (error: unknown) => error,
  )
  expect(at(refused, 'status')).toBe(400)
  expect(at(refused, 'message')).toContain('callback_url')
})

test('a file belongs to its organization, and is gone once it is deleted', async () => {
  const { id } = await uploaded([line('a', 'x')], 'mine.jsonl')
  const { key } = await gateway.addOrganization()
  const other = clientOf(key)
  const statusOf = (asked: Promise<unknown>) =>
    asked.then(
      () => 200,
      (error: unknown) => at(error, 'status'),
    )
  expect(await statusOf(other.files.retrieve(id))).toBe(404)
  expect(await statusOf(other.files.content(id))).toBe(404)
  expect(await statusOf(other.files.delete(id))).toBe(404)
  expect((await other.files.list()).data).toEqual([])
  expect(
    await statusOf(other.batches.create({ input_file_id: id, endpoint, completion_window: '24h' })),
  ).toBe(404)
  expect((await client.files.list({ purpose: 'batch', limit: 1 })).data.map((file) => file.id)).toEqual([id])
  expect(await (await client.files.content(id)).text()).toBe(line('a', 'x'))
  await client.files.delete(id)
  expect(await statusOf(client.files.retrieve(id))).toBe(404)
  expect(
    await statusOf(client.batches.create({ input_file_id: id, endpoint, completion_window: '24h' })),
  ).toBe(404)
})

test('an upload without a purpose or a file is refused in OpenAI’s envelope', async () => {
  const form = new FormData()
  form.append('file', new Blob(['{}']), 'x.jsonl')
  const send = (body: FormData) =>
    fetch(`${origin}/openai/v1/files`, {
      method: 'POST',
      headers: { authorization: `Bearer ${gateway.key}` },
      body,
    })
  const first = await send(form)
  expect([first.status, at(await first.json(), 'error.param')]).toEqual([400, 'purpose'])
  const empty = new FormData()
  empty.append('purpose', 'batch')
  const second = await send(empty)
  expect([second.status, at(await second.json(), 'error.param')]).toEqual([400, 'file'])
})
