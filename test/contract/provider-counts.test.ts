import { afterAll, expect, test } from 'bun:test'
import { at, customProvider, startTestGateway, until, type Answer } from '../support/gateway.ts'
import { startScriptedUpstream } from '../support/scripted-upstream.ts'

// A provider's counts are charged as far as the request can have caused them: bytes that were sent, or a
// context for each
// time that a model was asked where the request has a file by id, an address, a document, or lets its provider search.
// Figures are those of real answers, worked out by hand from the price lists that stand beside them.

const upstream = startScriptedUpstream()
const preset = { api_key: 'a-key-of-the-test', weight: 1, discover: false } as const
const gateway = await startTestGateway({
  credits: '20',
  providers: () => [
    {
      ...preset,
      preset: 'openai',
      base_url: `${upstream.url}/v1`,
      // Dollars a million: 0.1 and 0.4; 0.15 and 0.6 with a context of 128,000.
      models: [{ id: 'openai/gpt-4.1-nano' }, { id: 'openai/gpt-4o-mini' }],
    },
    {
      ...preset,
      preset: 'anthropic',
      base_url: `${upstream.url}/v1`,
      // 3 and 15 with a context of 200,000; a prompt above that has other prices.
      models: [{ id: 'anthropic/claude-sonnet-4-5' }],
    },
    {
      ...preset,
      preset: 'openrouter',
      base_url: `${upstream.url}/v1`,
      // 1.75 and 14.
      models: [{ id: 'router/gpt', upstream: 'openai/gpt-5.2' }],
    },
    {
      ...preset,
      preset: 'groq',
      base_url: `${upstream.url}/v1`,
      models: [
        { id: 'groq/compound', prices: { input_per_million: '0.1', output_per_million: '1.2' } },
        { id: 'groq/plain', prices: { input_per_million: '0.1', output_per_million: '1.2' } },
      ],
    },
    customProvider(upstream.url, [
      {
        id: 'acme/chat',
        modality: 'language',
        context_length: 128_000,
        prices: { input_per_million: '10', output_per_million: '20' },
      },
    ]),
  ],
})
afterAll(async () => {
  await gateway.stop()
  await upstream.stop()
})

function chatAnswer(usage: Record<string, unknown>, message: Record<string, unknown>, rest = {}): void {
  upstream.answer(() =>
    Response.json({
      id: 'c1',
      model: 'm',
      choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: 'stop' }],
      usage,
      ...rest,
    }),
  )
}

function eventsOf(events: readonly ({ type: string } & Record<string, unknown>)[]): void {
  const text = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('')
  upstream.answer(() => new Response(text, { headers: { 'content-type': 'text/event-stream' } }))
}

async function rowOf({ headers, status, text }: Answer): Promise<unknown> {
  expect(`${status} ${status === 200 ? '' : text}`).toBe('200 ')
  const path = `/generation?id=${headers.get('x-generation-id')}`
  const { json } = await until(
    () => gateway.get(path),
    (answer) => answer.status === 200,
  )
  return at(json, 'data')
}

const believed = { headrace: { is_estimated: false, reported: null } }

test('a PDF that is named by its id costs the 73,842 tokens that its provider counted', async () => {
  // Of 16,230 bytes 5,410 tokens were guessed, and 358 of the prompt: 0.0022 dollars.
  chatAnswer(
    { prompt_tokens: 73_842, completion_tokens: 3_540, total_tokens: 77_382 },
    { content: 'x'.repeat(16_230) },
  )
  const answer = await gateway.post('/chat/completions', {
    model: 'openai/gpt-4.1-nano',
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: `What does it say? ${'word '.repeat(190)}` },
          { type: 'file', file: { file_id: 'file-abc' } },
        ],
      },
    ],
  })
  // 73,842 × 0.1 + 3,540 × 0.4 millionths
  expect(await rowOf(answer)).toMatchObject({ total_cost: 0.0088002, ...believed })
})

test('a file by id is believed of responses and messages callers too', async () => {
  upstream.answer(() =>
    Response.json({
      id: 'resp_1',
      object: 'response',
      status: 'completed',
      model: 'gpt-4.1-nano',
      output: [
        {
          type: 'message',
          role: 'assistant',
          content: [{ type: 'output_text', text: 'Yes.', annotations: [] }],
        },
      ],
      usage: { input_tokens: 73_842, output_tokens: 10, total_tokens: 73_852 },
    }),
  )
  const content = [{ type: 'input_file', file_id: 'file-abc' }]
  const responses = await gateway.post('/responses', {
    model: 'openai/gpt-4.1-nano',
    max_output_tokens: 100,
    input: [{ type: 'message', role: 'user', content }],
  })
  expect(await rowOf(responses)).toMatchObject({ total_cost: 0.0073882, ...believed })
  upstream.answer(() => Response.json(messageOf({ input_tokens: 73_842, output_tokens: 10 })))
  const source = { type: 'file', file_id: 'file_011' }
  const messages = await gateway.post('/messages', {
    model: 'anthropic/claude-sonnet-4-5',
    max_tokens: 100,
    messages: [{ role: 'user', content: [{ type: 'document', source }] }],
  })
  // 73,842 × 3 + 10 × 15 millionths
  expect(await rowOf(messages)).toMatchObject({ total_cost: 0.221676, ...believed })
})

function messageOf(usage: Record<string, unknown>, content: unknown = [{ type: 'text', text: 'Yes.' }]) {
  return {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'm',
    content,
    stop_reason: 'end_turn',
    usage,
  }
}

test('a search by Anthropic costs the 404,500 tokens of its rounds, each below the bound of a dearer price', async () => {
  const call = { type: 'server_tool_use', id: 's', name: 'web_search', input: {} }
  const result = { type: 'web_search_tool_result', tool_use_id: 's', content: [] }
  const blocks = Array.from({ length: 10 }, () => [call, result]).flat()
  const start = { input_tokens: 2_479, output_tokens: 6 }
  eventsOf([
    { type: 'message_start', message: { ...messageOf(start, []), stop_reason: null } },
    ...[...blocks, { type: 'text', text: '' }].flatMap((block, index) => [
      { type: 'content_block_start', index, content_block: block },
      ...(block.type === 'text'
        ? [{ type: 'content_block_delta', index, delta: { type: 'text_delta', text: 'Fog.' } }]
        : []),
      { type: 'content_block_stop', index },
    ]),
    {
      type: 'message_delta',
      delta: { stop_reason: 'pause_turn', stop_sequence: null },
      usage: { input_tokens: 404_500, output_tokens: 943 },
    },
    { type: 'message_stop' },
  ])
  const answer = await gateway.post('/messages', {
    model: 'anthropic/claude-sonnet-4-5',
    max_tokens: 15_000,
    stream: true,
    messages: [{ role: 'user', content: 'Run a series of web searches.' }],
    tools: [{ type: 'web_search_20250305', name: 'web_search' }],
  })
  // 404,500 × 3 + 943 × 15 millionths
  expect(await rowOf(answer)).toMatchObject({ total_cost: 1.227645, ...believed })
})

test('searches that Anthropic counts without showing them are believed in the counted number', async () => {
  const usage = {
    input_tokens: 404_500,
    output_tokens: 943,
    server_tool_use: { web_search_requests: 2, web_fetch_requests: 1 },
  }
  upstream.answer(() => Response.json(messageOf(usage)))
  const answer = await gateway.post('/messages', {
    model: 'anthropic/claude-sonnet-4-5',
    max_tokens: 15_000,
    messages: [{ role: 'user', content: 'Search.' }],
    tools: [{ type: 'web_search_20250305', name: 'web_search' }],
  })
  expect(await rowOf(answer)).toMatchObject({ total_cost: 1.227645, ...believed })
})

test.each([false, true])(
  'a search by OpenAI costs the 404,500 tokens of its rounds (stream: %p)',
  async (stream) => {
    const search = (index: number) => ({ type: 'web_search_call', id: `ws_${index}`, status: 'completed' })
    const said = {
      type: 'message',
      id: 'msg_1',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: 'Fog.', annotations: [] }],
    }
    const output = [search(0), search(1), search(2), said]
    const response = {
      id: 'resp_1',
      object: 'response',
      status: 'completed',
      model: 'gpt-4o-mini',
      output,
      usage: { input_tokens: 404_500, output_tokens: 500, total_tokens: 405_000 },
    }
    if (stream) {
      eventsOf([
        {
          type: 'response.created',
          response: { ...response, status: 'in_progress', output: [], usage: null },
        },
        ...output.flatMap((item, output_index) => [
          { type: 'response.output_item.added', output_index, item },
          { type: 'response.output_item.done', output_index, item },
        ]),
        { type: 'response.completed', response },
      ])
    } else upstream.answer(() => Response.json(response))
    const answer = await gateway.post('/responses', {
      model: 'openai/gpt-4o-mini',
      max_output_tokens: 1_000,
      input: 'Search three times.',
      tools: [{ type: 'web_search' }],
      stream,
    })
    // 404,500 × 0.15 + 500 × 0.6 millionths
    expect(await rowOf(answer)).toMatchObject({ total_cost: 0.060975, ...believed })
  },
)

test('a search by a tool of OpenRouter costs the 16,924 tokens that it counted', async () => {
  chatAnswer(
    {
      prompt_tokens: 16_924,
      completion_tokens: 485,
      total_tokens: 17_409,
      completion_tokens_details: { reasoning_tokens: 449 },
      server_tool_use_details: { web_search_requests: 3 },
    },
    { content: 'The latest stable Ruby version is 4.0.6.' },
  )
  const answer = await gateway.post('/chat/completions', {
    model: 'router/gpt',
    messages: [{ role: 'user', content: 'Search the web: what is the latest stable Ruby version?' }],
    tools: [{ type: 'openrouter:web_search' }],
  })
  // 16,924 × 1.75 + 485 × 14 millionths, as OpenRouter itself charged them.
  expect(await rowOf(answer)).toMatchObject({ total_cost: 0.036407, ...believed })
})

test('a model of Groq that searches by itself costs what it counted, and not three times that', async () => {
  const counts = { prompt_tokens: 5_296, completion_tokens: 387, total_tokens: 5_683 }
  const message = {
    content: 'x'.repeat(892),
    reasoning: 'x'.repeat(6_652),
    executed_tools: [{ index: 0, type: 'search', arguments: '{}', output: 'found' }],
  }
  chatAnswer(counts, message)
  const request = { messages: [{ role: 'user', content: 'What is the weather in San Francisco today?' }] }
  const answer = await gateway.post('/chat/completions', { model: 'groq/compound', ...request })
  // 5,296 × 0.1 + 387 × 1.2 millionths
  expect(await rowOf(answer)).toMatchObject({ total_cost: 0.000994, ...believed })
  // A model that does not search cannot have read so much; its output is still charged.
  const plain = await rowOf(await gateway.post('/chat/completions', { model: 'groq/plain', ...request }))
  expect(plain).toMatchObject({
    tokens_completion: 387,
    headrace: { is_estimated: true, reported: { input_tokens: 5_296 } },
  })
})

test('a tool of Groq that its provider runs is believed', async () => {
  chatAnswer({ prompt_tokens: 16_924, completion_tokens: 20, total_tokens: 16_944 }, { content: 'Found.' })
  const answer = await gateway.post('/chat/completions', {
    model: 'groq/plain',
    messages: [{ role: 'user', content: 'Search.' }],
    tools: [{ type: 'browser_search' }],
  })
  // 16,924 × 0.1 + 20 × 1.2 millionths
  expect(await rowOf(answer)).toMatchObject({ total_cost: 0.0017164, ...believed })
})

test('functions of the caller do not raise the bound, whatever their schemas say', async () => {
  chatAnswer({ prompt_tokens: 16_924, completion_tokens: 20, total_tokens: 16_944 }, { content: 'Found.' })
  const parameters = { type: 'object', properties: { type: { type: 'string' } }, default: { type: 'card' } }
  const answer = await gateway.post('/chat/completions', {
    model: 'acme/chat',
    messages: [{ role: 'user', content: 'Search.' }],
    tools: [{ type: 'function', function: { name: 'web_search', parameters } }],
  })
  expect(await rowOf(answer)).toMatchObject({
    headrace: { is_estimated: true, reported: { input_tokens: 16_924 } },
  })
})

test('tokens up to the bytes that were sent are believed, and so is a small picture at its real count', async () => {
  const count = async (prompt_tokens: number, content: unknown) => {
    chatAnswer({ prompt_tokens, completion_tokens: 2 }, { content: 'Yes.' })
    const messages = [{ role: 'user', content }]
    const row = await rowOf(await gateway.post('/chat/completions', { model: 'acme/chat', messages }))
    return at(row, 'headrace.is_estimated')
  }
  // Emoji of four bytes each, of which a tokenizer of bytes makes four tokens.
  expect(await count(40_000, '🦤'.repeat(10_000))).toBe(false)
  expect(await count(50_000, '🦤'.repeat(10_000))).toBe(true)
  const url = `data:image/png;base64,${Buffer.alloc(60).toString('base64')}`
  expect(await count(8_513, [{ type: 'image_url', image_url: { url } }])).toBe(false)
  expect(await count(90_000, [{ type: 'image_url', image_url: { url } }])).toBe(true)
})

test('files that only their provider reads are not used to learn the ratio of estimates', async () => {
  const poor = await gateway.addOrganization({ credits: '1' })
  const ask = async (content: unknown) => {
    const body = { model: 'acme/chat', max_tokens: 10, messages: [{ role: 'user', content }] }
    return gateway.request('/chat/completions', { method: 'POST', body, key: poor.key })
  }
  chatAnswer({ prompt_tokens: 1_000, completion_tokens: 2 }, { content: 'Yes.' })
  for (let call = 0; call < 24; call += 1)
    expect((await ask([{ type: 'file', file: { file_id: 'file-abc' } }])).status).toBe(200)
  // 57,000 bytes are some 19,000 tokens, 0.19 dollars; at four times that they would be more than is left.
  expect((await ask('x'.repeat(57_000))).status).toBe(200)
})
