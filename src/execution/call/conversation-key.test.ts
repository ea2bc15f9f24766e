import { describe, expect, test } from 'bun:test'
import { operations } from '../operations.ts'
import type { OperationName } from '../../canonical/operation.ts'
import { conversationKey } from './conversation-key.ts'

const long = 'word '.repeat(1_200)
const tool = (name: string) => ({ type: 'function', function: { name, parameters: { type: 'object' } } })

function keyOf(operation: OperationName, body: Record<string, unknown>): string | null {
  const decode = operations[operation].text?.decode
  const bytes = Buffer.from(JSON.stringify({ model: 'a/b', ...body }))
  const call = decode?.(bytes, { sessionIdHeader: null })
  return call === undefined ? null : conversationKey(call)
}

const turns = (...texts: string[]) =>
  texts.map((content, index) => ({ role: index % 2 === 0 ? 'user' : 'assistant', content }))

describe.each([
  ['chat_completions', (messages: unknown[]) => ({ messages, tools: [tool('a')] })],
  ['messages', (messages: unknown[]) => ({ messages, max_tokens: 9, system: 'Be brief.' })],
  ['responses', (input: unknown[]) => ({ input, instructions: 'Be brief.' })],
] as const)('how a conversation of %s begins', (operation, bodyOf) => {
  const first = keyOf(operation, bodyOf(turns(long)))

  test('stays the same as it goes on', () => {
    expect(first).toStartWith('opening-')
    expect(keyOf(operation, bodyOf(turns(long, 'Yes.', 'And now?', 'No.', 'Why?')))).toBe(first)
  })

  test('differs with another first message', () => {
    expect(keyOf(operation, bodyOf(turns(`${long}!`)))).not.toBe(first)
  })

  test('says nothing where a prompt is too short to be cached', () => {
    expect(keyOf(operation, bodyOf(turns('Hi.')))).toBeNull()
  })
})

test('other tools, or another system prompt, begin another conversation', () => {
  const messages = turns(long)
  const key = (more: Record<string, unknown>) => keyOf('messages', { messages, max_tokens: 9, ...more })
  const keys = [{}, { system: 'x' }, { tools: [{ name: 'a', input_schema: { type: 'object' } }] }].map(key)
  expect(new Set(keys).size).toBe(3)
})

test('marks of the cache, which move from call to call, do not count', () => {
  const part = (mark: object) => ({ type: 'text', text: long, ...mark })
  const key = (mark: object) =>
    keyOf('messages', { max_tokens: 9, messages: [{ role: 'user', content: [part(mark)] }] })
  const plain = key({})
  expect(key({ cache_control: { type: 'ephemeral' } })).toBe(plain)
  expect(key({ cache_control: { type: 'ephemeral', ttl: '1h' } })).toBe(plain)
})

test('the caller’s own key of the cache comes first', () => {
  expect(keyOf('chat_completions', { messages: turns(long), prompt_cache_key: 'mine' })).toBe('mine')
})
