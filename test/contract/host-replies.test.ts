import { afterAll, expect, test } from 'bun:test'
import type { ProviderConfig } from '../../src/config-file.ts'
import { createPublicFetch } from '../../src/transport/public-fetch.ts'
import { at, startTestGateway } from '../support/gateway.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'

// Answers of real hosts with their requests, from recordings of other projects' clients. Each test shows one
// habit of a host, written by hand after its recording.

const upstream = startScriptedUpstream()
const prices = { input_per_million: '10', output_per_million: '20' }
const provider = (preset: string, more: Partial<ProviderConfig>): ProviderConfig => ({
  preset,
  base_url: `${upstream.url}/${preset}/v1`,
  api_key: 'any',
  weight: 1,
  discover: false,
  only_models: true,
  models: [],
  ...more,
})
const gateway = await startTestGateway({
  // No test asks a resolver.
  hooks: {
    writeLog: () => undefined,
    publicFetch: createPublicFetch({ resolve: () => Promise.resolve(['93.184.216.34']) }),
  },
  providers: () => [
    provider('custom', { id: 'acme', models: [{ id: 'acme/talker', prices }] }),
    provider('openai', {
      models: [
        // Without prices of the operator's own, so that the gateway's lists tell them.
        { id: 'openai/gpt-5' },
        { id: 'openai/text-embedding-ada-002' },
      ],
    }),
    provider('openrouter', { models: [{ id: 'acme/reader', upstream: 'openai/gpt-4.1-mini', prices }] }),
    provider('perplexity', { models: [{ id: 'perplexity/sonar-pro', prices }] }),
    provider('ollama', { models: [{ id: 'ollama/qwen3', upstream: 'qwen3:latest' }] }),
    provider('google-ai-studio', { models: [{ id: 'google/gemini-2.5-flash', prices }] }),
  ],
})
afterAll(async () => {
  await gateway.stop()
  await upstream.stop()
})

type Wire = Record<string, unknown>

const question = [{ role: 'user', content: 'What is 2 + 2?' }]
const counts = { prompt_tokens: 20, completion_tokens: 5, total_tokens: 25 }
const wanted = { headers: { 'x-headrace-metadata': 'enabled' } }

const chatAnswer = (message: Wire, finish = 'stop'): Wire => ({
  id: '',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: finish }],
  usage: counts,
})

/** Lets the host give this answer, and returns the request that it was sent. */
function answering(answer: Wire): () => Wire {
  upstream.answer(() => Response.json(answer))
  upstream.seen.splice(0)
  return () => JSON.parse(upstream.seen.at(-1)?.body ?? '{}') as Wire
}

function streaming(deltas: readonly Wire[]): void {
  const base = { id: 'c', created: 1, model: 'm' }
  const chunks = [
    ...deltas.map((delta) => ({ ...base, choices: [{ index: 0, delta, finish_reason: null }] })),
    { ...base, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], usage: counts },
  ]
  const text = chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('')
  upstream.answer(
    () => new Response(`${text}data: [DONE]\n\n`, { headers: { 'content-type': 'text/event-stream' } }),
  )
}

test('an empty `function_call` and an empty `audio`, as Snowflake writes them, count as absent', async () => {
  const hollow = {
    content: '4',
    refusal: '',
    annotations: null,
    audio: { data: '', expires_at: 0, id: '', transcript: '' },
    function_call: { arguments: '', name: '' },
    tool_calls: null,
  }
  for (const finish of ['', 'stop']) {
    answering(chatAnswer(hollow, finish))
    const chat = await gateway.post('/chat/completions', { model: 'acme/talker', messages: question })
    expect(at(chat.json, 'choices.0')).toMatchObject({ message: { content: '4' }, finish_reason: 'stop' })
    expect(at(chat.json, 'choices.0.message')).not.toHaveProperty('function_call')
    expect(at(chat.json, 'choices.0.message')).not.toHaveProperty('audio')
    const told = await gateway.post('/messages', { model: 'acme/talker', messages: question, max_tokens: 9 })
    expect(told.json).toMatchObject({ content: [{ type: 'text', text: '4' }], stop_reason: 'end_turn' })
    expect(told.json['content']).toHaveLength(1)
    const response = await gateway.post('/responses', { model: 'acme/talker', input: 'What is 2 + 2?' })
    expect(response.json['output']).toMatchObject([{ type: 'message', content: [{ text: '4' }] }])
    expect(response.json['output']).toHaveLength(1)
  }
  streaming([{ role: 'assistant', ...hollow }])
  const streamed = await gateway.post('/chat/completions', {
    model: 'acme/talker',
    messages: question,
    stream: true,
  })
  expect(streamed.text).toContain('"finish_reason":"stop"')
  expect(streamed.text).not.toContain('function_call')
})

test('content that is an object, as Cloudflare gives it for a schema, is its JSON as text', async () => {
  const object = { title: 'Apples are tasty', author: 'Hadley Wickham' }
  answering(chatAnswer({ content: object, refusal: null }))
  const chat = await gateway.post('/chat/completions', { model: 'acme/talker', messages: question })
  expect(JSON.parse(String(at(chat.json, 'choices.0.message.content')))).toEqual(object)
  const told = await gateway.post('/messages', { model: 'acme/talker', messages: question, max_tokens: 9 })
  expect(JSON.parse(String(at(told.json, 'content.0.text')))).toEqual(object)
  const response = await gateway.post('/responses', { model: 'acme/talker', input: 'x' })
  expect(JSON.parse(String(at(response.json, 'output.0.content.0.text')))).toEqual(object)
  // The provider counted nothing, so the gateway counts the text.
  const { usage: _left, ...uncounted } = chatAnswer({ content: object })
  answering(uncounted)
  const estimated = await gateway.post('/chat/completions', { model: 'acme/talker', messages: question })
  expect(Number(at(estimated.json, 'usage.completion_tokens'))).toBeGreaterThan(10)
  streaming([{ role: 'assistant', content: object }])
  const streamed = await gateway.post('/chat/completions', {
    model: 'acme/talker',
    messages: question,
    stream: true,
  })
  expect(streamed.text).toContain(JSON.stringify(JSON.stringify(object)))
})

test('gpt-5 is served at flex, for half of its price', async () => {
  const sent = answering({ ...chatAnswer({ content: '4' }), service_tier: 'flex' })
  const { status, json } = await gateway.post('/chat/completions', {
    model: 'openai/gpt-5',
    messages: question,
    service_tier: 'flex',
  })
  expect([status, sent()['service_tier']]).toEqual([200, 'flex'])
  // 20 × 1.25 and 5 × 10 millionths of a USD, and half of that.
  expect(at(json, 'usage.cost')).toBe(0.0000375)
  answering({ ...chatAnswer({ content: '4' }), service_tier: 'default' })
  const usual = await gateway.post('/chat/completions', {
    model: 'openai/gpt-5',
    messages: question,
    service_tier: 'flex',
  })
  expect(at(usual.json, 'usage.cost')).toBe(0.000075)
})

test('OpenRouter fetches the file at an address itself', async () => {
  const sent = answering(chatAnswer({ content: 'A placeholder.' }))
  const file = { filename: 'a.pdf', file_data: 'https://files.acme.test/dummy.pdf' }
  const { status } = await gateway.post('/chat/completions', {
    model: 'acme/reader',
    messages: [{ role: 'user', content: [{ type: 'file', file }] }],
  })
  expect(status).toBe(200)
  expect(at(sent(), 'messages.0.content.0.file')).toEqual(file)
})

test('Perplexity is sent the address of a file that its own kind of part names', async () => {
  const sent = answering({
    id: 'resp_1',
    object: 'response',
    status: 'completed',
    model: 'sonar-pro',
    output: [
      { type: 'message', id: 'm', role: 'assistant', content: [{ type: 'output_text', text: 'BLUE' }] },
    ],
    usage: { input_tokens: 20, output_tokens: 5, total_tokens: 25 },
  })
  const url = 'https://files.acme.test/project.docx'
  for (const named of [{ url }, url]) {
    const { status, json } = await gateway.post('/chat/completions', {
      model: 'perplexity/sonar-pro',
      messages: [{ role: 'user', content: [{ type: 'file_url', file_url: named }] }],
    })
    expect([status, at(json, 'choices.0.message.content')]).toEqual([200, 'BLUE'])
    expect(at(sent(), 'input.0.content.0')).toMatchObject({ type: 'input_file', file_url: url })
  }
})

test('bytes in the place of an address, as Perplexity takes them, are sent as they are', async () => {
  const sent = answering(chatAnswer({ content: 'BLUE' }))
  const part = { type: 'file_url', file_url: { url: Buffer.alloc(300, 'PK').toString('base64') } }
  const ask = (content: unknown[]) =>
    gateway.post('/chat/completions', { model: 'acme/talker', messages: [{ role: 'user', content }] })
  expect((await ask([part])).status).toBe(200)
  expect(at(sent(), 'messages.0.content.0')).toEqual(part)
  for (const url of ['localhost/secret', '169.254.169.254/latest', 'http://127.0.0.1/secret'])
    expect([url, (await ask([{ type: 'file_url', file_url: { url } }])).status]).toEqual([url, 400])
})

test('Gemini is asked for an answer whose schema has a pattern inside anyOf', async () => {
  const amount = { anyOf: [{ type: 'number' }, { type: 'string', pattern: '^\\d+$' }] }
  const schema = { type: 'object', properties: { amount }, required: ['amount'] }
  const body = {
    model: 'google/gemini-2.5-flash',
    messages: question,
    response_format: { type: 'json_schema', json_schema: { name: 'payment', schema } },
  }
  const answer = (text: string): Wire => ({
    candidates: [{ content: { role: 'model', parts: [{ text }] }, finishReason: 'STOP', index: 0 }],
    usageMetadata: { promptTokenCount: 20, candidatesTokenCount: 5, totalTokenCount: 25 },
  })
  const sent = answering(answer('{"amount": 12.34}'))
  const { status, json } = await gateway.post('/chat/completions', body, wanted)
  expect([status, at(json, 'choices.0.message.content')]).toEqual([200, '{"amount": 12.34}'])
  expect(at(sent(), 'generationConfig.responseJsonSchema')).toEqual(schema)
  // The gateway still checks the parts that it can check.
  answering(answer('{"amount": null}'))
  expect((await gateway.post('/chat/completions', body)).status).toBe(422)
  // Under a negation no keyword can be left out, because that would change the schema's meaning.
  const negated = { ...schema, not: { properties: { amount: { pattern: '^0$' } } } }
  const refused = await gateway.post('/chat/completions', {
    ...body,
    response_format: { type: 'json_schema', json_schema: { name: 'payment', schema: negated } },
  })
  expect(refused.status).toBe(400)
})

test('Ollama is asked without a choice of tools and a search, which it ignores, and both are listed for the caller', async () => {
  const parameters = { type: 'object', properties: { location: { type: 'string' } } }
  const tools = [{ type: 'function', function: { name: 'get_weather', parameters } }]
  const asked = { tool_choice: 'required', web_search_options: {} }
  const sent = answering(chatAnswer({ content: 'Which city?' }))
  const { status, json } = await gateway.post(
    '/chat/completions',
    { model: 'ollama/qwen3', messages: question, tools, ...asked },
    wanted,
  )
  expect([status, at(json, 'choices.0.message.content')]).toEqual([200, 'Which city?'])
  for (const name of Object.keys(asked)) {
    expect(sent()).not.toHaveProperty(name)
    expect(JSON.stringify(json['headrace_metadata'])).toContain(name)
  }
})

test('OpenAI embeds an empty text', async () => {
  const vector = Buffer.from(new Float32Array([0.5, -0.25]).buffer).toString('base64')
  const sent = answering({
    object: 'list',
    model: 'text-embedding-ada-002',
    data: [{ object: 'embedding', index: 0, embedding: vector }],
    usage: { prompt_tokens: 1, total_tokens: 1 },
  })
  for (const input of ['', ['']]) {
    const { status, json } = await gateway.post('/embeddings', {
      model: 'openai/text-embedding-ada-002',
      input,
    })
    expect([status, at(json, 'data.0.embedding')]).toEqual([200, [0.5, -0.25]])
    expect(sent()['input']).toEqual(input)
  }
})
