import Anthropic from '@anthropic-ai/sdk'
import { OpenRouter } from '@openrouter/sdk'
import { afterAll, expect, test } from 'bun:test'
import OpenAI from 'openai'
import { at, startTestGateway, until } from '../support/gateway.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'

// A self-hosted server may list any model name: a LiteLLM the names of everybody's models, a vLLM those of the
// files that it
// loaded. Such a listing must not decide who gets the calls of a public id.

const listings: Readonly<Record<string, readonly string[]>> = {
  '/lite/v1/models': [
    'anthropic/claude-haiku-4-5',
    'openai/gpt-4o-mini',
    'claude-haiku-4-5',
    'a/b/c',
    'x/y',
    'x--y',
  ],
  '/joined/v1/models': ['anthropic/claude-haiku-4-5', 'gpt-4o-mini'],
  '/vllm/v1/models': ['Qwen/Qwen3-8B'],
  '/ollama/v1/models': ['hf.co/acme/tiny:latest'],
  '/claude/models': ['claude-haiku-4-5-20251001'],
  '/openai/models': ['gpt-4o-mini', 'gpt-4o-mini-2024-07-18'],
  '/router/models': ['anthropic/claude-haiku-4-5-20251001', 'openai/gpt-4o-mini'],
}
const upstream = startScriptedUpstream()
upstream.answer(({ path, body }) => {
  const listed = listings[path]
  if (listed) return Response.json({ data: listed.map((id) => ({ id })) })
  if (path.endsWith('/models')) return Response.json({ data: [] })
  if (!path.endsWith('/chat/completions')) return new Response(null, { status: 500 })
  const { model } = JSON.parse(body) as { model: string }
  return Response.json({
    id: 'c1',
    object: 'chat.completion',
    created: 1,
    model,
    choices: [{ index: 0, message: { role: 'assistant', content: model }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 5, completion_tokens: 3, total_tokens: 8 },
  })
})
const server = (path: string) => ({ base_url: `${upstream.url}${path}`, api_key: 'scripted', weight: 1 })
const gateway = await startTestGateway({
  providers: () => [
    { preset: 'custom', id: 'lite', ...server('/lite/v1'), models: [] },
    {
      preset: 'custom',
      id: 'joined',
      ...server('/joined/v1'),
      models: [{ id: 'anthropic/claude-haiku-4-5-20251001', upstream: 'anthropic/claude-haiku-4-5' }],
    },
    { preset: 'vllm', ...server('/vllm/v1'), models: [{ id: 'vllm/Qwen--Qwen3-8B', modality: 'language' }] },
    { preset: 'ollama', ...server('/ollama/v1'), models: [] },
    { preset: 'anthropic', ...server('/claude'), models: [] },
    { preset: 'openai', ...server('/openai'), models: [] },
    { preset: 'openrouter', ...server('/router'), models: [] },
  ],
  names: { names: { cheap: { groups: [[{ model: 'lite/openai--gpt-4o-mini' }]] } }, aliases: {} },
})
const baseUrl = gateway.listen()
afterAll(async () => {
  await gateway.stop()
  await upstream.stop()
})

const idsOf = async () => {
  const { json } = await gateway.get('/models')
  const ids = (json['data'] as { id: string }[]).map(({ id }) => id)
  return ids.filter((id) => !id.endsWith(':batch'))
}
const providersOf = async (id: string) => {
  const { status, json } = await gateway.get(`/models/${id}/endpoints`)
  const endpoints = status === 200 ? (at(json, 'data.endpoints') as { tag: string }[]) : []
  return [at(json, 'data.id'), endpoints.map(({ tag }) => tag).toSorted()] as const
}
// Every server has listed its models.
await until(idsOf, (ids) =>
  [/Qwen3-8B/, /tiny/, /x--y/, /^joined/].every((one) => ids.some((id) => one.test(id))),
)
await until(
  async () => [
    await providersOf('anthropic/claude-haiku-4-5-20251001'),
    await providersOf('openai/gpt-4o-mini-2024-07-18'),
  ],
  ([haiku, mini]) => haiku?.[1]?.length === 3 && mini?.[1]?.length === 1,
)
const ask = async (model: string) => {
  const { status, json } = await gateway.post('/chat/completions', {
    model,
    max_tokens: 9,
    messages: [{ role: 'user', content: 'Hello.' }],
  })
  return [status, at(json, 'choices.0.message.content')]
}

test('a model that a self-hosted server lists never becomes an endpoint of a public id, dated or not', async () => {
  const haiku: readonly [string, string[]] = [
    'anthropic/claude-haiku-4-5-20251001',
    ['anthropic', 'joined', 'openrouter'],
  ]
  expect(await providersOf('anthropic/claude-haiku-4-5')).toEqual(haiku)
  expect(await providersOf('anthropic/claude-haiku-4-5-20251001')).toEqual(haiku)
  expect(await providersOf('openai/gpt-4o-mini')).toEqual(['openai/gpt-4o-mini', ['openai', 'openrouter']])
})

test('a bare name at a self-hosted server does not take over the dated model of its maker', async () => {
  const [status] = await ask('claude-haiku-4-5')
  expect(status).toBe(400)
  expect(await ask('lite/claude-haiku-4-5')).toEqual([200, 'claude-haiku-4-5'])
})

test('its models have ids of two parts in the provider’s own name, and are asked by the server’s name', async () => {
  const own = (await idsOf()).filter((id) => /^(lite|joined|vllm|ollama)\//.test(id))
  expect(own).toEqual([
    'joined/gpt-4o-mini',
    'lite/a--b--c',
    'lite/anthropic--claude-haiku-4-5',
    'lite/claude-haiku-4-5',
    'lite/openai--gpt-4o-mini',
    'lite/x--y',
    'ollama/hf.co--acme--tiny:latest',
    'vllm/Qwen--Qwen3-8B',
  ])
  expect(await ask('lite/anthropic--claude-haiku-4-5')).toEqual([200, 'anthropic/claude-haiku-4-5'])
  expect(await ask('lite/a--b--c')).toEqual([200, 'a/b/c'])
  expect(await ask('lite/x--y')).toEqual([200, 'x/y'])
  expect(await ask('ollama/hf.co--acme--tiny')).toEqual([200, 'hf.co/acme/tiny:latest'])
  // A model that is configured by its id alone is still the listed model.
  expect(await ask('vllm/Qwen--Qwen3-8B')).toEqual([200, 'Qwen/Qwen3-8B'])
})

test('the operator joins it to a public id by `models`, and to any name by a name', async () => {
  expect(await ask('cheap')).toEqual([200, 'openai/gpt-4o-mini'])
  const joined = await gateway.post('/chat/completions', {
    model: 'anthropic/claude-haiku-4-5',
    provider: { only: ['joined'] },
    messages: [{ role: 'user', content: 'Hello.' }],
  })
  expect([joined.status, at(joined.json, 'choices.0.message.content')]).toEqual([
    200,
    'anthropic/claude-haiku-4-5',
  ])
})

test('the paths of client libraries find it by author and slug, and by its id', async () => {
  const id = 'lite/anthropic--claude-haiku-4-5'
  const [author = '', slug = ''] = id.split('/')
  const router = new OpenRouter({
    apiKey: gateway.key,
    serverURL: baseUrl,
    retryConfig: { strategy: 'none' },
  })
  const { data } = await router.endpoints.list({ author, slug })
  expect([data.id, data.endpoints.map(({ tag }) => tag)]).toEqual([id, ['lite']])
  const openai = new OpenAI({ apiKey: gateway.key, baseURL: baseUrl, maxRetries: 0 })
  expect((await openai.models.retrieve(id)).id).toBe(id)
  const anthropic = new Anthropic({
    apiKey: gateway.key,
    baseURL: baseUrl.replace(/\/v1$/, ''),
    maxRetries: 0,
  })
  expect((await anthropic.models.retrieve(id)).id).toBe(id)
})
