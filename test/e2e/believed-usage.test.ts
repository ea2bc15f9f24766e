import { afterAll, expect, test } from 'bun:test'
import { at, customProvider, startTestGateway, until } from '../support/gateway.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'

// What a provider reports is charged as far as the call allowed it, in an answer and in a stream.

const upstream = startScriptedUpstream()
const gateway = await startTestGateway({
  credits: '0.05',
  providers: () => [
    customProvider(upstream.url, [
      {
        id: 'acme/chat',
        upstream: 'chat',
        modality: 'language',
        prices: { input_per_million: '10', output_per_million: '20' },
      },
    ]),
  ],
})
afterAll(async () => {
  await gateway.stop()
  await upstream.stop()
})

function answerWith(usage: Record<string, unknown>): void {
  upstream.answer(({ body }) => {
    if (!body.includes('"stream":true')) {
      const message = { role: 'assistant', content: 'Certainly.' }
      return Response.json({ choices: [{ index: 0, message, finish_reason: 'stop' }], usage })
    }
    const frames = [
      { choices: [{ index: 0, delta: { role: 'assistant', content: 'Certainly.' } }] },
      { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
      { choices: [], usage },
    ].map((frame) => `data: ${JSON.stringify(frame)}\n\n`)
    return new Response(`${frames.join('')}data: [DONE]\n\n`, {
      headers: { 'content-type': 'text/event-stream' },
    })
  })
}

/** What the caller is shown last, and what the ledger has. */
async function charged(request: Record<string, unknown>): Promise<{ text: string; row: unknown }> {
  const response = await gateway.request('/chat/completions', {
    method: 'POST',
    body: { model: 'acme/chat', messages: [{ role: 'user', content: 'Say yes.' }], ...request },
  })
  expect(response.status).toBe(200)
  const text = await response.text()
  const id = response.headers.get('x-generation-id') ?? ''
  const { json } = await until(
    () => gateway.get(`/generation?id=${id}`),
    ({ status }) => status === 200,
  )
  return { text, row: at(json, 'data') }
}

test.each([false, true])('output beyond the limit of the call is estimated (stream: %p)', async (stream) => {
  answerWith({ prompt_tokens: 11, completion_tokens: 128_001, total_tokens: 128_012 })
  const { text, row } = await charged({ max_tokens: 50, stream })
  expect(text).toContain('"completion_tokens":4,')
  expect(row).toMatchObject({
    tokens_completion: 4,
    headrace: { is_estimated: true, reported: { input_tokens: 11, output_tokens: 128_001 } },
  })
  expect(Number(at(row, 'total_cost'))).toBeLessThan(0.001)
})

test('a prompt of no tokens is estimated, and output within the limit is believed', async () => {
  answerWith({ prompt_tokens: 0, completion_tokens: 40, total_tokens: 40 })
  const { row } = await charged({ max_tokens: 50 })
  expect(row).toMatchObject({
    tokens_completion: 40,
    headrace: { is_estimated: true, reported: { input_tokens: 0, output_tokens: 40 } },
  })
  expect(Number(at(row, 'tokens_prompt'))).toBeGreaterThan(0)
})

test('what is believed stands alone', async () => {
  answerWith({ prompt_tokens: 11, completion_tokens: 50, total_tokens: 61 })
  const { row } = await charged({ max_tokens: 50 })
  expect(row).toMatchObject({
    tokens_completion: 50,
    total_cost: 0.00111,
    headrace: { is_estimated: false, reported: null },
  })
})
