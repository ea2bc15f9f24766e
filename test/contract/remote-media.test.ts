import { afterAll, beforeEach, expect, test } from 'bun:test'
import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { at, customProvider, readAnswer, startTestGateway, until } from '../support/gateway.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'

// Images and documents that a caller names by address, on providers that take bytes alone: the gateway fetches them once,
// under the guard that keeps it from addresses that are not public. The server of the files is one that the operator allowed.

const png = Buffer.concat([Buffer.from('\u0089PNG\r\n\u001a\n', 'latin1'), Buffer.alloc(40, 1)])
const jpeg = Buffer.concat([Buffer.from([0xff, 0xd8, 0xff, 0xe0]), Buffer.alloc(30, 2)])
const pdf = Buffer.from('%PDF-1.7\nwater\n%%EOF')
const largePdf = Buffer.concat([pdf, Buffer.alloc(3_000_000, 'x')])

const asked: string[] = []
const files = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch(request) {
    const { pathname } = new URL(request.url)
    asked.push(pathname)
    if (pathname.startsWith('/png')) return new Response(png, { headers: { 'content-type': 'image/png' } })
    if (pathname === '/lies.png') return new Response(jpeg, { headers: { 'content-type': 'image/png' } })
    if (pathname === '/page')
      return new Response('<html></html>', { headers: { 'content-type': 'image/png' } })
    if (pathname === '/a%20report.pdf' || pathname === '/report.pdf') return new Response(pdf)
    if (pathname === '/large.pdf') return new Response(largePdf)
    if (pathname === '/huge.pdf') return new Response(Buffer.concat([pdf, Buffer.alloc(20_000_000)]))
    if (pathname.startsWith('/half')) return new Response(Buffer.concat([pdf, Buffer.alloc(17_000_000)]))
    if (pathname === '/moved') return Response.redirect('http://169.254.169.254/latest/meta-data', 302)
    return new Response('no', { status: 404 })
  },
})
const base = `http://127.0.0.1:${files.port}`

const upstream = startScriptedUpstream()
const failing = startScriptedUpstream()
const prices = { input_per_million: '1', output_per_million: '1' }
const gateway = await startTestGateway({
  fetchHosts: [`127.0.0.1:${files.port}`],
  providers: () => [
    {
      preset: 'anthropic',
      base_url: `${upstream.url}/v1`,
      api_key: 'a-key-of-the-test',
      weight: 1,
      discover: false,
      models: [{ id: 'anthropic/claude-sonnet-4-5', prices }],
    },
    {
      preset: 'sglang',
      base_url: `${upstream.url}/v1`,
      weight: 1,
      discover: false,
      models: [{ id: 'both', upstream: 'both-bytes' }],
    },
    {
      // It takes chat completions alone.
      preset: 'sglang',
      base_url: `${upstream.url}/v1`,
      weight: 1,
      discover: false,
      models: [{ id: 'bytes-only' }],
    },
    {
      ...customProvider(upstream.url, [
        { id: 'acme/large', prices },
        { id: 'both', upstream: 'both-addresses', prices },
      ]),
    },
    {
      preset: 'ollama',
      id: 'failing',
      base_url: `${failing.url}/v1`,
      weight: 1,
      discover: false,
      models: [{ id: 'both', upstream: 'both-failing' }],
    },
  ],
})
afterAll(async () => {
  await gateway.stop()
  await upstream.stop()
  await failing.stop()
  await files.stop(true)
})

beforeEach(() => {
  asked.length = 0
  upstream.seen.length = 0
  failing.seen.length = 0
  failing.answer(() => Response.json({ error: { message: 'down' } }, { status: 503 }))
  upstream.answer(({ path }) => {
    if (path.endsWith('/messages')) {
      const content = [{ type: 'text', text: 'Seen.' }]
      const usage = { input_tokens: 60_000, output_tokens: 2 }
      return Response.json({
        id: 'm',
        type: 'message',
        role: 'assistant',
        model: 'c',
        content,
        stop_reason: 'end_turn',
        usage,
      })
    }
    const message = { role: 'assistant', content: 'Seen.' }
    const usage = { prompt_tokens: 9, completion_tokens: 2, total_tokens: 11 }
    return Response.json({
      id: 'c',
      model: 'm',
      choices: [{ index: 0, message, finish_reason: 'stop' }],
      usage,
    })
  })
})

function lastSent(): Record<string, unknown> {
  return JSON.parse(upstream.seen.at(-1)?.body ?? '{}') as Record<string, unknown>
}

const toDataUrl = (type: string, bytes: Buffer) => `data:${type};base64,${bytes.toString('base64')}`
const image = (url: string) => ({ type: 'image_url', image_url: { url } })
const file = (url: string) => ({ type: 'file', file: { file_data: url } })
const text = { type: 'text', text: 'What is this? See https://example.test for more.' }
const claude = 'anthropic/claude-sonnet-4-5'

function askChat(model: string, content: unknown, more: Record<string, unknown> = {}) {
  return gateway.post('/chat/completions', { model, messages: [{ role: 'user', content }], ...more })
}

test('a chat provider that takes bytes alone is sent the image that the address names', async () => {
  const { status } = await askChat('bytes-only', [text, image(`${base}/png`)])
  expect(status).toBe(200)
  expect(at(lastSent(), 'messages.0.content')).toEqual([text, image(toDataUrl('image/png', png))])
})

test('an address that the provider accepts is passed on unchanged and not fetched', async () => {
  expect((await askChat('acme/large', [text, image(`${base}/png`)])).status).toBe(200)
  expect(at(lastSent(), 'messages.0.content.1')).toEqual(image(`${base}/png`))
  const url = 'https://files.example.test/report.pdf'
  const block = { type: 'document', source: { type: 'url', url } }
  const { status } = await gateway.post('/messages', {
    model: claude,
    max_tokens: 9,
    messages: [{ role: 'user', content: [block] }],
  })
  expect([status, at(lastSent(), 'messages.0.content.0')]).toEqual([200, block])
  expect(asked).toEqual([])
})

test('chat completions have files as bytes alone, so every provider of them is sent the bytes, with a name', async () => {
  expect((await askChat('acme/large', [file(`${base}/a%20report.pdf`)])).status).toBe(200)
  expect(at(lastSent(), 'messages.0.content.0.file')).toEqual({
    file_data: toDataUrl('application/pdf', pdf),
    filename: 'a report.pdf',
  })
  const named = { type: 'input_file', file_url: `${base}/report.pdf`, filename: 'mine.pdf' }
  const picture = { type: 'input_image', image_url: `${base}/png`, detail: 'low' }
  const { status } = await gateway.post('/responses', {
    model: 'bytes-only',
    input: [{ role: 'user', content: [named, picture] }],
  })
  expect([status, at(lastSent(), 'messages.0.content')]).toEqual([
    200,
    [
      { type: 'file', file: { file_data: toDataUrl('application/pdf', pdf), filename: 'mine.pdf' } },
      { type: 'image_url', image_url: { url: toDataUrl('image/png', png), detail: 'low' } },
    ],
  ])
})

test('a messages provider that accepts only https gets the bytes of a file at http, for callers of all formats', async () => {
  const picture = {
    type: 'image',
    source: { type: 'base64', media_type: 'image/png', data: png.toString('base64') },
  }
  const report = {
    type: 'document',
    source: { type: 'base64', media_type: 'application/pdf', data: pdf.toString('base64') },
  }
  expect((await askChat(claude, [image(`${base}/png`), file(`${base}/report.pdf`)])).status).toBe(200)
  expect(at(lastSent(), 'messages.0.content')).toEqual([picture, { ...report, title: 'report.pdf' }])

  const input = [{ role: 'user', content: [{ type: 'input_image', image_url: `${base}/png` }] }]
  expect((await gateway.post('/responses', { model: claude, input })).status).toBe(200)
  expect(at(lastSent(), 'messages.0.content')).toEqual([picture])

  const call = { type: 'tool_use', id: 'toolu_1', name: 'look', input: {} }
  const byAddress = { type: 'image', source: { type: 'url', url: `${base}/png` } }
  const { status } = await gateway.post('/messages', {
    model: claude,
    max_tokens: 9,
    messages: [
      { role: 'user', content: 'look' },
      { role: 'assistant', content: [call] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: [byAddress] }] },
    ],
  })
  expect([status, at(lastSent(), 'messages.2.content.0.content')]).toEqual([200, [picture]])
})

test('the type is what the bytes are, and what is no image or PDF is refused by its member', async () => {
  await askChat('bytes-only', [image(`${base}/lies.png`)])
  expect(at(lastSent(), 'messages.0.content.0')).toEqual(image(toDataUrl('image/jpeg', jpeg)))
  for (const part of [image(`${base}/page`), image(`${base}/report.pdf`)]) {
    const { status, json } = await askChat('bytes-only', [text, part])
    expect([status, at(json, 'error.message')]).toEqual([
      400,
      expect.stringContaining('"messages[0].content[1].image_url.url" names something that is not an image'),
    ])
  }
  const { status, json } = await askChat('bytes-only', [file(`${base}/png`)])
  expect([status, at(json, 'error.message')]).toEqual([
    400,
    expect.stringContaining('"messages[0].content[0].file.file_data" names something that is not a PDF'),
  ])
})

test('an address that cannot or must not be fetched is refused by its member, in the words of the caller’s format', async () => {
  const problems = [
    [`${base}/gone`, 'answered with status 404'],
    [`${base}/moved`, 'not public'],
    [`http://localhost:${files.port}/png`, 'not public'],
    ['http://169.254.169.254/latest/meta-data', 'not public'],
    [`http://user:secret@127.0.0.1:${files.port}/png`, 'must not carry credentials'],
  ] as const
  for (const [url, problem] of problems) {
    const { status, json } = await askChat('bytes-only', [image(url)])
    expect([status, at(json, 'error.message')]).toEqual([400, expect.stringContaining(problem)])
    expect(String(at(json, 'error.message'))).toContain('messages[0].content[0].image_url.url')
  }
  const block = { type: 'image', source: { type: 'url', url: `${base}/gone` } }
  const refused = await gateway.post('/messages', {
    model: claude,
    max_tokens: 9,
    messages: [{ role: 'user', content: [block] }],
  })
  expect(String(at(refused.json, 'error.message'))).toContain('messages[0].content[0].source.url')
  expect(upstream.seen).toHaveLength(0)
})

test('how much is fetched is bounded: each, together, and how many', async () => {
  const huge = await askChat('bytes-only', [file(`${base}/huge.pdf`)])
  expect([huge.status, at(huge.json, 'error.message')]).toEqual([
    400,
    expect.stringContaining('names more than 20000000 bytes'),
  ])
  const together = await askChat('bytes-only', [file(`${base}/half1`), file(`${base}/half2`)])
  expect([together.status, at(together.json, 'error.message')]).toEqual([
    400,
    expect.stringContaining('32000000 bytes together'),
  ])
  asked.length = 0
  const many = Array.from({ length: 21 }, (_, index) => image(`${base}/png${index}`))
  const refused = await askChat('bytes-only', many)
  expect([refused.status, at(refused.json, 'error.message')]).toEqual([
    400,
    expect.stringContaining('"messages[0].content[20].image_url.url" is one of more than 20'),
  ])
  expect(asked).toHaveLength(0)
})

test('an address is fetched once, however often it stands there and however many endpoints are tried', async () => {
  const content = [image(`${base}/png`), text, image(`${base}/png`)]
  const { status } = await askChat('both', content, { provider: { order: ['failing', 'ollama'] } })
  expect(status).toBe(200)
  expect(failing.seen.length).toBeGreaterThan(0)
  expect(failing.seen[0]?.body).toContain(png.toString('base64'))
  expect(at(lastSent(), 'messages.0.content.2')).toEqual(image(toDataUrl('image/png', png)))
  expect(asked).toEqual(['/png'])
})

test('an endpoint that takes the address itself is sent it, also where the gateway cannot fetch it', async () => {
  const { status, json } = await askChat('both', [image(`${base}/gone`)], {
    provider: { order: ['ollama', 'acme'] },
  })
  expect([status, json['provider']]).toEqual([200, 'acme'])
  expect(at(lastSent(), 'messages.0.content.0')).toEqual(image(`${base}/gone`))
  expect(asked).toEqual(['/gone'])
})

test('a caller who leaves ends what is being fetched for it, and no provider is asked', async () => {
  const sockets: Socket[] = []
  const leaving = new AbortController()
  const slow = createServer((socket) => {
    sockets.push(socket)
    socket.on('error', () => {})
    socket.once('data', () => leaving.abort())
  }).listen(0, '127.0.0.1')
  await once(slow, 'listening')
  const host = `127.0.0.1:${(slow.address() as AddressInfo).port}`
  const other = await startTestGateway({
    fetchHosts: [host],
    providers: () => [
      {
        preset: 'ollama',
        base_url: upstream.url,
        weight: 1,
        discover: false,
        models: [{ id: 'bytes-only' }],
      },
    ],
  })
  const url = `${other.listen()}/chat/completions`
  const body = { model: 'bytes-only', messages: [{ role: 'user', content: [image(`http://${host}/png`)] }] }
  const answer = fetch(url, {
    method: 'POST',
    signal: leaving.signal,
    headers: { authorization: `Bearer ${other.key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  expect(await answer.catch((error: unknown) => at(error, 'name'))).toBe('AbortError')
  await until(
    () => Promise.resolve(sockets.length > 0 && sockets.every(({ destroyed }) => destroyed)),
    (areClosed) => areClosed,
  )
  await other.stop()
  slow.close()
  expect(upstream.seen).toHaveLength(0)
})

test('what is fetched is held for by its size, as if the caller had sent it', async () => {
  // 3,000,000 bytes of a document are held as 150,000 tokens: 0.15 credits at 1 for each million.
  const poor = await gateway.addOrganization({ credits: '0.1' })
  const ask = async (url: string) =>
    readAnswer(
      await gateway.request('/chat/completions', {
        method: 'POST',
        key: poor.key,
        body: { model: 'acme/large', max_tokens: 10, messages: [{ role: 'user', content: [file(url)] }] },
      }),
    )
  expect((await ask(`${base}/report.pdf`)).status).toBe(200)
  expect((await ask(`${base}/large.pdf`)).status).toBe(402)
  expect(upstream.seen).toHaveLength(1)
})

test('a provider that reads a document itself is believed when it counts more than the request has', async () => {
  const source = { type: 'url', url: 'https://files.example.test/report.pdf' }
  const { json } = await gateway.post('/messages', {
    model: claude,
    max_tokens: 9,
    messages: [{ role: 'user', content: [{ type: 'document', source }] }],
  })
  expect([at(json, 'usage.input_tokens'), at(json, 'usage.cost')]).toEqual([60_000, 0.060002])
})

test('a large request with a long address is filled in without losing a byte of it', async () => {
  const long = `${base}/large.pdf?signature=${'s'.repeat(2_000)}`
  const words = { type: 'text', text: 'ü"\\'.repeat(700_000) }
  const { status } = await askChat('bytes-only', [words, file(long), image(`${base}/png`)])
  expect(status).toBe(200)
  const sent = JSON.parse(Buffer.from(upstream.seen.at(-1)?.body ?? '', 'latin1').toString('utf8')) as unknown
  const content = at(sent, 'messages.0.content') as unknown[]
  expect(content[0]).toEqual(words)
  expect(at(content[1], 'file.file_data') === toDataUrl('application/pdf', largePdf)).toBe(true)
  expect(content[2]).toEqual(image(toDataUrl('image/png', png)))
})

test('items of a batch have their addresses fetched too, each with an error of its own', async () => {
  const item = (url: string) => ({ messages: [{ role: 'user', content: [image(url)] }] })
  const created = await gateway.post('/batches', {
    endpoint: '/v1/chat/completions',
    model: 'bytes-only',
    requests: [
      { custom_id: 'there', body: item(`${base}/png`) },
      { custom_id: 'gone', body: item(`${base}/gone`) },
    ],
  })
  expect(created.status).toBe(202)
  const { json } = await until(
    () => gateway.get(`/batches/${String(created.json['id'])}`),
    (answer) => answer.json['status'] === 'completed',
  )
  const results = json['results'] as Record<string, unknown>[]
  const of = (id: string) => results.find((result) => result['custom_id'] === id)
  expect(at(of('there'), 'response.status_code')).toBe(200)
  expect(at(lastSent(), 'messages.0.content.0')).toEqual(image(toDataUrl('image/png', png)))
  expect(at(of('gone'), 'error')).toMatchObject({
    type: 'invalid_request',
    param: 'messages[0].content[0].image_url.url',
  })
})

test.each(['file:///etc/passwd', 'ftp://files.example/a.png', 'gopher://127.0.0.1:70/_'])(
  '%s goes to no provider, also none that fetches for itself',
  async (url) => {
    upstream.seen.length = 0
    const messages = [{ role: 'user', content: [image(url)] }]
    const { status, json } = await gateway.post('/chat/completions', { model: 'acme/large', messages })
    expect([status, String(at(json, 'error.param'))]).toEqual([400, 'messages[0].content[0].image_url.url'])
    expect(upstream.seen).toEqual([])
  },
)
