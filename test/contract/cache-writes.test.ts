import { afterAll, beforeEach, expect, test } from 'bun:test'
import { at, customProvider, readAnswer, startTestGateway, until } from '../support/gateway.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'

// Tokens written to a provider's cache for an hour cost more than tokens written for five minutes. The invoice
// of these
// tests is worked out by hand from Anthropic's price list of Claude Sonnet 4.5, in millionths of a dollar for each token:
// input 3, cache read 0.3, write for five minutes 3.75, write for an hour 6, output 15.
//   100 × 3 + 1,000 × 0.3 + 200 × 3.75 + 300 × 6 = 3,150 and 40 × 15 = 600: together 3,750.

const upstream = startScriptedUpstream()
const gateway = await startTestGateway({
  credits: '5',
  providers: () => [
    {
      preset: 'anthropic',
      base_url: `${upstream.url}/v1`,
      api_key: 'a-key-of-the-test',
      weight: 1,
      discover: false,
      models: [
        { id: 'anthropic/claude-sonnet-4-5' },
        { id: 'anthropic/claude-unheard-of', prices: { input_per_million: '4', output_per_million: '20' } },
        {
          id: 'anthropic/claude-own-writes',
          prices: { input_per_million: '4', cache_write_per_million: '7.5', output_per_million: '20' },
        },
        // The price package has a price of an hour for this model, 2 dollars a million.
        { id: 'anthropic/claude-haiku-4-5', prices: { cache_write_per_million: '2.5' } },
        {
          id: 'anthropic/claude-sonnet-4-5-20250929',
          prices: { service_tiers: { priority: { cache_write_per_million: '5' } } },
        },
      ],
    },
    {
      ...customProvider(upstream.url, [
        {
          id: 'acme/large',
          prices: {
            input_per_million: '2',
            cached_input_per_million: '1',
            cache_write_per_million: '3',
            cache_write_hour_per_million: '5',
            output_per_million: '10',
          },
        },
      ]),
      api_key: 'another-key',
    },
  ],
})
afterAll(async () => {
  await gateway.stop()
  await upstream.stop()
})

const model = 'anthropic/claude-sonnet-4-5'
const messages = [{ role: 'user', content: 'x' }]
const wholeCounts = {
  input_tokens: 100,
  cache_read_input_tokens: 1_000,
  cache_creation_input_tokens: 500,
  cache_creation: { ephemeral_5m_input_tokens: 200, ephemeral_1h_input_tokens: 300 },
  output_tokens: 40,
}

function messageOf(usage: unknown): unknown {
  return {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'claude-sonnet-4-5',
    content: [{ type: 'text', text: 'Of course.' }],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage,
  }
}

/**
 * The same answer as a stream: the split of cache writes is in its beginning, the output in its end, as the
 * provider sends it.
 */
function streamOf({ output_tokens: output, ...input }: typeof wholeCounts): string {
  const events = [
    {
      type: 'message_start',
      message: { ...(messageOf({ ...input, output_tokens: 1 }) as object), content: [] },
    },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Of course.' } },
    { type: 'content_block_stop', index: 0 },
    {
      type: 'message_delta',
      delta: { stop_reason: 'end_turn', stop_sequence: null },
      usage: { output_tokens: output },
    },
    { type: 'message_stop' },
  ]
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('')
}

function chatAnswerOf(usage: unknown): unknown {
  const message = { role: 'assistant', content: 'Of course.' }
  return { id: 'c1', model: 'large', choices: [{ index: 0, message, finish_reason: 'stop' }], usage }
}

beforeEach(() => {
  upstream.answer(({ body }) => {
    if (!body.includes('"stream":true')) return Response.json(messageOf(wholeCounts))
    return new Response(streamOf(wholeCounts), { headers: { 'content-type': 'text/event-stream' } })
  })
})

const division = { ephemeral_5m_input_tokens: 200, ephemeral_1h_input_tokens: 300 }

test('a messages caller pays each kind of cache write at its own price, and sees the split', async () => {
  const { status, json } = await gateway.post('/messages', { model, max_tokens: 50, messages })
  expect(status).toBe(200)
  expect(at(json, 'usage')).toMatchObject({
    input_tokens: 100,
    cache_creation_input_tokens: 500,
    cache_read_input_tokens: 1_000,
    cache_creation: division,
    cost: 0.00375,
  })
})

test('a streamed message is charged the same, although its end does not repeat the split', async () => {
  const { text } = await gateway.post('/messages', { model, max_tokens: 50, messages, stream: true })
  const delta = text.split('\n').find((line) => line.includes('"message_delta"')) ?? ''
  expect(at(JSON.parse(delta.slice('data: '.length)), 'usage')).toMatchObject({
    cache_creation: division,
    cost: 0.00375,
  })
})

test('chat and responses callers are charged the same, and see the split', async () => {
  const chat = await gateway.post('/chat/completions', { model, max_tokens: 50, messages })
  expect(at(chat.json, 'usage')).toMatchObject({
    prompt_tokens: 1_600,
    prompt_tokens_details: { cached_tokens: 1_000, cache_write_tokens: 500 },
    cache_creation: division,
    cost: 0.00375,
    cost_details: {
      upstream_inference_prompt_cost: 0.00315,
      upstream_inference_completions_cost: 0.0006,
    },
  })
  const responses = await gateway.post('/responses', { model, max_output_tokens: 50, input: 'x' })
  expect(at(responses.json, 'usage')).toMatchObject({
    input_tokens: 1_600,
    input_tokens_details: { cached_tokens: 1_000, cache_write_tokens: 500 },
    cache_creation: division,
    cost: 0.00375,
  })
})

test('2.2.r11b a batch adds the splits of its items up in usage.cache_creation', async () => {
  const body = { max_tokens: 50, messages }
  const created = await gateway.post('/batches', {
    endpoint: '/v1/messages',
    model,
    requests: ['one', 'two'].map((id) => ({ custom_id: id, body })),
  })
  expect(created.status).toBe(202)
  const path = `/batches/${String(created.json['id'])}`
  const ended = await until(
    () => gateway.get(path),
    ({ json }) => json['status'] === 'completed',
  )
  expect(at(ended.json, 'usage')).toMatchObject({
    prompt_tokens: 3_200,
    cache_creation: { ephemeral_5m_input_tokens: 400, ephemeral_1h_input_tokens: 600 },
    cost: 0.0075,
  })
})

test('the sum follows from the split when the provider gives only the split', async () => {
  const { cache_creation_input_tokens: _sum, ...counts } = wholeCounts
  upstream.answer(() => Response.json(messageOf(counts)))
  const { json } = await gateway.post('/chat/completions', { model, max_tokens: 50, messages })
  expect(at(json, 'usage')).toMatchObject({ prompt_tokens: 1_600, cost: 0.00375 })
})

test('a count for an hour above the sum of writes is not believed, and is charged up to the sum', async () => {
  const counts = { ...wholeCounts, cache_creation: { ephemeral_1h_input_tokens: 900 } }
  upstream.answer(() => Response.json(messageOf(counts)))
  const { json } = await gateway.post('/messages', { model, max_tokens: 50, messages })
  // 100 × 3 + 1,000 × 0.3 + 500 × 6 + 40 × 15
  expect(at(json, 'usage')).toMatchObject({
    cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 500 },
    cost: 0.0042,
  })
})

test('without a price of its own an hour costs twice the input at Anthropic, or 1.6 times a write of five minutes', async () => {
  const costOf = async (asked: string) => {
    const { json } = await gateway.post('/messages', { model: asked, max_tokens: 50, messages })
    return at(json, 'usage.cost')
  }
  // 100 × 4 + 1,000 × 4 + 200 × 4 + 300 × 8 + 40 × 20
  expect(await costOf('anthropic/claude-unheard-of')).toBe(0.0084)
  // 100 × 4 + 1,000 × 4 + 200 × 7.5 + 300 × 12 + 40 × 20
  expect(await costOf('anthropic/claude-own-writes')).toBe(0.0103)
})

test('a write that the operator priced costs 1.6 times that for an hour, whatever the price list says of an hour', async () => {
  const { json } = await gateway.post('/messages', {
    model: 'anthropic/claude-haiku-4-5',
    max_tokens: 50,
    messages,
  })
  // 100 × 1 + 1,000 × 0.1 + 200 × 2.5 + 300 × 4 + 40 × 5
  expect(at(json, 'usage.cost')).toBe(0.0021)
})

test('a write that the operator priced at a service tier costs 1.6 times that for an hour there', async () => {
  upstream.answer(() => Response.json(messageOf({ ...wholeCounts, service_tier: 'priority' })))
  const { json } = await gateway.post('/messages', {
    model: 'anthropic/claude-sonnet-4-5-20250929',
    max_tokens: 50,
    messages,
  })
  // 100 × 3 + 1,000 × 0.3 + 200 × 5 + 300 × 8 + 40 × 15
  expect(at(json, 'usage.cost')).toBe(0.0046)
})

test('a call of a chat provider that reports the split is charged by it, whatever its member is called', async () => {
  const counts = { prompt_tokens: 1_600, completion_tokens: 40, total_tokens: 1_640 }
  const answers = [
    {
      ...counts,
      prompt_tokens_details: { cached_tokens: 1_000, cache_write_tokens: 500 },
      cache_creation: division,
    },
    {
      ...counts,
      prompt_tokens_details: {
        cached_tokens: 1_000,
        cache_creation_tokens: 500,
        cache_creation_token_details: division,
      },
    },
  ]
  for (const usage of answers) {
    upstream.answer(() => Response.json(chatAnswerOf(usage)))
    const { json } = await gateway.post('/chat/completions', { model: 'acme/large', messages })
    // 100 × 2 + 1,000 × 1 + 200 × 3 + 300 × 5 + 40 × 10
    expect(at(json, 'usage')).toMatchObject({ cost: 0.0037, cache_creation: division })
  }
})

test('a call of a chat provider that reports only the sum is charged as usual writes, and no split is invented', async () => {
  upstream.answer(() =>
    Response.json(
      chatAnswerOf({
        prompt_tokens: 1_600,
        completion_tokens: 40,
        prompt_tokens_details: { cached_tokens: 1_000, cache_write_tokens: 500 },
      }),
    ),
  )
  const { json } = await gateway.post('/chat/completions', { model: 'acme/large', messages })
  // 100 × 2 + 1,000 × 1 + 500 × 3 + 40 × 10
  expect(at(json, 'usage.cost')).toBe(0.0031)
  expect(at(json, 'usage')).not.toHaveProperty('cache_creation')
})

test('the list of models shows the price of an hour in dollars for each token', async () => {
  const { json } = await gateway.get('/models')
  const priceOf = (id: string) =>
    (json['data'] as Record<string, unknown>[]).find((entry) => entry['id'] === id)?.['pricing']
  expect(priceOf(model)).toMatchObject({
    prompt: '0.000003',
    input_cache_write: '0.00000375',
    input_cache_write_1h: '0.000006',
  })
  expect(priceOf('acme/large')).toMatchObject({ input_cache_write_1h: '0.000005' })
})

test('a call is held for as if all of its input were written for an hour', async () => {
  const poor = await gateway.addOrganization({ credits: '0.0005' })
  // 300 characters are at least 100 tokens: 100 × 6 millionths for the prompt are more than there is, 100 × 3.75 are not.
  const body = { model, max_tokens: 1, messages: [{ role: 'user', content: 'x'.repeat(300) }] }
  const refused = await readAnswer(
    await gateway.request('/messages', { method: 'POST', body, key: poor.key }),
  )
  expect(refused.status).toBe(402)
})
