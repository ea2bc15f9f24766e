import { afterAll, expect, test } from 'bun:test'
import { at, startTestGateway, until } from '../support/gateway.ts'

// Bytes that no provider could decode as an image are refused by their place in the request, before a provider
// is asked or money is held.

const gateway = await startTestGateway()
afterAll(() => gateway.stop())

const model = 'openai/gpt-4o-mini'
const pixel =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const large = 'A'.repeat(2_000_000)

const bad: Readonly<Record<string, unknown>> = {
  'a script': 'javascript:alert(1)',
  'an address of mail': 'mailto:ann@acme.test',
  nothing: '',
  'no text': 5,
  'words that are no address': 'a picture of a cat',
  'an address without a host': 'https://',
  'broken base64': 'data:image/png;base64,###not-base64###',
  'one character of base64': 'data:image/png;base64,A',
  'no bytes': 'data:image/png;base64,',
  'bytes that are not in base64': 'data:image/svg+xml,<svg/>',
  'much that is no base64': `data:image/png;base64,${'<>'.repeat(1_000_000)}`,
}

const chat = (url: unknown) => ({
  messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }],
})
const input = (url: unknown) => ({
  input: [{ role: 'user', content: [{ type: 'input_image', image_url: url }] }],
})
const block = (source: unknown) => ({
  max_tokens: 9,
  messages: [{ role: 'user', content: [{ type: 'image', source }] }],
})

for (const [what, url] of Object.entries(bad)) {
  test(`an image at ${what} is refused by its place`, async () => {
    const asked = await gateway.post('/chat/completions', { model, ...chat(url) })
    expect([asked.status, at(asked.json, 'error.param')]).toEqual([
      400,
      'messages[0].content[0].image_url.url',
    ])
    const short = await gateway.post('/chat/completions', {
      model,
      messages: [{ role: 'user', content: [{ type: 'image_url', image_url: url }] }],
    })
    expect([short.status, at(short.json, 'error.param')]).toEqual([400, 'messages[0].content[0].image_url'])
    const responses = await gateway.post('/responses', { model, ...input(url) })
    expect([responses.status, at(responses.json, 'error.param')]).toEqual([
      400,
      'input[0].content[0].image_url',
    ])
    const told = await gateway.post('/messages', { model, ...block({ type: 'url', url }) })
    expect([told.status, at(told.json, 'error.type')]).toEqual([400, 'invalid_request_error'])
  })
}

test('bytes of a message that are not base64 are refused, even in the result of a tool', async () => {
  const source = { type: 'base64', media_type: 'image/png', data: '<svg/>' }
  const asked = await gateway.post('/messages', { model, ...block(source) })
  expect([asked.status, at(asked.json, 'error.param')]).toEqual([400, 'messages[0].content[0].source.data'])
  const content = [{ type: 'tool_result', tool_use_id: 't', content: [{ type: 'image', source }] }]
  const inside = await gateway.post('/messages', {
    model,
    max_tokens: 9,
    messages: [{ role: 'user', content }],
  })
  expect([inside.status, at(inside.json, 'error.param')]).toEqual([
    400,
    'messages[0].content[0].content[0].source.data',
  ])
})

test('an item of a batch with invalid media ends as refused', async () => {
  const created = await gateway.post('/batches', {
    endpoint: '/v1/chat/completions',
    model,
    requests: [{ custom_id: 'a', body: chat('javascript:alert(1)') }],
  })
  const path = `/batches/${String(created.json['id'])}`
  const { json } = await until(
    () => gateway.get(path),
    (answer) => answer.json['status'] === 'completed' || answer.json['status'] === 'failed',
  )
  expect(JSON.stringify(json)).toContain('messages[0].content[0].image_url.url')
})

test('addresses and bytes of every usual form are taken', async () => {
  for (const url of [
    'https://acme.test/a.png',
    'HTTP://acme.test/a.png?b=c',
    `data:image/png;base64,${pixel}`,
    `data:image/png;base64,${pixel.slice(0, 40)}\n${pixel.slice(40)}`,
    `data:image/png;charset=utf-8;base64,${pixel.replaceAll('+', '-').replaceAll('/', '_')}`,
    `data:;base64,${large}`,
    'gs://bucket/a.png',
    `https://acme.test/a.png?signature=${'a'.repeat(3_000)}`,
  ]) {
    const { status, json } = await gateway.post('/messages/count_tokens', {
      model,
      ...block({ type: 'url', url }),
    })
    expect([url.slice(0, 60), status, json]).toMatchObject([url.slice(0, 60), 200, {}])
  }
})

test('a body that is not UTF-8 is refused for every operation', async () => {
  const bodies: Readonly<Record<string, unknown>> = {
    '/chat/completions': { model, messages: [{ role: 'user', content: 'MARK' }] },
    '/responses': { model, input: 'MARK' },
    '/messages': { model, max_tokens: 9, messages: [{ role: 'user', content: 'MARK' }] },
    '/messages/count_tokens': { model, messages: [{ role: 'user', content: 'MARK' }] },
    '/embeddings': { model: 'openai/text-embedding-3-small', input: 'MARK' },
    '/audio/speech': { model: 'openai/tts-1', voice: 'alloy', input: 'MARK' },
    '/audio/transcriptions': {
      model: 'openai/whisper-1',
      language: 'MARK',
      input_audio: { data: 'UklGRg==', format: 'wav' },
    },
  }
  for (const [path, body] of Object.entries(bodies)) {
    for (const broken of [[0xff], [0xc3, 0x28], [0xed, 0xa0, 0x80]]) {
      const [before = '', after = ''] = JSON.stringify(body).split('MARK')
      const bytes = Buffer.concat([Buffer.from(before), Buffer.from(broken), Buffer.from(after)])
      const { status, json } = await gateway.post(path, new Uint8Array(bytes))
      expect([path, status, String(at(json, 'error.message'))]).toEqual([
        path,
        400,
        expect.stringContaining('UTF-8'),
      ])
    }
  }
})
