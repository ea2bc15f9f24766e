import { afterAll, expect, test } from 'bun:test'
import type { ProviderConfig } from '../../src/config-file.ts'
import { at, startTestGateway } from '../support/gateway.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'

// The gateway's own errors and members, in the words that clients of each format look for.

const upstream = startScriptedUpstream()
const prices = { input_per_million: '10', output_per_million: '20' }
const provider = (preset: string, id: string, model: string): ProviderConfig => ({
  preset,
  id,
  base_url: `${upstream.url}/${id}/v1`,
  api_key: 'any',
  weight: 1,
  discover: false,
  only_models: true,
  models: [{ id: model, prices }],
})
const gateway = await startTestGateway({
  credits: '0.001',
  providers: () => [
    provider('custom', 'refusing', 'refusing/talker'),
    provider('custom', 'acme', 'acme/talker'),
    provider('openai', 'openai', 'openai/gpt-4o-mini'),
  ],
})
afterAll(async () => {
  await gateway.stop()
  await upstream.stop()
})

type Wire = Record<string, unknown>

const messages = [{ role: 'user', content: 'Say hello' }]

test('a provider whose credential is refused is 503, and an overload in Anthropic’s words, with the reason', async () => {
  upstream.answer(() => Response.json({ error: { message: 'Incorrect API key provided.' } }, { status: 401 }))
  const ask = (path: string) => gateway.post(path, { model: 'refusing/talker', messages, max_tokens: 9 })
  await ask('/messages')
  const told = await ask('/messages')
  expect(told.status).toBe(503)
  expect(told.json['error']).toMatchObject({
    type: 'overloaded_error',
    error_type: 'provider_overloaded',
    code: 503,
  })
  expect(String(at(told.json, 'error.message'))).toContain('credential')
  const chat = await ask('/chat/completions')
  expect([chat.status, at(chat.json, 'error.error_type')]).toEqual([503, 'provider_overloaded'])
  expect(String(at(chat.json, 'error.message'))).toContain('credential')
})

test('a 404 below messages has Anthropic’s envelope, and elsewhere the contract’s', async () => {
  for (const path of [
    '/messages/batches/msgbatch_1',
    '/messages/batches/msgbatch_1/results',
    '/messages/none',
  ]) {
    for (const base of ['//v1', '//api/v1']) {
      const { status, json, headers } = await gateway.get(`${base}${path}`)
      expect([path, status]).toEqual([path, 404])
      expect(json).toMatchObject({ type: 'error', error: { type: 'not_found_error' }, request_id: null })
      expect(headers.get('request-id')).toBe(headers.get('x-request-id') ?? '')
    }
  }
  const wrongMethod = await gateway.get('/messages')
  expect([wrongMethod.status, at(wrongMethod.json, 'error.type')]).toEqual([404, 'not_found_error'])
  const other = await gateway.get('/messagesque')
  expect([other.status, other.json['type']]).toEqual([404, undefined])
})

test('the API description has the error for an answer in another form than the requested one', async () => {
  const { json } = await gateway.get('//openapi.json')
  for (const path of ['/chat/completions', '/responses', '/messages'])
    expect([path, at(json, `paths.${path}.post.responses`)]).toMatchObject([path, { 422: {} }])
})

test('a call that the balance does not cover is refused without a name of another service', async () => {
  for (const path of ['/chat/completions', '/messages']) {
    const { status, json } = await gateway.post(path, { model: 'acme/talker', messages, max_tokens: 100_000 })
    expect(status).toBe(402)
    expect(String(at(json, 'error.message'))).not.toMatch(/openrouter/i)
    expect(at(json, 'error.metadata.limit_source')).toBe('openrouter_credits')
  }
})

/** The contract's clients know these and no others. */
const known: ReadonlySet<unknown> = new Set(
  (
    'temperature top_p top_k min_p top_a frequency_penalty presence_penalty repetition_penalty max_tokens ' +
    'max_completion_tokens logit_bias logprobs top_logprobs prediction seed response_format structured_outputs stop ' +
    'tools tool_choice parallel_tool_calls include_reasoning reasoning reasoning_effort web_search_options verbosity'
  ).split(' '),
)

test('a model names its tokenizer as a string, and the parameters of the contract alone', async () => {
  const { json } = await gateway.get('/models')
  for (const model of json['data'] as Wire[]) {
    expect([model['id'], typeof at(model, 'architecture.tokenizer')]).toEqual([model['id'], 'string'])
    const parameters = model['supported_parameters'] as string[]
    expect([model['id'], parameters.filter((name) => !known.has(name))]).toEqual([model['id'], []])
    expect(parameters).toContain('temperature')
  }
  const one = await gateway.get('/models/openai/gpt-4o-mini/endpoints')
  expect(typeof at(one.json, 'data.architecture.tokenizer')).toBe('string')
  const parameters = at(one.json, 'data.endpoints.0.supported_parameters') as string[]
  expect(parameters.filter((name) => !known.has(name))).toEqual([])
})
