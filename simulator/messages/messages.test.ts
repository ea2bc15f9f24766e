import { describe, expect, test } from 'bun:test'
import { ask, at, simulatorForTests } from '../testing.ts'

const simulator = simulatorForTests()
const path = '/messages'
const schema = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
const weather = { name: 'get_weather', description: 'The weather.', input_schema: schema }
const time = { name: 'get_time', input_schema: { type: 'object', properties: {} } }

describe('a message', () => {
  test('has the members that Anthropic sends', async () => {
    const { status, json, headers } = await simulator.post(path, { body: ask('Say hello') })
    expect(status).toBe(200)
    expect(json).toEqual({
      model: 'claude-sonnet-4-5-20250929',
      id: expect.stringMatching(/^msg_01[A-Za-z0-9]{22}$/),
      type: 'message',
      role: 'assistant',
      content: [{ type: 'text', text: 'Hello! You said: "Say hello". How can I help?' }],
      stop_reason: 'end_turn',
      stop_sequence: null,
      // "Say hello" is 9 bytes: 3 tokens and 4 for the message; the answer is 45 bytes: 12 tokens.
      usage: {
        input_tokens: 7,
        cache_creation_input_tokens: 0,
        cache_read_input_tokens: 0,
        cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 0 },
        output_tokens: 12,
        service_tier: 'standard',
        inference_geo: 'not_available',
      },
    })
    expect(headers.get('request-id')).toMatch(/^req_011[A-Za-z0-9]{21}$/)
    expect(headers.get('anthropic-organization-id')).toBe('simulator-default')
    expect(headers.get('anthropic-ratelimit-input-tokens-limit')).toBe('1000000')
    expect(headers.get('anthropic-ratelimit-requests-reset')).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
  })

  test('is cut at the limit, and ends before a stop sequence that it names', async () => {
    const cut = await simulator.post(path, { body: ask('Say hello', { max_tokens: 2 }) })
    expect(cut.json).toMatchObject({ content: [{ text: 'Hello! Y' }], stop_reason: 'max_tokens' })
    const stopped = await simulator.post(path, {
      body: ask('Say hello', { stop_sequences: ['How', ' You'] }),
    })
    expect(stopped.json).toMatchObject({
      content: [{ text: 'Hello!' }],
      stop_reason: 'stop_sequence',
      stop_sequence: ' You',
    })
  })

  test('warms the cache without an answer when no token is allowed', async () => {
    const { json } = await simulator.post(path, { body: ask('Say hello', { max_tokens: 0 }) })
    expect(json).toMatchObject({ content: [], stop_reason: 'max_tokens' })
  })

  test('thinks when it is asked to, and signs its thoughts', async () => {
    const thinking = { type: 'enabled', budget_tokens: 1024 }
    const { json } = await simulator.post(path, { body: ask('Say hello', { thinking }) })
    expect(at(json, 'content.0')).toEqual({
      type: 'thinking',
      thinking: 'The request is short, so a short answer will do.',
      signature: expect.stringMatching(/^[A-Za-z0-9+/]{100,}=*$/),
    })
    expect(at(json, 'content.1.type')).toBe('text')
    expect(at(json, 'usage.output_tokens_details.thinking_tokens')).toBe(16)
    expect(at(json, 'usage.output_tokens')).toBe(28)
  })

  test('of an adaptive model thinks at the requested effort, and can leave its thoughts out', async () => {
    const { json } = await simulator.post(path, {
      body: ask('Say hello', {
        model: 'claude-opus-4-8',
        thinking: { type: 'adaptive', display: 'omitted' },
        output_config: { effort: 'low' },
      }),
    })
    expect(at(json, 'content.0')).toEqual({
      type: 'thinking',
      thinking: '',
      signature: expect.any(String),
    })
    expect(at(json, 'usage.output_tokens_details.thinking_tokens')).toBe(8)
  })

  test('is JSON that fits the schema that was asked for', async () => {
    const format = { type: 'json_schema', schema: { ...schema, additionalProperties: false } }
    const { json } = await simulator.post(path, {
      body: ask('Plan a trip to Paris', { output_config: { format } }),
    })
    expect(JSON.parse(String(at(json, 'content.0.text')))).toEqual({ city: 'Paris' })
  })

  test('can hide thoughts, cite, search, and refuse', async () => {
    const hidden = await simulator.post(path, { body: ask('hi'), fault: 'redacted_thinking' })
    expect(at(hidden.json, 'content.0')).toEqual({ type: 'redacted_thinking', data: expect.any(String) })
    const cited = await simulator.post(path, { body: ask('hi'), fault: 'citations=document' })
    expect(at(cited.json, 'content.0.citations.0.type')).toBe('char_location')
    const searched = await simulator.post(path, { body: ask('hi'), fault: 'server_tools,citations' })
    expect(searched.json).toMatchObject({
      content: [
        { type: 'server_tool_use', input: { query: 'an example' } },
        { type: 'web_search_tool_result', content: [{ type: 'web_search_result' }] },
        { type: 'text', citations: [{ type: 'web_search_result_location', url: 'https://example.com/' }] },
      ],
      usage: { server_tool_use: { web_search_requests: 1, web_fetch_requests: 0 } },
    })
    const refused = await simulator.post(path, { body: ask('hi'), fault: 'refusal=No' })
    expect(refused.json).toMatchObject({
      content: [],
      stop_reason: 'refusal',
      stop_details: { type: 'refusal', category: 'cyber', explanation: 'No' },
    })
    const filtered = await simulator.post(path, { body: ask('hi'), fault: 'finish=content_filter' })
    expect(filtered.json).toMatchObject({ stop_reason: 'refusal', stop_details: null })
    const paused = await simulator.post(path, { body: ask('hi'), fault: 'finish=pause_turn' })
    expect(at(paused.json, 'stop_reason')).toBe('pause_turn')
  })
})

describe('tools', () => {
  test('are called when the user mentions them, several at once', async () => {
    const { json } = await simulator.post(path, {
      body: ask('Use get_weather and the get time tool for Oslo', { tools: [weather, time] }),
    })
    expect(json).toMatchObject({
      stop_reason: 'tool_use',
      content: [
        {
          type: 'tool_use',
          id: expect.stringMatching(/^toolu_01[A-Za-z0-9]{24}$/),
          name: 'get_weather',
          input: { city: 'Oslo' },
        },
        { type: 'tool_use', name: 'get_time', input: {} },
      ],
    })
  })

  test.each([
    [{ type: 'auto' }, undefined],
    [{ type: 'none' }, undefined],
    [{ type: 'any' }, 'get_weather'],
    [{ type: 'tool', name: 'get_time' }, 'get_time'],
  ])('follow the choice %j when none is mentioned', async (choice, called) => {
    const { json } = await simulator.post(path, {
      body: ask('How are you?', { tools: [weather, time], tool_choice: choice }),
    })
    expect(at(json, 'content.0.name')).toBe(called)
  })

  test('are called one at a time when parallel calls are switched off; tools that the provider runs are never called', async () => {
    const search = { type: 'web_search_20250305', name: 'web_search', max_uses: 1 }
    const { json } = await simulator.post(path, {
      body: ask('web_search, get_weather and get_time', {
        tools: [search, weather, time],
        tool_choice: { type: 'auto', disable_parallel_tool_use: true },
      }),
    })
    expect(at(json, 'content.0.name')).toBe('get_weather')
    expect(at(json, 'content.1')).toBeUndefined()
  })

  test('whose results the conversation has are not called again', async () => {
    const messages = [
      { role: 'user', content: 'get_weather' },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'get_weather', input: {} }] },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'toolu_1', content: [{ type: 'text', text: 'sunny' }] },
        ],
      },
    ]
    const reminder = { role: 'system', content: 'Be brief.' }
    for (const told of [messages, [...messages, reminder]]) {
      const { json } = await simulator.post(path, { body: ask('', { messages: told, tools: [weather] }) })
      expect(at(json, 'content.0.text')).toBe('The tool answered: sunny')
    }
  })
})

describe('the cache', () => {
  const long = 'x'.repeat(400)
  function marked(text: string, ttl?: string) {
    const cache_control = ttl === undefined ? { type: 'ephemeral' } : { type: 'ephemeral', ttl }
    return { type: 'text', text, cache_control }
  }

  test('is written by marks and read by the next call, five minutes and an hour apart', async () => {
    const body = ask('', {
      system: [marked(long, '1h')],
      messages: [{ role: 'user', content: [marked(long)] }],
    })
    const first = await simulator.post(path, { body, mount: 'cache' })
    // 400 bytes are 100 tokens, and a message has 4 of its own.
    expect(first.json['usage']).toMatchObject({
      input_tokens: 0,
      cache_creation_input_tokens: 204,
      cache_read_input_tokens: 0,
      cache_creation: { ephemeral_5m_input_tokens: 104, ephemeral_1h_input_tokens: 100 },
    })
    const again = await simulator.post(path, { body, mount: 'cache' })
    expect(again.json['usage']).toMatchObject({
      input_tokens: 0,
      cache_creation_input_tokens: 0,
      cache_read_input_tokens: 204,
    })
  })

  test('reads the prefix that an earlier turn has marked, and writes only the new part', async () => {
    const turns = [{ role: 'user', content: [marked(long)] }]
    await simulator.post(path, { body: ask('', { messages: turns }), mount: 'turns' })
    const messages = [
      { role: 'user', content: [{ type: 'text', text: long }] },
      { role: 'assistant', content: 'Well' },
      { role: 'user', content: [marked('Go on')] },
    ]
    const { json } = await simulator.post(path, { body: ask('', { messages }), mount: 'turns' })
    expect(json['usage']).toMatchObject({ cache_read_input_tokens: 104, cache_creation_input_tokens: 11 })
  })

  test('is not read by another model or without a mark', async () => {
    const content = [marked(long)]
    await simulator.post(path, { body: ask('', { messages: [{ role: 'user', content }] }), mount: 'other' })
    const other = ask('', { model: 'claude-haiku-4-5', messages: [{ role: 'user', content }] })
    const { json } = await simulator.post(path, { body: other, mount: 'other' })
    expect(at(json, 'usage.cache_read_input_tokens')).toBe(0)
    const plain = await simulator.post(path, { body: ask(long), mount: 'other' })
    expect(plain.json['usage']).toMatchObject({ input_tokens: 104, cache_read_input_tokens: 0 })
  })

  test('reports the counts that a fault sets', async () => {
    const { json } = await simulator.post(path, {
      body: ask('x'.repeat(40)),
      fault: 'cached_tokens=3,cache_write_tokens=2',
    })
    expect(json['usage']).toMatchObject({
      input_tokens: 9,
      cache_read_input_tokens: 3,
      cache_creation_input_tokens: 2,
    })
  })
})

test('tokens are counted without an answer', async () => {
  const { max_tokens: _, ...body } = ask('Say hello', { tools: [weather] })
  const counted = await simulator.post('/messages/count_tokens', { body })
  expect(counted.json).toEqual({ input_tokens: 7 + Math.ceil(JSON.stringify(weather).length / 4) })
  const refused = await simulator.post('/messages/count_tokens', { body: ask('hi') })
  expect(at(refused.json, 'error.message')).toBe('max_tokens: Extra inputs are not permitted')
})

describe('models', () => {
  const headers = { 'x-api-key': 'k', 'anthropic-version': '2023-06-01' }
  async function models(below = ''): Promise<unknown> {
    return fetch(`${simulator.url()}/v1/models${below}`, { headers }).then((response) => response.json())
  }

  test("are listed in Anthropic's shape for a caller that names a version", async () => {
    expect(await models()).toMatchObject({ has_more: false, first_id: 'claude-opus-5' })
    expect(await models('/claude-sonnet-4-5')).toMatchObject({
      type: 'model',
      id: 'claude-sonnet-4-5-20250929',
      display_name: 'Claude Sonnet 4.5',
      created_at: '2025-09-29T00:00:00Z',
    })
    expect(await models('/gpt-4o')).toMatchObject({ type: 'error', error: { type: 'not_found_error' } })
  })

  test('of any name are served when the mount’s setting says so', async () => {
    await simulator.admin('settings', { mount: 'any', any_model: true })
    const served = await simulator.post(path, { body: ask('hi', { model: 'own/model' }), mount: 'any' })
    expect(served.json).toMatchObject({ model: 'own/model', stop_reason: 'end_turn' })
    const { status } = await simulator.post('/chat/completions', {
      body: { model: 'own/model', messages: [{ role: 'user', content: 'hi' }] },
      mount: 'any',
    })
    expect(status).toBe(200)
  })
})
