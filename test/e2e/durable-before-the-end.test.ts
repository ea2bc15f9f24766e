import { afterAll, expect, test } from 'bun:test'
import { startTestGateway } from '../support/gateway.ts'

/** A disk this slow makes an answer that does not wait for its capture arrive long before it. */
const fsyncDelayMs = 250

/** A provider whose whole stream comes with its first byte. */
const atOnce = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch: () => new Response(wholeStream(), { headers: { 'content-type': 'text/event-stream' } }),
})

function wholeStream(): string {
  const chunk = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'at-once' }
  const frames = [
    {
      ...chunk,
      choices: [{ index: 0, delta: { role: 'assistant', content: 'Hello.' }, finish_reason: null }],
    },
    { ...chunk, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
    { ...chunk, choices: [], usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 } },
  ]
  return `${frames.map((frame) => `data: ${JSON.stringify(frame)}\n\n`).join('')}data: [DONE]\n\n`
}

const started = (delayMs: number) =>
  startTestGateway({
    hooks: { writeLog: () => undefined, faults: { fsyncDelayMs: delayMs } },
    providers: (url) => [
      { preset: 'sandbox', base_url: `${url}/v1`, api_key: 'a', weight: 1, models: [] },
      {
        preset: 'custom',
        id: 'acme',
        base_url: atOnce.url.href.replace(/\/$/, ''),
        api_key: 'a',
        weight: 1,
        discover: false,
        models: [
          {
            id: 'acme/at-once',
            modality: 'language',
            prices: { input_per_million: '1', output_per_million: '1' },
          },
        ],
      },
    ],
  })
const slow = await started(fsyncDelayMs)
const quick = await started(0)
afterAll(async () => {
  await slow.stop()
  await quick.stop()
  await atOnce.stop(true)
})

async function costOfUsage(response: Response): Promise<unknown> {
  const { status } = await slow.get(`/generation?id=${response.headers.get('x-generation-id') ?? ''}`)
  return status
}

const chat = { model: 'openai/gpt-4o-mini', max_tokens: 5, messages: [{ role: 'user', content: 'Hello.' }] }

test('a whole answer is there only when its charge is', async () => {
  const response = await slow.request('/chat/completions', { method: 'POST', body: chat })
  await response.text()
  expect([response.status, await costOfUsage(response)]).toEqual([200, 200])
})

test('a stream whose answer was whole already is there only when its charge is', async () => {
  const body = { ...chat, model: 'acme/at-once', stream: true }
  const response = await slow.request('/chat/completions', { method: 'POST', body })
  expect(await response.text()).toEndWith('data: [DONE]\n\n')
  expect([response.status, await costOfUsage(response)]).toEqual([200, 200])
})

test('a stream whose answer was whole already begins before its charge is there', async () => {
  const body = { ...chat, model: 'acme/at-once', stream: true }
  const response = await slow.request('/chat/completions', { method: 'POST', body })
  const pieces = response.body?.values()
  const beginning = new TextDecoder().decode((await pieces?.next())?.value)
  expect([beginning.includes('Hello.'), beginning.includes('"finish_reason":"stop"')]).toEqual([true, false])
  expect(await costOfUsage(response)).toBe(404)
  let last = ''
  for await (const piece of pieces ?? []) last = new TextDecoder().decode(piece)
  expect(last).toEndWith('data: [DONE]\n\n')
  expect(await costOfUsage(response)).toBe(200)
})

test('a stream whose answer was whole already leaves in one piece when its charge is there soon', async () => {
  const body = { ...chat, model: 'acme/at-once', stream: true }
  let isOnePiece = false
  // A busy disk may be late, and the first call takes a slice of the balance besides.
  for (let tries = 0; tries < 10 && !isOnePiece; tries += 1) {
    const response = await quick.request('/chat/completions', { method: 'POST', body })
    expect(response.headers.get('content-type')).toBe('text/event-stream')
    expect(response.headers.get('x-accel-buffering')).toBe('no')
    const [first = '', ...rest] = await Array.fromAsync(response.body ?? [], (piece) =>
      new TextDecoder().decode(piece),
    )
    expect(first).toContain('Hello.')
    expect(rest.at(-1) ?? first).toEndWith('data: [DONE]\n\n')
    isOnePiece = rest.length === 0
  }
  expect(isOnePiece).toBe(true)
})

test('a stream of pieces ends only when its charge is there', async () => {
  await slow.admin('faults', [{ match: { path: '/chat/completions' }, fault: 'tokens=4,chunk_delay=20' }])
  const response = await slow.request('/chat/completions', {
    method: 'POST',
    body: { ...chat, stream: true },
  })
  expect(await response.text()).toEndWith('data: [DONE]\n\n')
  expect([response.status, await costOfUsage(response)]).toEqual([200, 200])
})

test('speech ends only when its charge is there', async () => {
  await slow.admin('faults', [{ match: { path: '/audio/speech' }, fault: 'tone' }])
  const response = await slow.request('/audio/speech', {
    method: 'POST',
    body: { model: 'openai/tts-1', input: 'Hello.', voice: 'alloy' },
  })
  expect((await response.bytes()).byteLength).toBeGreaterThan(0)
  expect([response.status, await costOfUsage(response)]).toEqual([200, 200])
})
