import { afterAll, beforeEach, expect, test } from 'bun:test'
import { at, readAnswer, startTestGateway } from '../support/gateway.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'

// A request that no endpoint of its model can carry is told so, whatever the balance: more money would not help.

const upstream = startScriptedUpstream()
const model = 'acme/large'
const providerAt = (preset: string, dollars: string) => ({
  id: preset,
  preset,
  base_url: `${upstream.url}/${preset}`,
  api_key: 'scripted',
  weight: 1,
  discover: false,
  models: [{ id: model, prices: { input_per_million: dollars, output_per_million: dollars } }],
})
const completion = {
  id: 'c1',
  object: 'chat.completion',
  created: 1,
  model: 'large',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Well.' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 5, completion_tokens: 3, total_tokens: 8 },
}
const one = await startTestGateway({ providers: () => [providerAt('anthropic', '10')] })
const two = await startTestGateway({
  providers: () => [providerAt('anthropic', '1'), providerAt('custom', '1000')],
})
afterAll(async () => {
  await one.stop()
  await two.stop()
  await upstream.stop()
})

beforeEach(() => {
  upstream.seen.length = 0
  upstream.answer(() => Response.json(completion))
})

const ask = { model, max_tokens: 1_000, messages: [{ role: 'user', content: 'Hello.' }] }

/** The answer to an organization with this many dollars. */
async function answerOf(gateway: typeof one, credits: string, body: object) {
  const { key } = await gateway.addOrganization({ credits })
  return readAnswer(await gateway.request('/chat/completions', { method: 'POST', body, key }))
}

test('a request that the only endpoint cannot carry is 400, even if the balance is too small as well', async () => {
  const refused = await answerOf(one, '0.000001', { ...ask, n: 2 })
  expect([refused.status, at(refused.json, 'error.param')]).toEqual([400, 'n'])
  expect((await answerOf(one, '0.000001', ask)).status).toBe(402)
  expect(upstream.seen).toEqual([])
})

test('a request that only an endpoint beyond the balance can carry is 402, and is served when the balance is enough', async () => {
  const short = await answerOf(two, '0.01', { ...ask, n: 2 })
  expect([short.status, at(short.json, 'error.error_type')]).toEqual([402, 'payment_required'])
  expect(upstream.seen).toEqual([])
  expect((await answerOf(two, '100', { ...ask, n: 2 })).status).toBe(200)
  expect(upstream.seen.map(({ path }) => path)).toEqual(['/custom/chat/completions'])
})
