import { afterAll, expect, test } from 'bun:test'
import { at, customProvider, startTestGateway } from '../support/gateway.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'

// Bodies of megabytes, which must neither be parsed nor copied at one go, reach a provider as they are.

const upstream = startScriptedUpstream()
const gateway = await startTestGateway({
  providers: () => [
    customProvider(upstream.url, [
      { id: 'acme/chat', modality: 'language', prices: { input_per_million: '1', output_per_million: '2' } },
      { id: 'acme/tts', modality: 'speech', prices: { characters_per_million: '1' } },
    ]),
  ],
})
const url = gateway.listen()
afterAll(async () => {
  await gateway.stop()
  await upstream.stop()
})

const answer = () =>
  Response.json({
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1,
    model: 'chat',
    choices: [{ index: 0, message: { role: 'assistant', content: 'seen' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 1_000, completion_tokens: 1, total_tokens: 1_001 },
  })

const image = {
  type: 'image_url',
  image_url: { url: `data:image/png;base64,${'iVBORw0KGgo+/'.repeat(400_000)}` },
}
const words = 'Größe 東京 🦆 "quoted" \n'.repeat(40_000)
const messages = [
  { role: 'user', content: [{ type: 'text', text: words }, image] },
  { role: 'assistant', content: words, reasoning: words },
  { role: 'user', content: 'and now?' },
]

function post(path: string, body: string | ReadableStream<Uint8Array>): Promise<Response> {
  const headers = { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' }
  return fetch(url + path, { method: 'POST', headers, body })
}

function bodySeen(index: number): unknown {
  const seen = upstream.seen[index]
  expect(seen?.headers.get('content-length')).toBe(String(seen?.body.length))
  return JSON.parse(Buffer.from(seen?.body ?? '', 'latin1').toString('utf8'))
}

test('a conversation with media goes on as it came, also to the provider asked after a failure', async () => {
  const body = JSON.stringify({ model: 'acme/chat', messages, seed: 1 })
  for (const sent of [body, new Blob([body]).stream()]) {
    upstream.seen.length = 0
    upstream.answer(() => (upstream.seen.length === 1 ? new Response(null, { status: 500 }) : answer()))
    const response = await post('/chat/completions', sent)
    expect(response.status).toBe(200)
    expect(at(await response.json(), 'choices.0.message.content')).toBe('seen')
    expect(upstream.seen.length).toBe(2)
    for (const index of [0, 1]) expect(bodySeen(index)).toMatchObject({ model: 'chat', seed: 1, messages })
  }
})

test('a conversation with media goes on in another format, its picture and its words as they came', async () => {
  const { url: address } = image.image_url
  const data = address.slice(address.indexOf(',') + 1)
  const bodies = {
    '/responses': {
      instructions: words,
      input: [
        {
          role: 'user',
          content: [
            { type: 'input_text', text: words },
            { type: 'input_image', image_url: address },
          ],
        },
      ],
    },
    '/messages': {
      max_tokens: 9,
      system: words,
      messages: [
        {
          role: 'user',
          content: [
            { type: 'text', text: words },
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data } },
          ],
        },
      ],
    },
  }
  upstream.answer(answer)
  for (const [path, body] of Object.entries(bodies)) {
    upstream.seen.length = 0
    const response = await post(path, JSON.stringify({ model: 'acme/chat', ...body }))
    expect([path, response.status]).toEqual([path, 200])
    expect(bodySeen(0)).toMatchObject({
      messages: [
        { role: 'system', content: words },
        { role: 'user', content: [{ type: 'text', text: words }, image] },
      ],
    })
  }
})

test('a large conversation with a mistake is refused by its name, and nobody is asked', async () => {
  upstream.seen.length = 0
  const wrong = [...messages, { role: 'bot', content: 'hi' }]
  const response = await post('/chat/completions', JSON.stringify({ model: 'acme/chat', messages: wrong }))
  expect(response.status).toBe(400)
  expect(at(await response.json(), 'error.message')).toContain('messages[3].role')
  expect(upstream.seen).toEqual([])
})

test('a text of hours is refused before it is parsed, by its name', async () => {
  upstream.seen.length = 0
  const body = { model: 'acme/tts', input: words, voice: 'a' }
  const response = await post('/audio/speech', JSON.stringify(body))
  expect(response.status).toBe(413)
  expect(await response.json()).toMatchObject({
    error: { code: 413, message: expect.stringContaining('"input"') },
  })
  expect(upstream.seen).toEqual([])
})
