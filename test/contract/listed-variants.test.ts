import { afterAll, expect, test } from 'bun:test'
import { at, startTestGateway } from '../support/gateway.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'

// OpenRouter lists variants of models beside the models (contract 8.5): `:batch` entries, which its own batches cost, and
// `:free` ones, which are endpoints of their own. Batches of the first run as OpenRouter's own jobs, at that price.

const luna = 'openai/gpt-6-luna'
const listed = [luna, `${luna}:batch`, 'deepseek/deepseek-r1', 'deepseek/deepseek-r1:free', 'acme/new:free']
const upstream = startScriptedUpstream()
upstream.answer(({ path, body }) =>
  path.endsWith('/models')
    ? Response.json({ data: listed.map((id) => ({ id })) })
    : Response.json({
        id: 'c',
        object: 'chat.completion',
        created: 1,
        model: (JSON.parse(body) as { model: string }).model,
        choices: [{ index: 0, message: { role: 'assistant', content: 'Well.' }, finish_reason: 'stop' }],
        usage: { prompt_tokens: 1000, completion_tokens: 100, total_tokens: 1100 },
      }),
)
const row = { preset: 'openrouter', base_url: `${upstream.url}/v1`, api_key: 'any', weight: 1, models: [] }
const gateways = {
  'with its listing': await startTestGateway({ credits: '50', providers: () => [row] }),
  'without a listing': await startTestGateway({
    credits: '50',
    providers: () => [{ ...row, discover: false }],
  }),
}
afterAll(async () => {
  for (const gateway of Object.values(gateways)) await gateway.stop()
  await upstream.stop()
})

const messages = [{ role: 'user', content: 'Say hello' }]

test('no id is listed twice, and the entry for batches has the price of batches', async () => {
  for (const [name, gateway] of Object.entries(gateways)) {
    const { json } = await gateway.get('/models?output_modalities=all')
    const ids = (json['data'] as { id: string }[]).map(({ id }) => id)
    expect(ids).toContain(luna)
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([])
    expect(ids.filter((id) => /:[a-z]+:batch$/.test(id))).toEqual([])
    // 0.1 and 0.5 USD per million tokens, and half of each in a batch.
    for (const [id, prompt, completion] of [
      [luna, '0.0000001', '0.0000005'],
      [`${luna}:batch`, '0.00000005', '0.00000025'],
    ]) {
      const { json: one } = await gateway.get(`/model/${id}`)
      expect([name, id, at(one, 'data.pricing.prompt'), at(one, 'data.pricing.completion')]).toEqual([
        name,
        id,
        prompt,
        completion,
      ])
    }
  }
})

test('a live call to the batch variant costs the same as a call to the model', async () => {
  for (const [name, gateway] of Object.entries(gateways)) {
    for (const model of [luna, `${luna}:batch`]) {
      const { status, json } = await gateway.post('/chat/completions', { model, messages })
      expect([name, status, at(json, 'model'), at(json, 'usage.cost')]).toEqual([name, 200, luna, 0.00015])
      expect(JSON.parse(upstream.seen.at(-1)?.body ?? '{}')).toMatchObject({ model: luna })
    }
  }
})

test('a batch of the batch variant is estimated as a job of OpenRouter, a small one of the model item by item', async () => {
  for (const [name, gateway] of Object.entries(gateways)) {
    const costs: number[] = []
    for (const [model, lane] of [
      [luna, 'emulated'],
      [`${luna}:batch`, 'native'],
    ]) {
      const requests = [{ custom_id: 'a', body: { messages } }]
      const body = { endpoint: '/v1/chat/completions', model, requests }
      const { status, json } = await gateway.post('/batches?dry_run=true', body)
      expect([name, model, status, at(json, 'lane')]).toEqual([name, model, 200, lane])
      costs.push(Number(at(json, 'estimate')))
    }
    expect(costs[0]).toBeGreaterThan(0)
    expect(costs[1]).toBeCloseTo((costs[0] ?? 0) / 2, 8)
  }
})

test('a batch takes the free variant by its own id, which stands for endpoints of its own', async () => {
  const body = (model: string) => ({
    endpoint: '/v1/chat/completions',
    model,
    requests: [{ custom_id: 'a', body: { messages } }],
  })
  const gateway = gateways['with its listing']
  const { status } = await gateway.post('/batches?dry_run=true', body('deepseek/deepseek-r1:free'))
  expect(status).toBe(200)
})

test('a free variant costs nothing, also when its price is unknown', async () => {
  const gateway = gateways['with its listing']
  const { key } = await gateway.addOrganization({ credits: '1' })
  const free = (await gateway.get('/model/acme/new:free')).json
  expect([at(free, 'data.pricing.prompt'), at(free, 'data.pricing.completion')]).toEqual(['0', '0'])
  const { status, json } = await gateway.post(
    '/chat/completions',
    { model: 'acme/new:free', messages },
    { key },
  )
  expect([status, at(json, 'model'), at(json, 'usage.cost')]).toEqual([200, 'acme/new:free', 0])
})
