import { describe, expect, test } from 'bun:test'
import { at, say, simulatorForTests } from './testing.ts'

const simulator = simulatorForTests()
const path = '/chat/completions'
const weather = {
  type: 'function',
  function: { name: 'get_weather', parameters: { type: 'object', properties: { city: { type: 'string' } } } },
}
const time = {
  type: 'function',
  function: { name: 'get_time', parameters: { type: 'object', properties: {} } },
}

describe('a chat answer', () => {
  test('has the members that OpenAI sends and counts four bytes as a token', async () => {
    const { status, json, headers } = await simulator.post(path, { body: say('Say hello') })
    expect(status).toBe(200)
    expect(json).toEqual({
      id: expect.stringMatching(/^chatcmpl-[A-Za-z0-9]{29}$/),
      object: 'chat.completion',
      created: expect.any(Number),
      model: 'gpt-4o-mini-2024-07-18',
      choices: [
        {
          index: 0,
          message: {
            role: 'assistant',
            content: 'Hello! You said: "Say hello". How can I help?',
            refusal: null,
            annotations: [],
          },
          logprobs: null,
          finish_reason: 'stop',
        },
      ],
      // "Say hello" is 9 bytes: 3 tokens and 4 for the message; the answer is 45 bytes: 12 tokens.
      usage: {
        prompt_tokens: 7,
        completion_tokens: 12,
        total_tokens: 19,
        prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
        completion_tokens_details: {
          reasoning_tokens: 0,
          audio_tokens: 0,
          accepted_prediction_tokens: 0,
          rejected_prediction_tokens: 0,
        },
      },
      service_tier: 'default',
      system_fingerprint: expect.stringMatching(/^fp_[0-9a-f]{10}$/),
    })
    expect(headers.get('x-request-id')).toMatch(/^req_/)
    expect(headers.get('openai-processing-ms')).toMatch(/^\d+$/)
    expect(headers.get('x-ratelimit-reset-requests')).toBe('6ms')
  })

  test('is cut at the limit with finish reason length', async () => {
    const { json } = await simulator.post(path, { body: say('Say hello', { max_tokens: 2 }) })
    expect(at(json, 'choices.0.message.content')).toBe('Hello! Y')
    expect(at(json, 'choices.0.finish_reason')).toBe('length')
    expect(at(json, 'usage.completion_tokens')).toBe(2)
  })

  test('ends before a stop sequence', async () => {
    const { json } = await simulator.post(path, { body: say('Say hello', { stop: [' You', 'How'] }) })
    expect(at(json, 'choices.0.message.content')).toBe('Hello!')
    expect(at(json, 'choices.0.finish_reason')).toBe('stop')
  })

  test('never splits a character between tokens', async () => {
    const { json } = await simulator.post(path, {
      body: say('x', { max_tokens: 2 }),
      fault: `text=${encodeURIComponent('né😀ß')}`,
    })
    expect(at(json, 'choices.0.message.content')).toBe('né😀')
  })

  test('has as many choices as asked for, with their probabilities when asked for', async () => {
    const { json } = await simulator.post(path, {
      body: say('hi', { n: 2, logprobs: true, top_logprobs: 2, max_tokens: 1 }),
    })
    expect(at(json, 'choices.1.index')).toBe(1)
    expect(at(json, 'choices.2')).toBeUndefined()
    const entry = at(json, 'choices.0.logprobs.content.0')
    expect(entry).toEqual({
      token: 'Hell',
      logprob: expect.any(Number),
      bytes: [72, 101, 108, 108],
      top_logprobs: [
        expect.objectContaining({ token: 'Hell' }),
        expect.objectContaining({ logprob: expect.any(Number) }),
      ],
    })
  })

  test('is JSON that fits the schema that was asked for', async () => {
    const schema = {
      type: 'object',
      properties: { city: { type: 'string' }, days: { type: 'integer', minimum: 2 } },
    }
    const format = { type: 'json_schema', json_schema: { name: 'trip', strict: true, schema } }
    const { json } = await simulator.post(path, {
      body: say('Plan a trip to Paris', { response_format: format }),
    })
    expect(JSON.parse(String(at(json, 'choices.0.message.content')))).toEqual({ city: 'Paris', days: 2 })
  })

  test('of a reasoning model counts its thoughts', async () => {
    const { json } = await simulator.post(path, {
      body: say('hi', { model: 'o4-mini', reasoning_effort: 'low' }),
    })
    expect(at(json, 'usage.completion_tokens_details.reasoning_tokens')).toBe(8)
    expect(Number(at(json, 'usage.completion_tokens'))).toBeGreaterThan(8)
    const cut = await simulator.post(path, {
      body: say('hi', { model: 'o4-mini', max_completion_tokens: 8 }),
    })
    expect(at(cut.json, 'choices.0.message.content')).toBe('')
    expect(at(cut.json, 'choices.0.finish_reason')).toBe('length')
  })
})

describe('tools', () => {
  test('are called when the user mentions them, several at once', async () => {
    const body = say('Use get_weather and the get time tool for Oslo', { tools: [weather, time] })
    const { json } = await simulator.post(path, { body })
    expect(at(json, 'choices.0')).toMatchObject({
      finish_reason: 'tool_calls',
      message: {
        content: null,
        tool_calls: [
          {
            id: expect.stringMatching(/^call_[A-Za-z0-9]{24}$/),
            type: 'function',
            function: { name: 'get_weather', arguments: '{"city":"Oslo"}' },
          },
          { function: { name: 'get_time', arguments: '{}' } },
        ],
      },
    })
  })

  test('are called one at a time when parallel calls are switched off', async () => {
    const body = say('get_weather and get_time', { tools: [weather, time], parallel_tool_calls: false })
    const { json } = await simulator.post(path, { body })
    expect(at(json, 'choices.0.message.tool_calls.1')).toBeUndefined()
  })

  test.each([
    ['auto', undefined],
    ['none', undefined],
    ['required', 'get_weather'],
    [{ type: 'function', function: { name: 'get_time' } }, 'get_time'],
  ])('follow the choice %j when none is mentioned', async (choice, called) => {
    const { json } = await simulator.post(path, {
      body: say('How are you?', { tools: [weather, time], tool_choice: choice }),
    })
    expect(at(json, 'choices.0.message.tool_calls.0.function.name')).toBe(called)
  })

  test('whose results the conversation has are not called again', async () => {
    const call = { id: 'call_1', type: 'function', function: { name: 'get_weather', arguments: '{}' } }
    const messages = [
      { role: 'user', content: 'get_weather' },
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', tool_call_id: 'call_1', content: 'sunny' },
    ]
    const { json } = await simulator.post(path, { body: { model: 'gpt-4o', messages, tools: [weather] } })
    expect(at(json, 'choices.0.message.content')).toBe('The tool answered: sunny')
  })
})

describe('a chat request is refused', () => {
  const message = { role: 'user', content: 'hi' }
  const looseTool = { role: 'tool', tool_call_id: 'c', content: 'x' }
  test.each([
    ['an unknown member', say('hi', { session_id: 's' }), 'session_id', 'unknown_parameter'],
    ['a gateway preference', say('hi', { provider: { only: [] } }), 'provider', 'unknown_parameter'],
    [
      'a nested unknown member',
      say('hi', { stream: true, stream_options: { x: 1 } }),
      'stream_options.x',
      'unknown_parameter',
    ],
    [
      'an unknown member of a message',
      { model: 'gpt-4o', messages: [{ ...message, cache_control: {} }] },
      'messages[0].cache_control',
      'unknown_parameter',
    ],
    ['a wrong type', say('hi', { temperature: 'hot' }), 'temperature', 'invalid_type'],
    ['a number above its range', say('hi', { temperature: 2.5 }), 'temperature', 'decimal_above_max_value'],
    ['a number below its range', say('hi', { max_tokens: 0 }), 'max_tokens', 'integer_below_min_value'],
    ['too many stops', say('hi', { stop: ['a', 'b', 'c', 'd', 'e'] }), 'stop', 'array_above_max_length'],
    [
      'max_tokens on a reasoning model',
      say('hi', { model: 'o4-mini', max_tokens: 5 }),
      'max_tokens',
      'unsupported_parameter',
    ],
    [
      'temperature on a reasoning model',
      say('hi', { model: 'o4-mini', temperature: 0 }),
      'temperature',
      'unsupported_value',
    ],
    ['no messages', { model: 'gpt-4o' }, 'messages', 'missing_required_parameter'],
    ['empty messages', { model: 'gpt-4o', messages: [] }, 'messages', 'empty_array'],
    [
      'an unknown role',
      { model: 'gpt-4o', messages: [{ role: 'robot', content: 'x' }] },
      'messages[0].role',
      'invalid_value',
    ],
    [
      'a tool answer without its call',
      { model: 'gpt-4o', messages: [message, looseTool] },
      'messages[1].role',
      null,
    ],
    ['more output than the model gives', say('hi', { max_tokens: 99_999 }), 'max_tokens', 'invalid_value'],
    ['a prompt above the context', say('x'.repeat(600_000)), 'messages', 'context_length_exceeded'],
    ['stream options without a stream', say('hi', { stream_options: {} }), 'stream_options', null],
    [
      'a bad tool name',
      say('hi', { tools: [{ type: 'function', function: { name: 'a b' } }] }),
      'tools[0].function.name',
      'invalid_value',
    ],
    ['JSON mode without the word', say('hi', { response_format: { type: 'json_object' } }), 'messages', null],
  ])('for %s', async (_, body, param, code) => {
    const { status, json } = await simulator.post(path, { body })
    expect(status).toBe(400)
    expect(json).toEqual({
      error: { message: expect.any(String), type: 'invalid_request_error', param, code },
    })
  })

  test('for a body that is no JSON object', async () => {
    for (const body of ['{"model":', '[]', 'null', '']) {
      expect((await simulator.post(path, { body })).status).toBe(400)
    }
  })

  test('for an unknown model or one of another kind with 404', async () => {
    for (const model of ['gpt-9', 'whisper-1']) {
      const { status, json } = await simulator.post(path, { body: say('hi', { model }) })
      expect(status).toBe(404)
      expect(at(json, 'error.code')).toBe('model_not_found')
    }
  })

  test('for a missing or bad key with 401, the key half hidden', async () => {
    const bad = await simulator.post(path, { body: say('hi'), key: 'bad-key-123456' })
    expect(bad.status).toBe(401)
    expect(at(bad.json, 'error.code')).toBe('invalid_api_key')
    expect(bad.text).toContain('bad-key-*****3456')
    const missing = await fetch(`${simulator.url()}/v1/models`)
    expect(missing.status).toBe(401)
  })

  test('for a wrong path or method in the same envelope', async () => {
    expect((await simulator.post('/nothing', { body: {} })).status).toBe(404)
    const wrong = await fetch(`${simulator.url()}/v1/chat/completions`, {
      headers: { authorization: 'Bearer k' },
    })
    expect(wrong.status).toBe(405)
    expect(at(await wrong.json(), 'error.code')).toBe('method_not_supported')
  })

  test('unless it is lenient', async () => {
    expect(
      (await simulator.post(path, { body: say('hi', { session_id: 's' }), fault: 'lenient' })).status,
    ).toBe(200)
  })
})

test('a null member counts as absent', async () => {
  const body = say('hi', {
    temperature: null,
    tools: null,
    stop: null,
    stream_options: null,
    max_tokens: null,
  })
  expect((await simulator.post(path, { body })).status).toBe(200)
})

test('models are listed, and each can be read by itself', async () => {
  const headers = { authorization: 'Bearer k' }
  const list: unknown = await fetch(`${simulator.url()}/v1/models`, { headers }).then((response) =>
    response.json(),
  )
  const ids = (at(list, 'data') as { id: string }[]).map((model) => model.id)
  expect(ids).toEqual(
    expect.arrayContaining(['gpt-4o-mini', 'o4-mini', 'text-embedding-3-large', 'whisper-1', 'tts-1']),
  )
  const one: unknown = await fetch(`${simulator.url()}/v1/models/gpt-4o`, { headers }).then((response) =>
    response.json(),
  )
  expect(one).toEqual({ id: 'gpt-4o', object: 'model', created: 1715367049, owned_by: 'system' })
})
