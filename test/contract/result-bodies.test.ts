import { afterAll, beforeAll, expect, test } from 'bun:test'
import { at, sandboxProvider, startTestGateway, until } from '../support/gateway.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'

// Section 2.4: the body of a result, live and in a batch, whether the upstream sends few or many members.

const upstream = startScriptedUpstream()
const gateway = await startTestGateway({
  providers: (url) => [
    sandboxProvider(url),
    sandboxProvider(upstream.url, {
      preset: 'custom',
      id: 'acme',
      base_url: upstream.url,
      discover: false,
      models: [
        {
          id: 'acme/chat',
          upstream: 'chat',
          modality: 'language',
          prices: { input_per_million: '1', output_per_million: '2' },
        },
        { id: 'acme/embed', upstream: 'embed', modality: 'embedding', prices: { input_per_million: '1' } },
        { id: 'acme/unpriced', upstream: 'unpriced', modality: 'language' },
      ],
    }),
  ],
})
afterAll(async () => {
  await gateway.stop()
  await upstream.stop()
})

const usage = { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 }
const citation = {
  type: 'url_citation',
  url_citation: { url: 'https://a.test', start_index: 0, end_index: 3, title: 'A' },
}
const file = { type: 'file', file: { hash: 'h', name: 'n', content: [{ type: 'text', text: 't' }] } }
const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } }
const token = { token: 'a', bytes: [97], logprob: -0.5 }
const rich = {
  id: 'upstream-1',
  object: 'chat.completion',
  created: 5,
  model: 'chat',
  service_tier: 'default',
  usage,
  choices: [
    {
      index: 0,
      finish_reason: 'tool_calls',
      logprobs: { content: [{ ...token, top_logprobs: [token] }] },
      message: {
        role: 'assistant',
        content: null,
        reasoning: 'thought',
        reasoning_details: [{ type: 'reasoning.text', text: 'thought' }],
        annotations: [citation, file],
        images: [image],
        tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'f', arguments: '{}' } }],
      },
    },
  ],
}
const poor = { choices: [{ message: { role: 'assistant', content: 'yes' }, finish_reason: 'eos' }] }

const ask = { messages: [{ role: 'user', content: 'hi' }] }
let batched: Record<string, unknown>
let richBody: Record<string, unknown>
let poorBody: Record<string, unknown>
let embeddings: Record<string, unknown>

async function batchBody(batch: Record<string, unknown>): Promise<Record<string, unknown>> {
  return at(await endedBatch(batch), 'results.0.response.body') as Record<string, unknown>
}

async function endedBatch(batch: Record<string, unknown>): Promise<Record<string, unknown>> {
  const { status, json } = await gateway.post('/batches', batch)
  expect(status).toBe(202)
  const ended = await until(
    () => gateway.get(`/batches/${String(json['id'])}`),
    (answer) => answer.json['status'] === 'completed',
  )
  expect(at(ended.json, 'request_counts.completed')).toBe(1)
  return ended.json
}

beforeAll(async () => {
  batched = await batchBody({
    endpoint: '/v1/chat/completions',
    model: 'openai/gpt-4o-mini',
    requests: [{ custom_id: 'a', body: ask }],
  })
  const ofAcme = {
    endpoint: '/v1/chat/completions',
    model: 'acme/chat',
    requests: [{ custom_id: 'a', body: ask }],
  }
  upstream.answer(() => Response.json(rich))
  richBody = await batchBody(ofAcme)
  upstream.answer(() => Response.json(poor))
  poorBody = await batchBody(ofAcme)
  embeddings = await batchBody({
    endpoint: '/v1/embeddings',
    model: 'openai/text-embedding-3-small',
    requests: [{ custom_id: 'a', body: { input: ['one', 'two'], dimensions: 4 } }],
  })
})

const chatBodies = () => [batched, richBody, poorBody]
const choiceOf = (body: Record<string, unknown>) => at(body, 'choices.0') as Record<string, unknown>
const messageOf = (body: Record<string, unknown>) => at(body, 'choices.0.message') as Record<string, unknown>
const isWhole = (value: unknown) => Number.isSafeInteger(value)
const isTextOrNull = (value: unknown) => value === null || typeof value === 'string'

test('2.4.c1 id is a string, unique to the generation', () => {
  const ids = chatBodies().map((body) => body['id'])
  expect(ids.every((id) => typeof id === 'string' && id !== '')).toBe(true)
  expect(new Set(ids).size).toBe(3)
})

test('2.4.c2 model is a string, the model that was asked for', () => {
  expect(chatBodies().map((body) => body['model'])).toEqual(['openai/gpt-4o-mini', 'acme/chat', 'acme/chat'])
})

test('2.4.c3 created is a whole number', () => {
  expect(chatBodies().every((body) => isWhole(body['created']))).toBe(true)
})

test('2.4.c4 object is "chat.completion", also when the upstream did not say so', () => {
  expect(chatBodies().map((body) => body['object'])).toEqual(Array(3).fill('chat.completion'))
})

test('2.4.c5 choices is an array', () => {
  expect(chatBodies().every((body) => Array.isArray(body['choices']))).toBe(true)
})

test('2.4.c6 provider is a string or null', () => {
  expect(chatBodies().every((body) => isTextOrNull(body['provider'] ?? null))).toBe(true)
  expect(batched['provider']).toBe('Sandbox')
})

test('2.4.c7 service_tier is a string or null where it is present', () => {
  expect(richBody['service_tier']).toBe('default')
  expect(isTextOrNull(poorBody['service_tier'] ?? null)).toBe(true)
})

test('2.4.c8 system_fingerprint is a string or null, and present even if the upstream has none', () => {
  expect(typeof batched['system_fingerprint']).toBe('string')
  expect([richBody['system_fingerprint'], poorBody['system_fingerprint']]).toEqual([null, null])
})

test('2.4.c9 usage has its three whole numbers, whatever else it has', () => {
  for (const body of chatBodies()) {
    const counts = ['prompt_tokens', 'completion_tokens', 'total_tokens'].map((name) =>
      at(body, `usage.${name}`),
    )
    expect(counts.every(isWhole)).toBe(true)
    expect(counts[2]).toBe(Number(counts[0]) + Number(counts[1]))
  }
})

test('2.4.c9b a detail that the upstream leaves null is a whole number or left out, never null', async () => {
  upstream.answer(() =>
    Response.json({
      ...rich,
      usage: { ...usage, prompt_tokens_details: { cached_tokens: null, audio_tokens: 1 } },
    }),
  )
  const { json } = await gateway.post('/chat/completions', { ...ask, model: 'acme/chat' })
  const details = at(json, 'usage.prompt_tokens_details') as Record<string, unknown>
  expect(Object.values(details).every(isWhole)).toBe(true)
  expect(details['audio_tokens']).toBe(1)
})

test('2.2.r14 the details of a batch’s usage are the sums of what its answers show, of media too', async () => {
  const details = {
    prompt_tokens_details: { cached_tokens: 1, cache_write_tokens: 1, file_tokens: 2, video_tokens: 3 },
    completion_tokens_details: { reasoning_tokens: 1, image_tokens: 4 },
  }
  const counted = { prompt_tokens: 30, completion_tokens: 40, total_tokens: 70, ...details }
  upstream.answer(() => Response.json({ ...rich, usage: counted }))
  const created = await gateway.post('/batches', {
    endpoint: '/v1/chat/completions',
    model: 'acme/chat',
    requests: ['a', 'b'].map((id) => ({ custom_id: id, body: ask })),
  })
  const ended = await until(
    () => gateway.get(`/batches/${String(created.json['id'])}`),
    (answer) => answer.json['status'] === 'completed',
  )
  expect(at(ended.json, 'usage')).toMatchObject({
    prompt_tokens: 60,
    completion_tokens: 80,
    total_tokens: 140,
    prompt_tokens_details: { cached_tokens: 2, cache_write_tokens: 2, file_tokens: 4, video_tokens: 6 },
    completion_tokens_details: { reasoning_tokens: 2, image_tokens: 8 },
  })
})

test('2.4.c10 debug is absent unless it was asked for', () => {
  for (const body of chatBodies()) expect(body).not.toHaveProperty('debug')
})

test('2.4.c11 the service’s own metadata is an object in a field named <service>_metadata', async () => {
  const { json } = await gateway.post(
    '/chat/completions',
    { ...ask, model: 'openai/gpt-4o-mini' },
    { headers: { 'x-headrace-metadata': 'enabled' } },
  )
  expect(typeof json['headrace_metadata']).toBe('object')
  expect(json['headrace_metadata']).not.toBeNull()
})

test('2.4.ch1 a choice has index, message, finish_reason, native_finish_reason and logprobs', () => {
  for (const body of chatBodies()) {
    const choice = choiceOf(body)
    expect(choice['index']).toBe(0)
    expect(typeof choice['message']).toBe('object')
    expect(isTextOrNull(choice['finish_reason'])).toBe(true)
    expect(isTextOrNull(choice['native_finish_reason'])).toBe(true)
    expect(choice).toHaveProperty('logprobs')
  }
  expect([choiceOf(richBody)['finish_reason'], choiceOf(poorBody)['native_finish_reason']]).toEqual([
    'tool_calls',
    'eos',
  ])
})

test('2.4.lp1 logprobs is null, or has content, and refusal which is null by default', () => {
  expect(choiceOf(poorBody)['logprobs']).toBeNull()
  const logprobs = choiceOf(richBody)['logprobs'] as Record<string, unknown>
  expect(Array.isArray(logprobs['content'])).toBe(true)
  expect(logprobs['refusal']).toBeNull()
})

test('2.4.lp2 an entry has token, bytes, logprob and top_logprobs', async () => {
  expect(at(choiceOf(richBody), 'logprobs.content.0')).toEqual({ ...token, top_logprobs: [token] })
  const { json } = await gateway.post('/chat/completions', {
    ...ask,
    model: 'openai/gpt-4o-mini',
    logprobs: true,
    top_logprobs: 1,
  })
  expect(Object.keys(at(json, 'choices.0.logprobs.content.0') as object).toSorted()).toEqual([
    'bytes',
    'logprob',
    'token',
    'top_logprobs',
  ])
})

test('2.4.m1 a message has role, content and refusal', () => {
  for (const body of chatBodies()) {
    const message = messageOf(body)
    expect(message['role']).toBe('assistant')
    expect(isTextOrNull(message['content'])).toBe(true)
    expect(message['refusal']).toBeNull()
  }
})

test('2.4.m2 reasoning and reasoning_details are passed on', () => {
  expect(messageOf(richBody)['reasoning']).toBe('thought')
  expect(messageOf(richBody)['reasoning_details']).toEqual([{ type: 'reasoning.text', text: 'thought' }])
})

test('2.4.m3 annotations are passed on', () => {
  expect(messageOf(richBody)['annotations']).toEqual([citation, file])
})

test('2.4.m4 images are passed on', () => {
  expect(messageOf(richBody)['images']).toEqual([image])
})

test('2.4.m5 tool calls have index, id, type, and a function with name and arguments', async () => {
  expect(messageOf(richBody)['tool_calls']).toEqual([
    { index: 0, id: 'call_1', type: 'function', function: { name: 'f', arguments: '{}' } },
  ])
  const tools = [
    { type: 'function', function: { name: 'weather', parameters: { type: 'object', properties: {} } } },
  ]
  const { json } = await gateway.post('/chat/completions', {
    model: 'openai/gpt-4o-mini',
    messages: [{ role: 'user', content: 'call weather' }],
    tools,
  })
  const call = at(json, 'choices.0.message.tool_calls.0')
  expect(call).toMatchObject({ index: 0, type: 'function', function: { name: 'weather' } })
  expect([typeof at(call, 'id'), typeof at(call, 'function.arguments')]).toEqual(['string', 'string'])
})

test('2.4.e1 an embeddings body has object "list", data and model', () => {
  expect([embeddings['object'], embeddings['model']]).toEqual(['list', 'openai/text-embedding-3-small'])
  expect((embeddings['data'] as unknown[]).length).toBe(2)
})

test('2.4.e2 an embedding has object, embedding, and its position as index', async () => {
  for (const index of [0, 1]) {
    const entry = at(embeddings, `data.${index}`) as Record<string, unknown>
    expect([entry['object'], entry['index']]).toEqual(['embedding', index])
    expect((entry['embedding'] as number[]).every((value) => typeof value === 'number')).toBe(true)
  }
  const { json } = await gateway.post('/embeddings', {
    model: 'openai/text-embedding-3-small',
    input: 'one',
    dimensions: 4,
    encoding_format: 'base64',
  })
  const vector = new Float32Array(
    Buffer.from(String(at(json, 'data.0.embedding')), 'base64').buffer.slice(0, 16),
  )
  expect(vector.length).toBe(4)
})

test('2.4.e3 embeddings usage has prompt_tokens, total_tokens, cost and is_byok', () => {
  const counts = embeddings['usage'] as Record<string, unknown>
  expect([isWhole(counts['prompt_tokens']), isWhole(counts['total_tokens'])]).toEqual([true, true])
  expect([typeof counts['cost'], counts['is_byok']]).toEqual(['number', false])
})

test('2.4.e4 prompt_tokens_details of embeddings, when present, has whole numbers that are not zero', async () => {
  expect(at(embeddings, 'usage.prompt_tokens_details')).toBeUndefined()
  upstream.answer(() =>
    Response.json({
      object: 'list',
      model: 'embed',
      data: [{ object: 'embedding', index: 0, embedding: [0.5] }],
      usage: {
        prompt_tokens: 9,
        total_tokens: 9,
        prompt_tokens_details: { text_tokens: 4, image_tokens: 5, audio_tokens: 0, video_tokens: null },
      },
    }),
  )
  const { json } = await gateway.post('/embeddings', { model: 'acme/embed', input: 'x' })
  expect(at(json, 'usage.prompt_tokens_details')).toEqual({ text_tokens: 4, image_tokens: 5 })
})

test('the cost of a model without a price is left out, live and of an item, and null of its batch', async () => {
  upstream.answer(() => Response.json({ ...poor, usage }))
  const { json: live } = await gateway.post('/chat/completions', { ...ask, model: 'acme/unpriced' })
  const ended = await endedBatch({
    endpoint: '/v1/chat/completions',
    model: 'acme/unpriced',
    requests: [{ custom_id: 'a', body: ask }],
  })
  const unknown = { total_tokens: 7, cost_details: { upstream_inference_cost: null } }
  for (const shown of [at(live, 'usage'), at(ended, 'results.0.response.body.usage')]) {
    expect(shown).toMatchObject(unknown)
    expect(shown).not.toHaveProperty('cost')
  }
  expect(at(ended, 'usage')).toMatchObject({ ...unknown, cost: null })
})
