import { OpenRouter } from '@openrouter/sdk'
import { afterAll, beforeEach, expect, test } from 'bun:test'
import OpenAI, { toFile } from 'openai'
import { at, customProvider, startTestGateway, until } from '../support/gateway.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'

// The contract's files, as its own client uses them, and calls that name them: their providers get the bytes.

const png = Buffer.concat([Buffer.from('\u0089PNG\r\n\u001a\n', 'latin1'), Buffer.alloc(40, 1)])
const pdf = Buffer.from('%PDF-1.7\nwater\n%%EOF')
const claude = 'anthropic/claude-sonnet-4-5'

const upstream = startScriptedUpstream()
const gateway = await startTestGateway({
  providers: () => [
    {
      preset: 'anthropic',
      base_url: `${upstream.url}/v1`,
      api_key: 'a-key-of-the-test',
      weight: 1,
      discover: false,
      models: [{ id: claude, prices: { input_per_million: '1', output_per_million: '1' } }],
    },
    customProvider(upstream.url, [{ id: 'acme/large' }]),
    {
      preset: 'openai',
      base_url: `${upstream.url}/v1`,
      api_key: 'a-key-of-the-test',
      weight: 1,
      discover: false,
      models: [{ id: 'openai/gpt-4o-mini' }],
    },
  ],
})
const client = new OpenRouter({ serverURL: gateway.listen(), apiKey: gateway.key })
afterAll(async () => {
  await gateway.stop()
  await upstream.stop()
})

beforeEach(() => {
  upstream.seen.length = 0
  upstream.answer(({ path }) => {
    const usage = { input_tokens: 20, output_tokens: 2, total_tokens: 22 }
    if (path.endsWith('/messages')) {
      const content = [{ type: 'text', text: 'Seen.' }]
      const stop = { stop_reason: 'end_turn', stop_sequence: null }
      return Response.json({
        id: 'm',
        type: 'message',
        role: 'assistant',
        model: 'c',
        content,
        ...stop,
        usage,
      })
    }
    if (path.endsWith('/responses')) {
      const content = [{ type: 'output_text', text: 'Seen.', annotations: [] }]
      const output = [{ id: 'msg_1', type: 'message', role: 'assistant', status: 'completed', content }]
      return Response.json({ id: 'r', object: 'response', status: 'completed', model: 'm', output, usage })
    }
    const choices = [{ index: 0, message: { role: 'assistant', content: 'Seen.' }, finish_reason: 'stop' }]
    const tokens = { prompt_tokens: 20, completion_tokens: 2, total_tokens: 22 }
    return Response.json({ id: 'c', object: 'chat.completion', model: 'm', choices, usage: tokens })
  })
})

const sent = () =>
  JSON.parse(Buffer.from(upstream.seen.at(-1)?.body ?? '{}', 'latin1').toString()) as Record<string, unknown>
const toDataUrl = (type: string, bytes: Uint8Array | string) =>
  `data:${type};base64,${Buffer.from(bytes).toString('base64')}`

async function uploaded(bytes: Uint8Array | string, name: string): Promise<string> {
  const file = await client.files.upload({ requestBody: { file: new File([Buffer.from(bytes)], name) } })
  return String((file as { id?: string }).id)
}

const ask = (model: string, content: unknown) =>
  gateway.post('/chat/completions', { model, messages: [{ role: 'user', content }] })
const askClaude = (content: unknown) =>
  gateway.post('/messages', { model: claude, max_tokens: 9, messages: [{ role: 'user', content }] })
const askInput = (model: string, content: unknown) =>
  gateway.post('/responses', { model, input: [{ role: 'user', content }] })

test('the contract’s client uploads, lists, reads and deletes a file', async () => {
  const upload = await client.files.upload({ requestBody: { file: new File([pdf], 'named.txt') } })
  expect(upload).toMatchObject({
    shape: 'openrouter',
    type: 'file',
    filename: 'named.txt',
    mimeType: 'application/pdf',
    sizeBytes: pdf.length,
    downloadable: false,
  })
  const { id } = upload as { id: string }
  expect(id).toStartWith('hrfile_')
  expect(await client.files.retrieve({ fileId: id })).toEqual(upload)
  const second = await uploaded(png, 'second.png')
  const third = await uploaded('water', 'third.txt')
  const listed: unknown[] = []
  for await (const page of await client.files.list({ limit: 2 })) {
    const { result } = page as { result: { shape: string; data: { id: string }[] } }
    expect(result.shape).toBe('openrouter')
    listed.push(...result.data.map((file) => file.id))
  }
  expect(listed).toEqual([id, second, third])
  expect(await client.files.delete({ fileId: second })).toMatchObject({
    shape: 'openrouter',
    type: 'file_deleted',
    id: second,
  })
  expect((await gateway.get(`/files/${second}`)).status).toBe(404)
  const refused = await gateway.get(`/files/${id}/content`)
  expect([refused.status, at(refused.json, 'error.message')]).toEqual([
    400,
    'An uploaded file is not downloadable here; name its id in a call, or read it below /openai/v1.',
  ])
})

test('the same files have OpenAI’s form below its address, and results of batches are downloaded from both', async () => {
  const openai = new OpenAI({
    baseURL: gateway.listen().replace(/\/v1$/, '/openai/v1'),
    apiKey: gateway.key,
    maxRetries: 0,
  })
  const id = await uploaded(pdf, 'report.pdf')
  expect(await openai.files.retrieve(id)).toMatchObject({ filename: 'report.pdf', purpose: 'user_data' })
  expect(Buffer.from(await (await openai.files.content(id)).arrayBuffer())).toEqual(pdf)
  const body = { model: 'acme/large', messages: [{ role: 'user', content: 'hi' }] }
  const line = { custom_id: 'a', method: 'POST', url: '/v1/chat/completions', body }
  const input = await openai.files.create({
    file: await toFile(Buffer.from(JSON.stringify(line)), 'in.jsonl'),
    purpose: 'batch',
  })
  const made = await openai.batches.create({
    input_file_id: input.id,
    endpoint: '/v1/chat/completions',
    completion_window: '24h',
  })
  const ended = await until(
    () => openai.batches.retrieve(made.id),
    ({ status }) => status === 'completed',
    30_000,
  )
  const fileId = String(ended.output_file_id)
  expect(await client.files.retrieve({ fileId })).toMatchObject({
    downloadable: true,
    mimeType: 'application/x-ndjson',
  })
  const lines = await new Response(await client.files.download({ fileId })).text()
  expect(JSON.parse(lines)).toMatchObject({ custom_id: 'a', response: { status_code: 200 } })
  const named = await ask('acme/large', [{ type: 'file', file: { file_id: fileId } }])
  expect([named.status, at(named.json, 'error.message')]).toEqual([
    400,
    '"messages[0].content[0].file.file_id" names the results of a batch, which no call takes. Upload the file.',
  ])
})

test('what is no file is refused by name, and keeps nothing', async () => {
  const before = (await gateway.get('/files')).json['data'] as unknown[]
  const post = (form: FormData, query = '') =>
    gateway.post(`/files${query}`, form).then(({ status, json }) => [status, at(json, 'error.message')])
  const formOf = (bytes: Uint8Array | string, name = 'x') => {
    const form = new FormData()
    form.append('file', new File([Buffer.from(bytes)], name))
    return form
  }
  expect(await post(formOf(''))).toEqual([400, '"file" is empty.'])
  expect(await post(formOf(Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0, 1]), 'a.pdf'))).toEqual([
    400,
    '"file" must be a PDF, a PNG, JPEG, GIF or WebP image, a DOCX, XLSX or PPTX document, MP3, WAV, FLAC or OGG audio, or UTF-8 text.',
  ])
  expect((await post(new FormData()))[0]).toBe(400)
  expect(await post(formOf('x'), '?provider=openai')).toEqual([
    400,
    '"provider" is not taken: files are kept here, and go to providers with a call.',
  ])
  expect((await post(formOf('x'), '?workspace_id=another'))[0]).toBe(404)
  for (const query of ['limit=0', 'limit=x', 'order=desc', 'before_id=x', 'cursor=hrfile_unknown'])
    expect([query, (await gateway.get(`/files?${query}`)).status >= 400]).toEqual([query, true])
  expect((await gateway.get('/files')).json['data']).toEqual(before)
})

test('a chat call that names files sends its provider their bytes, each as its kind', async () => {
  const [report, picture, note] = await Promise.all([
    uploaded(pdf, 'report.pdf'),
    uploaded(png, 'mill.png'),
    uploaded('{"level": 2}', 'level.json'),
  ])
  const file = (id: string, more: object = {}) => ({ type: 'file', file: { file_id: id, ...more } })
  const content = [
    { type: 'text', text: 'What is this?' },
    file(report),
    file(picture),
    file(note, { filename: 'mine.json' }),
    file(report),
  ]
  expect((await ask('acme/large', content)).status).toBe(200)
  const whole = { file_data: toDataUrl('application/pdf', pdf), filename: 'report.pdf' }
  expect(at(sent(), 'messages.0.content')).toEqual([
    content[0],
    { type: 'file', file: whole },
    { type: 'image_url', image_url: { url: toDataUrl('image/png', png) } },
    { type: 'file', file: { file_data: toDataUrl('text/plain', '{"level": 2}'), filename: 'mine.json' } },
    { type: 'file', file: whole },
  ])
  expect((await ask(claude, [file(report), file(picture), file(note)])).status).toBe(200)
  expect(at(sent(), 'messages.0.content')).toEqual([
    {
      type: 'document',
      source: { type: 'base64', media_type: 'application/pdf', data: pdf.toString('base64') },
      title: 'report.pdf',
    },
    { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png.toString('base64') } },
    {
      type: 'document',
      source: { type: 'text', media_type: 'text/plain', data: '{"level": 2}' },
      title: 'level.json',
    },
  ])
})

test('so do messages and responses calls', async () => {
  const text = 'The "mill"\nturns: grüße 🌊.'
  const [report, picture, note] = await Promise.all([
    uploaded(pdf, 'report.pdf'),
    uploaded(png, 'mill.png'),
    uploaded(text, 'note.txt'),
  ])
  const block = (type: string, id: string) => ({ type, source: { type: 'file', file_id: id } })
  const blocks = [block('document', report), block('image', picture), block('document', note)]
  expect((await askClaude([...blocks, { type: 'text', text: 'And?' }])).status).toBe(200)
  expect(at(sent(), 'messages.0.content')).toEqual([
    {
      type: 'document',
      source: { type: 'base64', media_type: 'application/pdf', data: pdf.toString('base64') },
      title: 'report.pdf',
    },
    { type: 'image', source: { type: 'base64', media_type: 'image/png', data: png.toString('base64') } },
    { type: 'document', source: { type: 'text', media_type: 'text/plain', data: text }, title: 'note.txt' },
    { type: 'text', text: 'And?' },
  ])
  const parts = [
    { type: 'input_file', file_id: report },
    { type: 'input_image', file_id: picture, detail: 'low' },
    { type: 'input_file', file_id: picture },
  ]
  expect((await askInput('openai/gpt-4o-mini', parts)).status).toBe(200)
  expect(upstream.seen.at(-1)?.path).toBe('/v1/responses')
  const url = toDataUrl('image/png', png)
  expect(at(sent(), 'input.0.content')).toEqual([
    { type: 'input_file', file_data: toDataUrl('application/pdf', pdf), filename: 'report.pdf' },
    { type: 'input_image', image_url: url, detail: 'low' },
    { type: 'input_image', image_url: url },
  ])
})

test('the items of a batch name files too', async () => {
  const id = await uploaded(pdf, 'report.pdf')
  const { json } = await gateway.post('/batches', {
    endpoint: '/v1/chat/completions',
    model: 'acme/large',
    requests: [
      {
        custom_id: 'a',
        body: { messages: [{ role: 'user', content: [{ type: 'file', file: { file_id: id } }] }] },
      },
    ],
  })
  const ended = await until(
    () => gateway.get(`/batches/${String(json['id'])}`),
    (answer) => answer.json['status'] === 'completed',
    30_000,
  )
  expect(at(ended.json, 'results.0.error')).toBeNull()
  expect(at(sent(), 'messages.0.content.0.file.file_data')).toBe(toDataUrl('application/pdf', pdf))
})

test('another organization’s file is no file, and ids of providers pass unchanged', async () => {
  const id = await uploaded(pdf, 'report.pdf')
  const { key: other } = await gateway.addOrganization()
  const foreign = await gateway.post(
    '/chat/completions',
    { model: 'acme/large', messages: [{ role: 'user', content: [{ type: 'file', file: { file_id: id } }] }] },
    { key: other },
  )
  expect([foreign.status, at(foreign.json, 'error.message')]).toEqual([
    400,
    '"messages[0].content[0].file.file_id" names no file of this organization. Upload it first.',
  ])
  const part = { type: 'file', file: { file_id: 'file-abc123' } }
  expect((await ask('acme/large', [part])).status).toBe(200)
  expect(at(sent(), 'messages.0.content.0')).toEqual(part)
  const note = await uploaded('text', 'note.txt')
  const wrong = await askInput('openai/gpt-4o-mini', [{ type: 'input_image', file_id: note }])
  expect([wrong.status, at(wrong.json, 'error.message')]).toEqual([
    400,
    '"input[0].content[0].file_id" names a file of text/plain, and not a picture.',
  ])
})
