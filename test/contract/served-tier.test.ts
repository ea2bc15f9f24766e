import { afterAll, expect, test } from 'bun:test'
import { at, startTestGateway, until } from '../support/gateway.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'

// A call is charged by the tier that its answer reports, never by the tier that was asked for.

const upstream = startScriptedUpstream()
const usual = { input_per_million: '2', output_per_million: '10' }
const app = await startTestGateway({
  credits: '5',
  providers: () => [
    {
      preset: 'custom',
      id: 'acme',
      base_url: `${upstream.url}/v1`,
      weight: 1,
      discover: false,
      models: [
        {
          id: 'acme/chat',
          upstream: 'chat',
          prices: { ...usual, service_tiers: { flex: { input_per_million: '1', output_per_million: '5' } } },
        },
      ],
    },
  ],
})
afterAll(async () => {
  await app.stop()
  await upstream.stop()
})

const usualNanocredits = 100 * 2_000 + 20 * 10_000

test('an item of the flex lane that is served by the flex tier pays half of the usual price', () =>
  costsWhenServedBy('flex', usualNanocredits / 2))

test('an item of the flex lane that is served by the usual tier pays the price of that tier', () =>
  costsWhenServedBy('default', usualNanocredits))

test('an item whose answer names no tier was served by the usual one, as far as is known', () =>
  costsWhenServedBy(undefined, usualNanocredits))

async function costsWhenServedBy(tier: string | undefined, nanocredits: number): Promise<void> {
  upstream.answer(() =>
    Response.json({
      id: 'c1',
      object: 'chat.completion',
      created: 1,
      model: 'chat',
      ...(tier === undefined ? {} : { service_tier: tier }),
      choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'Hello.' } }],
      usage: { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 },
    }),
  )
  const body = { messages: [{ role: 'user', content: 'Say hello' }], max_tokens: 50 }
  const created = await app.post('/batches', {
    endpoint: '/v1/chat/completions',
    model: 'acme/chat',
    headrace: { lane: 'flex' },
    requests: [{ custom_id: 'one', body }],
  })
  expect(created.status).toBe(202)
  const ended = await until(
    () => app.get(`/batches/${String(created.json['id'])}`),
    ({ json }) => json['status'] === 'completed',
  )
  expect(Math.round(Number(at(ended.json, 'usage.cost')) * 1e9)).toBe(nanocredits)
  expect(at(JSON.parse(upstream.seen.at(-1)?.body ?? '{}'), 'service_tier')).toBe('flex')
}
