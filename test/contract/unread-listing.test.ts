import { afterAll, expect, test } from 'bun:test'
import { at, readAnswer, startTestGateway, until } from '../support/gateway.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'

// A gateway may start while a provider fails. Its models are then unknown, and the gateway does not answer that
// a model does not exist: calls get 503 with `Retry-After`, and items of a batch that was accepted before wait.

const upstream = startScriptedUpstream()
const completion = {
  id: 'c1',
  object: 'chat.completion',
  created: 1,
  model: 'large',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Well.' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 5, completion_tokens: 3, total_tokens: 8 },
}
const told = Promise.withResolvers<void>()
upstream.answer(async ({ path }) => {
  if (!path.endsWith('/models')) return Response.json(completion)
  await told.promise
  return Response.json({ data: [{ id: 'large' }] })
})
const gateway = await startTestGateway({
  providers: () => [
    {
      preset: 'custom',
      id: 'acme',
      base_url: `${upstream.url}/v1`,
      api_key: 'scripted',
      weight: 1,
      models: [],
    },
    {
      preset: 'groq',
      base_url: `${upstream.url}/groq`,
      api_key: 'scripted',
      weight: 1,
      discover: false,
      models: [],
    },
  ],
  names: { names: { smart: { groups: [[{ model: 'acme/large' }]] } }, aliases: { old: 'smart' } },
})
afterAll(async () => {
  await gateway.stop()
  await upstream.stop()
})

const ask = async (model: string, path = '/chat/completions') =>
  readAnswer(
    await gateway.request(path, {
      method: 'POST',
      body: { model, max_tokens: 9, messages: [{ role: 'user', content: 'Hello.' }] },
    }),
  )

test('a model that an unread provider may have is 503, and any other model is unknown', async () => {
  // Each waits for the listing for a while.
  const awaited = ['acme/large', 'acme/large:floor', 'smart', 'old']
  const unknown = ['other/large', 'groq/none', 'large-and-unheard-of']
  const answers = await Promise.all([...awaited, ...unknown].map((model) => ask(model)))
  for (const [index, { status, headers, json }] of answers.slice(0, awaited.length).entries()) {
    expect([awaited[index], status, at(json, 'error.error_type')]).toEqual([
      awaited[index],
      503,
      'provider_overloaded',
    ])
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
    expect(at(json, 'error.message')).toContain('acme')
    expect(at(json, 'error.availability.retryable')).toBe(true)
  }
  expect(answers.slice(awaited.length).map(({ status }) => status)).toEqual([400, 400, 400])
  expect((await ask('acme/large', '/messages')).status).toBe(503)
})

test('a provider that has listed its models has no others', async () => {
  told.resolve()
  await until(
    () => ask('acme/large'),
    ({ status }) => status === 200,
  )
  expect((await ask('smart')).status).toBe(200)
  expect((await ask('acme/none')).status).toBe(400)
})
