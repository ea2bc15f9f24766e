import { describe, expect, test } from 'bun:test'
import type { JsonObject } from '../json.ts'
import { at, respondTo, simulatorForTests } from '../testing.ts'

const simulator = simulatorForTests()
const path = '/responses'
const user = { role: 'user', content: 'hi' }
const call = { type: 'function_call', call_id: 'call_1', name: 'look', arguments: '{}' }
const output = { type: 'function_call_output', call_id: 'call_1', output: 'seen' }
const look = { type: 'function', name: 'look', parameters: { type: 'object', properties: {} } }
const open = { type: 'object', properties: { a: { type: 'string' } }, required: [] }

function format(more: JsonObject): JsonObject {
  return respondTo('hi', { text: { format: { type: 'json_schema', name: 'a', schema: open, ...more } } })
}

describe('a Responses request is refused with 400', () => {
  test.each<[string, JsonObject, string | null, string | null]>([
    ['no input', { model: 'gpt-4o' }, 'input', 'missing_required_parameter'],
    ['messages of chat', respondTo('hi', { messages: [] }), 'messages', 'unknown_parameter'],
    ['a stop sequence', respondTo('hi', { stop: 'a' }), 'stop', 'unknown_parameter'],
    [
      'a small limit',
      respondTo('hi', { max_output_tokens: 2 }),
      'max_output_tokens',
      'integer_below_min_value',
    ],
    ['an unknown item', respondTo([{ type: 'thought' }]), 'input[0].type', 'invalid_value'],
    [
      'an unknown member of an item',
      respondTo([{ ...user, cache_control: {} }]),
      'input[0].cache_control',
      'unknown_parameter',
    ],
    [
      'a part of chat',
      respondTo([{ role: 'user', content: [{ type: 'text', text: 'a' }] }]),
      'input[0].content[0].type',
      'invalid_value',
    ],
    [
      'an input part of the assistant',
      respondTo([user, { role: 'assistant', content: [{ type: 'input_text', text: 'a' }] }]),
      'input[1].content[0].type',
      'invalid_value',
    ],
    ['a foreign id', respondTo([{ ...call, id: 'toolu_1' }, output]), 'input[0].id', 'invalid_value'],
    ['a call without its output', respondTo([user, call]), 'input', null],
    ['an output without its call', respondTo([user, output]), 'input', null],
    [
      'a tool of chat',
      respondTo('hi', { tools: [{ type: 'function', function: look }] }),
      'tools[0].function',
      'unknown_parameter',
    ],
    [
      'an unknown kind of tool',
      respondTo('hi', { tools: [{ type: 'robot' }] }),
      'tools[0].type',
      'invalid_value',
    ],
    [
      'a tool name with a space',
      respondTo('hi', { tools: [{ ...look, name: 'a b' }] }),
      'tools[0].name',
      'invalid_value',
    ],
    [
      'a strict tool with an open schema',
      respondTo('hi', { tools: [{ ...look, parameters: open, strict: true }] }),
      'tools[0].parameters',
      'invalid_function_parameters',
    ],
    ['a forced call without tools', respondTo('hi', { tool_choice: 'required' }), 'tool_choice', null],
    [
      'a choice of an unknown tool',
      respondTo('hi', { tools: [look], tool_choice: { type: 'function', name: 'run' } }),
      'tool_choice',
      null,
    ],
    [
      'a strict answer with an open schema',
      format({ strict: true }),
      'text.format.schema',
      'invalid_json_schema',
    ],
    [
      'an answer without a schema',
      respondTo('hi', { text: { format: { type: 'json_schema', name: 'a' } } }),
      'text.format.schema',
      'missing_required_parameter',
    ],
    [
      'JSON mode without the word',
      respondTo('hi', { text: { format: { type: 'json_object' } } }),
      'input',
      null,
    ],
    [
      'a temperature of a thinking model',
      respondTo('hi', { model: 'gpt-5.4', temperature: 1 }),
      'temperature',
      null,
    ],
    [
      'an effort of a model that does not think',
      respondTo('hi', { reasoning: { effort: 'low' } }),
      'reasoning.effort',
      'unsupported_parameter',
    ],
    [
      'encrypted thoughts of a model that has none',
      respondTo('hi', { include: ['reasoning.encrypted_content'] }),
      'include',
      null,
    ],
    ['an unknown include', respondTo('hi', { include: ['thoughts'] }), 'include[0]', 'invalid_value'],
    ['a background answer', respondTo('hi', { background: true }), 'background', 'unsupported_parameter'],
    ['an input above the context', respondTo('x'.repeat(600_000)), 'input', 'context_length_exceeded'],
  ])('for %s', async (_, body, param, code) => {
    const { status, json } = await simulator.post(path, { body })
    expect(status).toBe(400)
    expect(json).toEqual({
      error: { message: expect.any(String), type: 'invalid_request_error', param, code },
    })
  })

  test('for another model, and for what was not stored, with 404', async () => {
    const model = await simulator.post(path, { body: respondTo('hi', { model: 'claude-opus-5' }) })
    expect([model.status, at(model.json, 'error.code')]).toEqual([404, 'model_not_found'])
    for (const item of [
      { type: 'item_reference', id: 'msg_1' },
      { type: 'reasoning', id: 'rs_1', summary: [] },
    ]) {
      expect((await simulator.post(path, { body: respondTo([item, user]) })).status).toBe(404)
    }
  })

  test('for thoughts that are changed, foreign, under another id, or alone', async () => {
    const include = ['reasoning.encrypted_content']
    const settings = { model: 'gpt-5.4', store: false, include }
    const { json } = await simulator.post(path, { body: respondTo('hi', settings) })
    const [thoughts, message] = at(json, 'output') as [JsonObject, JsonObject]
    async function codeFor(...items: JsonObject[]): Promise<unknown> {
      const input = [user, ...items, user]
      const answer = await simulator.post(path, { body: respondTo(input, settings) })
      return answer.status === 200 ? 200 : (at(answer.json, 'error.code') ?? at(answer.json, 'error.param'))
    }
    expect(await codeFor(thoughts, message)).toBe(200)
    const content = String(thoughts['encrypted_content'])
    const refused = 'invalid_encrypted_content'
    expect(await codeFor({ ...thoughts, encrypted_content: `${content}A` }, message)).toBe(refused)
    expect(await codeFor({ ...thoughts, encrypted_content: 'c2ln' }, message)).toBe(refused)
    expect(await codeFor({ ...thoughts, id: 'rs_2' }, message)).toBe(refused)
    expect(await codeFor(thoughts)).toBe('input')
    expect(await codeFor(message, thoughts)).toBe('input')
  })
})

test.each([
  ['overloaded', 503, 'messages', 'server_error'],
  ['context_length', 400, 'input', 'invalid_request_error'],
  ['insufficient_quota', 429, null, 'insufficient_quota'],
  ['status=500', 500, null, 'server_error'],
])("the fault %s has OpenAI's envelope", async (fault, status, param, type) => {
  const { status: got, json } = await simulator.post(path, { body: respondTo('hi'), fault })
  expect([got, at(json, 'error.type')]).toEqual([status, type])
  if (status === 400) expect(at(json, 'error.param')).toBe(param)
})
