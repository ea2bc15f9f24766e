import { afterAll, expect, test } from 'bun:test'
import { customProvider, startTestGateway } from '../support/gateway.ts'

// A tier of service is asked for where its price is stated, and what the provider says it used is what is paid.

let asked: unknown = null
let served: string | null = null
const upstream = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  async fetch(request) {
    asked = ((await request.json()) as Record<string, unknown>)['service_tier'] ?? null
    return Response.json({
      id: 'c1',
      object: 'chat.completion',
      created: 1,
      model: 'm',
      ...(served === null ? {} : { service_tier: served }),
      choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'hello' } }],
      usage: { prompt_tokens: 1000, completion_tokens: 100, total_tokens: 1100 },
    })
  },
})
const prices = {
  input_per_million: '2',
  output_per_million: '10',
  service_tiers: {
    flex: { input_per_million: '1', output_per_million: '5' },
    priority: { output_per_million: '20' },
  },
}
const gateway = await startTestGateway({
  providers: () => [
    customProvider(`${upstream.url.origin}/v1`, [
      { id: 'acme/tiers', upstream: 'tiers', prices },
      { id: 'acme/plain', upstream: 'plain', prices: { input_per_million: '2', output_per_million: '10' } },
    ]),
  ],
})
afterAll(async () => {
  await gateway.stop()
  await upstream.stop(true)
})

// 1,000 tokens of about 3,000 letters, so that the provider's count is believed.
const messages = [{ role: 'user', content: 'abc '.repeat(1_000) }]
const ask = async (path: string, body: Record<string, unknown>) => {
  const answer = await gateway.post(path, body)
  expect(answer.status).toBe(200)
  const id = answer.headers.get('x-generation-id') ?? ''
  const { json } = await gateway.get(`/generation?id=${id}`)
  const generation = json['data'] as Record<string, unknown>
  return { asked, cost: generation['total_cost'], tier: generation['service_tier'], answer: answer.json }
}

test('each tier that was served has its own price, whatever was asked for', async () => {
  for (const [wanted, used, sent, cost] of [
    // 1,000 tokens in and 100 out: 0.002 + 0.001 at the usual price, half of it at flex, 0.002 + 0.002 at priority.
    ['flex', 'flex', 'flex', 0.0015],
    ['priority', 'priority', 'priority', 0.004],
    ['fast', 'priority', 'priority', 0.004],
    ['flex', 'default', 'flex', 0.003],
    ['default', null, null, 0.003],
  ] as const) {
    served = used
    const chat = await ask('/chat/completions', {
      model: 'acme/tiers',
      messages,
      service_tier: wanted,
      max_tokens: 100,
    })
    expect([wanted, chat.asked, chat.cost, chat.tier]).toEqual([wanted, sent, cost, used])
    const response = await ask('/responses', {
      model: 'acme/tiers',
      input: messages,
      service_tier: wanted,
      max_output_tokens: 100,
    })
    expect([wanted, response.asked, response.cost]).toEqual([wanted, sent, cost])
  }
})

test('a tier without a price is not asked for, and the answer says so', async () => {
  served = null
  const {
    asked: sent,
    cost,
    answer,
  } = await ask('/chat/completions', {
    model: 'acme/plain',
    messages,
    service_tier: 'priority',
    max_tokens: 100,
  })
  expect([sent, cost]).toEqual([null, 0.003])
  expect(answer['headrace_metadata']).toMatchObject({ dropped: ['service_tier'] })
})

test('what is held is enough for the dearest tier', async () => {
  served = 'priority'
  // The usual price would fit: some 0.003 and the estimate of the prompt; priority costs a third more.
  const { key } = await gateway.addOrganization({ credits: '0.004' })
  const body = { model: 'acme/tiers', messages, service_tier: 'priority', max_tokens: 100 }
  const refused = await gateway.post('/chat/completions', { ...body, max_tokens: 200 }, { key })
  expect(refused.status).toBe(402)
})
