import { describe, expect, test } from 'bun:test'
import type { JsonObject } from '../json.ts'
import { ask, at, simulatorForTests } from '../testing.ts'

const simulator = simulatorForTests()
const path = '/messages'
const tool = { name: 'look', input_schema: { type: 'object', properties: {} } }
const call = { type: 'tool_use', id: 'toolu_1', name: 'look', input: {} }
const other = { ...call, id: 'toolu_2' }
const result = { type: 'tool_result', tool_use_id: 'toolu_1', content: 'seen' }
const user = { role: 'user', content: 'hi' }

function turns(...messages: unknown[]): JsonObject {
  return ask('', { messages, tools: [tool] })
}

function said(...content: unknown[]): JsonObject {
  return { role: 'assistant', content }
}

function answered(...content: unknown[]): JsonObject {
  return { role: 'user', content }
}

const enabled = { type: 'enabled', budget_tokens: 1024 }
const mark = { type: 'ephemeral' }
function block(more: JsonObject = {}): JsonObject {
  return { type: 'text', text: 'a', ...more }
}
function image(source: JsonObject): JsonObject {
  return ask('', { messages: [answered({ type: 'image', source })] })
}
const object = { type: 'object', properties: {}, additionalProperties: false }
function format(schema: JsonObject): JsonObject {
  return ask('hi', { output_config: { format: { type: 'json_schema', schema } } })
}

describe('a Messages request is refused with 400', () => {
  test.each<[string, JsonObject, string]>([
    ['no max_tokens', { model: 'claude-sonnet-4-5', messages: [user] }, 'max_tokens: Field required'],
    ['an unknown member', ask('hi', { session_id: 's' }), 'session_id: Extra inputs are not permitted'],
    ['a beta member without a beta', ask('hi', { mcp_servers: [] }), 'mcp_servers: Extra inputs'],
    [
      'an unknown member of a block',
      turns(answered(block({ x: 1 }))),
      'messages.0.content.0.x: Extra inputs are not permitted',
    ],
    ['a wrong type', ask('hi', { max_tokens: 'many' }), 'max_tokens: Invalid type'],
    ['more than the model gives', ask('hi', { max_tokens: 64_001 }), 'max_tokens: 64001 > 64000'],
    ['no messages', ask('', { messages: [] }), 'messages: at least one message'],
    ['an unknown role', turns({ role: 'tool', content: 'x' }), 'messages.0.role'],
    ['a first message of the assistant', turns(said(block()), user), 'first message must use the "user"'],
    ['an empty text block', turns(answered(block({ text: '' }))), 'must be non-empty'],
    ['a blank text block', turns(answered(block({ text: ' ' }))), 'non-whitespace'],
    ['an empty message', turns({ role: 'user', content: '' }), 'non-empty content'],
    ['a thought of the user', turns(answered({ type: 'thinking' })), 'messages.0.content.0.type'],
    ['a picture of the assistant', turns(user, said({ type: 'image' }), user), 'messages.1.content.0.type'],
    ['a picture over plain HTTP', image({ type: 'url', url: 'http://x.test/a.png' }), 'Only HTTPS'],
    [
      'a picture of an unknown kind',
      image({ type: 'base64', media_type: 'image/tiff', data: 'aGk=' }),
      'media_type',
    ],
    [
      'a picture that is no base64',
      image({ type: 'base64', media_type: 'image/png', data: 'data:image' }),
      'invalid base64',
    ],
    ['a tool name with a space', ask('hi', { tools: [{ ...tool, name: 'a b' }] }), 'tools.0.custom.name'],
    ['two tools of one name', ask('hi', { tools: [tool, tool] }), 'Tool names must be unique'],
    [
      'a schema that is no object',
      ask('hi', { tools: [{ name: 'a', input_schema: {} }] }),
      'input_schema.type: Field required',
    ],
    ['a choice without tools', ask('hi', { tool_choice: { type: 'any' } }), 'while providing `tools`'],
    [
      'a choice of an unknown tool',
      ask('hi', { tools: [tool], tool_choice: { type: 'tool', name: 'run' } }),
      "Tool 'run' not found",
    ],
    ['a call without its result', turns(user, said(call), user), 'ids were found without `tool_result`'],
    ['a call at the end', turns(user, said(call)), 'ids were found without `tool_result`'],
    [
      'results that come one by one',
      turns(user, said(call, other), answered(result), answered({ ...result, tool_use_id: 'toolu_2' })),
      'immediately after: toolu_2',
    ],
    [
      'text before a result',
      turns(user, said(call), answered(block(), result)),
      'immediately after: toolu_1',
    ],
    ['a result without its call', turns(answered(result)), 'unexpected `tool_use_id`'],
    ['two results for one call', turns(user, said(call), answered(result, result)), 'a single result'],
    ['two calls with one id', turns(user, said(call, call), answered(result)), 'ids must be unique'],
    [
      'an id with a colon',
      turns(user, said({ ...call, id: 'call:1' }), user),
      'messages.1.content.0.id: String should match',
    ],
    [
      'a result with a call in it',
      turns(user, said(call), answered({ ...result, content: [call] })),
      'content.0.type',
    ],
    [
      'a thinking budget above max_tokens',
      ask('hi', { thinking: { ...enabled, budget_tokens: 4096 } }),
      'must be greater',
    ],
    [
      'a small thinking budget',
      ask('hi', { thinking: { ...enabled, budget_tokens: 100 } }),
      'thinking.budget_tokens',
    ],
    [
      'thinking without a budget',
      ask('hi', { thinking: { type: 'enabled' } }),
      'budget_tokens: Field required',
    ],
    [
      'a budget for an adaptive model',
      ask('hi', { model: 'claude-opus-4-7', thinking: enabled }),
      'thinking.type.adaptive',
    ],
    ['adaptive thinking of an old model', ask('hi', { thinking: { type: 'adaptive' } }), 'adaptive thinking'],
    ['thinking at a temperature', ask('hi', { thinking: enabled, temperature: 0.5 }), 'only be set to 1'],
    [
      'thinking with a forced tool',
      ask('hi', { thinking: enabled, tools: [tool], tool_choice: { type: 'any' } }),
      'forces tool use',
    ],
    [
      'a lost thought in a loop of tools',
      { ...turns(user, said(call), answered(result)), thinking: enabled },
      'Expected `thinking` or `redacted_thinking`, but found `tool_use`',
    ],
    ['a sampling option of a new model', ask('hi', { model: 'claude-opus-5', top_p: 1 }), 'top_p'],
    ['two sampling options', ask('hi', { temperature: 1, top_p: 1 }), 'cannot both be specified'],
    ['a temperature above one', ask('hi', { temperature: 1.5 }), 'temperature'],
    ['a begun answer of a new model', { ...turns(user, said(block())), model: 'claude-opus-5' }, 'prefill'],
    ['a begun answer that ends in a space', turns(user, said(block({ text: 'a ' }))), 'trailing whitespace'],
    [
      'five cache marks',
      turns(answered(...Array.from({ length: 5 }, () => block({ cache_control: mark })))),
      'A maximum of 4 blocks',
    ],
    [
      'a long mark after a short one',
      turns(answered(block({ cache_control: mark }), block({ cache_control: { ...mark, ttl: '1h' } }))),
      "ttl='1h'",
    ],
    ['a schema that is not closed', format({ type: 'object', properties: {} }), 'additionalProperties'],
    [
      'a bound in a schema',
      format({ ...object, properties: { n: { type: 'integer', minimum: 1 } } }),
      "property 'minimum' is not supported",
    ],
    ['a prompt above the context', ask('x'.repeat(900_000)), 'prompt is too long: 225004 tokens > 200000'],
  ])('for %s', async (_, body, message) => {
    const { status, json, headers } = await simulator.post(path, { body })
    expect([status, at(json, 'type'), at(json, 'error.type')]).toEqual([
      400,
      'error',
      'invalid_request_error',
    ])
    expect(at(json, 'error.message')).toContain(message)
    expect(at(json, 'request_id')).toBe(headers.get('request-id'))
  })

  test('for a sampling option and more under the newer version', async () => {
    const headers = { 'anthropic-version': '2026-10-21' }
    const pdf = { type: 'base64', media_type: 'application/pdf', data: 'aGk=' }
    const document = { type: 'document', source: pdf }
    const citations = [{ type: 'char_location' }]
    const found = { type: 'search_result', source: 's', title: 't', content: [block({ citations })] }
    for (const [body, message] of [
      [ask('hi', { temperature: 1 }), 'temperature'],
      [turns(user, said(document, block()), user), 'messages.1.content.0.type'],
      [turns(answered(block({ citations }))), 'messages.0.content.0.citations'],
      [turns(answered(found)), 'messages.0.content.0.content.0.citations'],
    ] as const) {
      const newer = await simulator.post(path, { body, headers })
      expect(newer.status).toBe(400)
      expect(at(newer.json, 'error.message')).toContain(message)
      expect((await simulator.post(path, { body })).status).toBe(200)
    }
  })

  test('without a version or with an unknown one', async () => {
    const missing = await simulator.post(path, {
      body: ask('hi'),
      headers: { 'anthropic-version': undefined },
    })
    expect(at(missing.json, 'error.message')).toBe('anthropic-version: header is required')
    const unknown = await simulator.post(path, {
      body: ask('hi'),
      headers: { 'anthropic-version': '2024-01-01' },
    })
    expect(unknown.status).toBe(400)
  })
})

describe('thoughts', () => {
  const first = turns({ role: 'user', content: 'look' })
  async function firstTurn(): Promise<JsonObject[]> {
    const { json } = await simulator.post(path, {
      body: { ...first, thinking: enabled },
      fault: 'redacted_thinking',
    })
    return at(json, 'content') as JsonObject[]
  }

  async function reply(content: JsonObject[]): Promise<string> {
    const calls = content.filter((one) => one['type'] === 'tool_use')
    const results = calls.map((one) => ({ ...result, tool_use_id: one['id'] }))
    const messages = [{ role: 'user', content: 'look' }, said(...content), answered(...results)]
    const { json } = await simulator.post(path, {
      body: ask('', { messages, tools: [tool], thinking: enabled }),
    })
    return String(at(json, 'error.message') ?? at(json, 'stop_reason'))
  }

  test('come back as they were', async () => {
    const content = await firstTurn()
    expect(content.map((one) => one['type'])).toEqual(['thinking', 'redacted_thinking', 'tool_use'])
    expect(await reply(content)).toBe('end_turn')
  })

  test('are refused when they are changed, of another provider, moved, or the last block', async () => {
    const [thinking = {}, redacted = {}, use = {}] = await firstTurn()
    const changed = { ...thinking, thinking: `${String(thinking['thinking'])} ` }
    expect(await reply([changed, redacted, use])).toContain('Invalid `signature` in `thinking` block')
    const foreign = { ...thinking, signature: 'EqoBCkgIAxABGAIqQA==' }
    expect(await reply([foreign, redacted, use])).toContain('messages.1.content.0: Invalid `signature`')
    const forged = { ...redacted, data: thinking['signature'] }
    expect(await reply([thinking, forged, use])).toContain('Invalid `data` in `redacted_thinking`')
    expect(await reply([redacted, use, thinking])).toContain('cannot be modified')
    expect(await reply([thinking])).toContain('cannot be `thinking`')
  })
})

describe('errors have the envelope of the API', () => {
  async function error(fault: string): Promise<unknown[]> {
    const { status, json } = await simulator.post(path, { body: ask('hi'), fault })
    return [status, at(json, 'type'), at(json, 'error.type')]
  }

  test.each([
    ['overloaded', 529, 'overloaded_error'],
    ['status=529', 529, 'overloaded_error'],
    ['status=500', 500, 'api_error'],
    ['status=503', 503, 'api_error'],
    ['status=504', 504, 'timeout_error'],
    ['status=403', 403, 'permission_error'],
    ['status=413', 413, 'request_too_large'],
    ['insufficient_quota', 402, 'billing_error'],
    ['context_length', 400, 'invalid_request_error'],
  ])('for %s', async (fault, status, type) => {
    expect(await error(fault)).toEqual([status, 'error', type])
  })

  test('for too many requests, with the wait before the next one', async () => {
    const { status, json, headers } = await simulator.post(path, {
      body: ask('hi'),
      fault: 'status=429;retry_after=7',
    })
    expect([status, at(json, 'error.type')]).toEqual([429, 'rate_limit_error'])
    expect(headers.get('retry-after')).toBe('7')
    expect(headers.get('anthropic-ratelimit-requests-remaining')).toBe('0')
  })

  test('for keys: missing, bad, or two different ones', async () => {
    for (const headers of [
      { authorization: undefined },
      { authorization: undefined, 'x-api-key': 'bad-key-1' },
      { 'x-api-key': 'another' },
    ]) {
      const { status, json } = await simulator.post(path, { body: ask('hi'), headers })
      expect([status, at(json, 'error.type')]).toEqual([401, 'authentication_error'])
    }
    const headers = { authorization: undefined, 'x-api-key': 'good' }
    expect((await simulator.post(path, { body: ask('hi'), headers })).status).toBe(200)
  })

  test('for a model that is not served, a wrong method, and a body that is no JSON', async () => {
    const missing = await simulator.post(path, { body: ask('hi', { model: 'gpt-4o' }) })
    expect(missing.json).toMatchObject({ error: { type: 'not_found_error', message: 'model: gpt-4o' } })
    const wrong = await fetch(`${simulator.url()}/v1/messages`, { headers: { 'x-api-key': 'k' } })
    expect([wrong.status, at(await wrong.json(), 'type')]).toEqual([405, 'error'])
    expect(at((await simulator.post(path, { body: '[' })).json, 'error.type')).toBe('invalid_request_error')
  })

  test('or the envelope of another API when a fault says so', async () => {
    const { json } = await simulator.post(path, { body: ask('hi'), fault: 'status=500,fault_body=openai' })
    expect(json).toHaveProperty('error.param')
    expect(json).not.toHaveProperty('type')
  })
})

test('members of a beta are accepted when the request names the beta, unknown members by a lenient provider', async () => {
  const headers = { 'anthropic-beta': 'context-management-2025-06-27' }
  const body = ask('hi', { context_management: { edits: [] } })
  expect((await simulator.post(path, { body, headers })).status).toBe(200)
  expect((await simulator.post(path, { body: ask('hi', { x: 1 }), fault: 'lenient' })).status).toBe(200)
})
