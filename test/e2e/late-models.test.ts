import { afterAll, expect, test } from 'bun:test'
import { startTestGateway } from '../support/gateway.ts'

// A server of the operator's own that loads a model after the gateway has asked it what it has.

const listed = ['first']
let readings = 0
const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch(request) {
    if (new URL(request.url).pathname.endsWith('/models')) {
      readings += 1
      return Response.json({ object: 'list', data: listed.map((id) => ({ id, object: 'model' })) })
    }
    return Response.json({
      id: 'c1',
      object: 'chat.completion',
      created: 1,
      model: 'any',
      choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'hello' } }],
      usage: { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 },
    })
  },
})
/** Takes requests and never answers. */
const silent = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Promise<Response>(() => {}) })

let aheadMs = 0
const gateway = await startTestGateway({
  providers: () =>
    [server, silent].map(({ url }, index) => ({
      preset: 'vllm',
      id: `own-${index}`,
      base_url: `${url.origin}/v1`,
      weight: 1,
      models: [],
    })),
  hooks: {
    clock: { nowMs: () => Date.now(), monotonicMs: () => performance.now() + aheadMs },
    writeLog: () => undefined,
  },
})
afterAll(async () => {
  await gateway.stop()
  await server.stop(true)
  await silent.stop(true)
})

const messages = [{ role: 'user', content: 'hi' }]
const ask = async (model: string) => (await gateway.post('/chat/completions', { model, messages })).status

test('a model that a server loaded later is found by the call that asks for it', async () => {
  expect(await ask('vllm/first')).toBe(200)
  const before = readings
  listed.push('late')
  // Its listing was read a moment ago, so nobody asks again. The silent one has told nothing yet, and may have the model.
  expect([await ask('vllm/late'), readings]).toEqual([503, before])
  aheadMs += 31_000
  expect([await ask('vllm/late'), readings]).toEqual([200, before + 1])
})

test('a batch finds it too, and a model that vanishes is no longer offered', async () => {
  listed.push('later')
  aheadMs += 31_000
  const batch = await gateway.post('/batches', {
    endpoint: '/v1/chat/completions',
    model: 'vllm/later',
    requests: [{ custom_id: 'a', body: { messages } }],
  })
  expect(batch.status).toBe(202)
  listed.splice(0, 1)
  aheadMs += 31_000
  // A reading that some unknown model causes shows it.
  expect(await ask('vllm/nobody-has-this')).toBe(503)
  expect(await ask('vllm/first')).toBe(503)
  const { json } = await gateway.get('/models')
  expect((json['data'] as { id: string }[]).map(({ id }) => id)).toEqual([
    'vllm/late',
    'vllm/late:batch',
    'vllm/later',
    'vllm/later:batch',
  ])
})
