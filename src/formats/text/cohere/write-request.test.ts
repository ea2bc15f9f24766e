import { describe, expect, test } from 'bun:test'
import { decodeChatRequest } from '../chat/read-request.ts'
import { selectCodec } from '../formats.ts'
import { decodeMessagesRequest } from '../messages/read-request.ts'
import { testEndpoint, textOf } from '../testing.ts'
import { isHeldByCohere } from './held-schema.ts'
import { type CohereModel, cohereQuirks } from './quirks.ts'
import { readCohereAnswer } from './read-answer.ts'

const context = { sessionIdHeader: null }
const bytesOf = (value: unknown) => new TextEncoder().encode(JSON.stringify(value))
const newest: CohereModel = { canThink: true, hasImages: true, hasTools: true }
const user = { role: 'user', content: 'hi' }
const schema = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] }

type CallerFormat = 'chat' | 'messages'
const decode = { chat: decodeChatRequest, messages: decodeMessagesRequest }

function sentOf(body: object, options: { model?: CohereModel; format?: CallerFormat } = {}) {
  const { model = newest, format = 'chat' } = options
  const decoded = decode[format](bytesOf({ model: 'a/b', ...body }), context)
  const quirks = cohereQuirks({ modelOf: () => model })
  const encoded = selectCodec(format, 'cohere').encodeRequest(decoded, testEndpoint('m'), quirks)
  return { ...encoded, wire: JSON.parse(textOf(encoded.body)) }
}

test('marks of a cache are listed, also those of calls and of results', () => {
  const cache_control = { type: 'ephemeral' }
  const messages = [
    user,
    { role: 'assistant', content: [{ type: 'tool_use', id: 'c1', name: 'look', input: {} }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c1', content: 'no', cache_control }] },
  ]
  const { wire, dropped } = sentOf({ max_tokens: 9, messages }, { format: 'messages' })
  expect(wire.messages[2]).toEqual({ role: 'tool', tool_call_id: 'c1', content: 'no' })
  expect(dropped).toEqual(['messages[].content[].cache_control'])
})

test('thoughts without a seal go back to a model that thinks, and no others', () => {
  const thoughts = [
    { type: 'thinking', thinking: 'Hm.', signature: '' },
    { type: 'thinking', thinking: 'So.', signature: 's1' },
  ]
  const messages = [
    user,
    { role: 'assistant', content: [...thoughts, { type: 'text', text: 'Yes.' }] },
    { role: 'user', content: 'Why?' },
  ]
  const { wire, dropped } = sentOf({ max_tokens: 9, messages }, { format: 'messages' })
  expect(wire.messages[1].content).toEqual([
    { type: 'thinking', thinking: 'Hm.' },
    { type: 'text', text: 'Yes.' },
  ])
  expect(dropped).toEqual(['messages[].content[].thinking'])
})

test('efforts are budgets, as shares of the output', () => {
  const body = { messages: [user], reasoning: { effort: 'low' }, max_tokens: 10_000 }
  expect(sentOf(body).wire.thinking).toEqual({ type: 'enabled', token_budget: 1_000 })
  const plain = sentOf(body, { model: { ...newest, canThink: false } })
  expect([plain.wire.thinking, plain.dropped]).toEqual([undefined, ['reasoning']])
})

describe('the form of an answer', () => {
  const form = (value: object) => ({
    messages: [user],
    response_format: { type: 'json_schema', json_schema: { name: 'x', schema: value } },
  })

  test('is enforced as far as the provider knows the schema', () => {
    expect(sentOf(form(schema)).wire.response_format).toEqual({ type: 'json_object', json_schema: schema })
    const bounded = sentOf(form({ ...schema, properties: { a: { type: 'string', minLength: 2 } } }))
    expect(bounded.wire.response_format).toEqual({ type: 'json_object' })
    expect([bounded.wire.messages.length, bounded.approximated]).toEqual([2, ['response_format']])
  })

  test('is told beside tools, and where it is no object', () => {
    const tools = [{ type: 'function', function: { name: 'look', parameters: schema } }]
    for (const sent of [sentOf({ ...form(schema), tools }), sentOf(form({ type: 'array', items: schema }))]) {
      expect([sent.wire.response_format, sent.approximated]).toEqual([undefined, ['response_format']])
      expect(sent.wire.messages[0].role).toBe('system')
    }
  })

  test('is known by its keywords', () => {
    const nested = (inner: object) => ({ ...schema, properties: { a: inner } })
    for (const inner of [
      { enum: ['x'] },
      { type: 'string', format: 'date' },
      { type: 'array', items: schema },
    ])
      expect([inner, isHeldByCohere(nested(inner))]).toEqual([inner, true])
    for (const inner of [
      { type: 'object', properties: {} },
      { type: 'string', format: 'email' },
      { type: 'string', pattern: '^a$' },
      { anyOf: [{ type: 'string' }, { type: 'null' }] },
      { type: 'number', minimum: 1 },
      { $ref: 'https://example.com/a.json' },
    ])
      expect([inner, isHeldByCohere(nested(inner))]).toEqual([inner, false])
  })
})

test('an answer that ended in an error says so', () => {
  const message = { role: 'assistant', content: [{ type: 'text', text: 'So' }] }
  const { choices } = readCohereAnswer(bytesOf({ id: 'c1', message, finish_reason: 'ERROR' }))
  expect(choices[0]?.finish).toMatchObject({ reason: 'error', native: 'ERROR' })
})
