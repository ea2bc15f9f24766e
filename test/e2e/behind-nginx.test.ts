import { afterAll, expect, test } from 'bun:test'
import { customProvider, startTestGateway } from '../support/gateway.ts'
import { nginxMissing, startNginx, type Nginx } from '../support/nginx.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'

// What a stream needs to arrive piece by piece through a proxy that nobody has told of streams.

if (nginxMissing !== null) {
  console.log(`NOT RUN: streams behind a proxy: ${nginxMissing}`)
  if (process.env['CI'] === 'true') test('nginx is installed in CI', () => expect(nginxMissing).toBeNull())
}

const upstream = startScriptedUpstream()
const gateway = await startTestGateway({
  providers: () => [
    customProvider(upstream.url, [
      { id: 'acme/chat', modality: 'language' },
      { id: 'acme/voice', modality: 'speech' },
    ]),
  ],
})
const baseUrl = gateway.listen()
const nginx: Nginx | null = nginxMissing === null ? await startNginx(new URL(baseUrl).origin) : null
afterAll(async () => {
  await nginx?.stop()
  await gateway.stop()
  await upstream.stop()
})

const frame = (content: string, finish: string | null = null) =>
  `data: ${JSON.stringify({
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'chat',
    choices: [{ index: 0, delta: { content }, finish_reason: finish }],
  })}\n\n`

/** A first piece at once; the rest when the test has seen the first one, so that nothing but the proxy decides. */
function inTwoParts(first: string | Uint8Array, rest: string, contentType: string): { release: () => void } {
  const gate = Promise.withResolvers<void>()
  upstream.answer(() => {
    async function* body() {
      yield typeof first === 'string' ? Buffer.from(first) : first
      await gate.promise
      yield Buffer.from(rest)
    }
    return new Response(body(), { headers: { 'content-type': contentType } })
  })
  return { release: () => gate.resolve() }
}

function ask(origin: string, path: string, body: object): Promise<Response> {
  return fetch(`${origin}/v1${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
}

const chat = { model: 'acme/chat', stream: true, messages: [{ role: 'user', content: 'hi' }] }

test('an event stream tells proxies to pass it on as it comes, and to leave it as it is', async () => {
  inTwoParts(frame('one '), `${frame('two', 'stop')}data: [DONE]\n\n`, 'text/event-stream').release()
  const response = await ask(new URL(baseUrl).origin, '/chat/completions', chat)
  expect(response.headers.get('x-accel-buffering')).toBe('no')
  expect(response.headers.get('cache-control')).toBe('no-cache, no-transform')
  expect(await response.text()).toContain('two')
})

test.skipIf(nginx === null)(
  'through an nginx with its defaults the first frame comes before the rest',
  async () => {
    const { release } = inTwoParts(
      frame('one '),
      `${frame('two', 'stop')}data: [DONE]\n\n`,
      'text/event-stream',
    )
    const response = await ask(nginx?.url ?? '', '/chat/completions', chat)
    const reader = response.body?.getReader()
    const first = Buffer.from((await reader?.read())?.value ?? new Uint8Array(0)).toString()
    expect(first).toContain('one ')
    expect(first).not.toContain('two')
    release()
    let rest = ''
    for (let read = await reader?.read(); read && !read.done; read = await reader?.read())
      rest += Buffer.from(read.value).toString()
    expect(rest).toContain('two')
    expect(rest).toContain('[DONE]')
  },
)

test.skipIf(nginx === null)('through an nginx with its defaults speech is heard before it ends', async () => {
  const { release } = inTwoParts(new Uint8Array(3_000), 'ab', 'audio/pcm')
  const response = await ask(nginx?.url ?? '', '/audio/speech', {
    model: 'acme/voice',
    input: 'hi',
    voice: 'a',
  })
  const reader = response.body?.getReader()
  const first = await reader?.read()
  expect(first?.value?.byteLength).toBeGreaterThan(0)
  release()
  for (let read = await reader?.read(); read && !read.done;) read = await reader?.read()
})
