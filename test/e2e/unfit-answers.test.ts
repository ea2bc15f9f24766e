import { afterAll, beforeEach, expect, test } from 'bun:test'
import { at, startTestGateway, until } from '../support/gateway.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'

// An answer in another form than the one that its provider was only told of in the prompt: who pays, and who is blamed.

const upstream = startScriptedUpstream()
// It takes no schema, and any JSON object is only told to every model of its provider.
const model = 'anthropic/claude-3-5-haiku'
const gateway = await startTestGateway({
  credits: '1',
  providers: () => [
    {
      preset: 'anthropic',
      base_url: `${upstream.url}/v1`,
      api_key: 'scripted',
      weight: 1,
      discover: false,
      models: [{ id: model, prices: { input_per_million: '1', output_per_million: '10' } }],
    },
  ],
})
afterAll(async () => {
  await gateway.stop()
  await upstream.stop()
})

const usage = { input_tokens: 20, output_tokens: 30 }
const text = 'No object, only prose.'

function frame(type: string, rest: Record<string, unknown>): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...rest })}\n\n`
}

async function* slowly(): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder()
  const message = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm', content: [], usage }
  yield encoder.encode(frame('message_start', { message }))
  yield encoder.encode(frame('content_block_start', { index: 0, content_block: { type: 'text', text: '' } }))
  yield encoder.encode(frame('content_block_delta', { index: 0, delta: { type: 'text_delta', text } }))
  // Long enough that the beginning is shown before the end is here.
  await Bun.sleep(300)
  yield encoder.encode(frame('content_block_stop', { index: 0 }))
  yield encoder.encode(frame('message_delta', { delta: { stop_reason: 'end_turn' }, usage }))
  yield encoder.encode(frame('message_stop', {}))
}

beforeEach(() => {
  upstream.seen.length = 0
  upstream.answer(({ body }) => {
    if (body.includes('"stream":true'))
      return new Response(slowly(), { headers: { 'content-type': 'text/event-stream' } })
    const content = [{ type: 'text', text }]
    return Response.json({
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'm',
      content,
      stop_reason: 'end_turn',
      usage,
    })
  })
})

const request = {
  model,
  max_tokens: 100,
  messages: [{ role: 'user', content: 'A poem, please.' }],
  response_format: { type: 'json_object' },
}

async function spent(): Promise<number> {
  return Number(at((await gateway.get('/credits')).json, 'data.total_usage'))
}

test('a caller who was shown the whole answer in a stream pays for it', async () => {
  const before = await spent()
  const response = await gateway.request('/chat/completions', {
    method: 'POST',
    body: { ...request, stream: true },
  })
  const shown = await response.text()
  expect(shown).toContain(text)
  expect(shown).toContain('did not answer in the form')
  // 20 × 1 and 30 × 10 credits for a million.
  const after = await until(spent, (total) => total > before)
  expect(after - before).toBeCloseTo(0.000_32, 9)
})

test('one who is shown nothing of it pays nothing, and the provider is asked once and not blamed', async () => {
  const before = await spent()
  for (let call = 0; call < 5; call += 1) {
    const { status, json } = await gateway.post('/chat/completions', request)
    expect([status, at(json, 'error.error_type')]).toEqual([422, 'unprocessable'])
  }
  expect(upstream.seen).toHaveLength(5)
  expect(await spent()).toBe(before)
  // A provider that is blamed would be left out, or come last.
  const plain = await gateway.post('/chat/completions', { ...request, response_format: { type: 'text' } })
  expect(plain.status).toBe(200)
})

test('an item of a batch fails by it at once', async () => {
  const { json } = await gateway.post('/batches', {
    endpoint: '/v1/chat/completions',
    model,
    requests: [{ custom_id: 'a', body: { ...request, model } }],
  })
  const batch = await until(
    () => gateway.get(`/batches/${String(at(json, 'id'))}`),
    (answer) => at(answer.json, 'status') === 'completed',
  )
  expect(at(batch.json, 'results')).toMatchObject([
    { response: null, error: { type: 'unfit_answer', error_type: 'unprocessable' } },
  ])
  expect(upstream.seen).toHaveLength(1)
})
