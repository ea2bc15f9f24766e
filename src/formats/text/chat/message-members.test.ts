import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { areKnown, hasUnknownMember } from './message-members.ts'

const name = fc.constantFrom(
  'role',
  'content',
  'tool_calls',
  'function',
  'text',
  'my_tag',
  'arguments',
  'é"\\',
)
const messages = fc.letrec((tie) => ({
  value: fc.oneof({ maxDepth: 4 }, fc.string(), fc.integer(), fc.constant(null), tie('list'), tie('object')),
  list: fc.array(tie('value'), { maxLength: 3 }),
  object: fc.dictionary(name, tie('value'), { maxKeys: 3 }),
})).list

test('bytes and values agree about what is known', () => {
  fc.assert(
    fc.property(messages, fc.constantFrom(undefined, 2), (value, space) => {
      expect(hasUnknownMember(Buffer.from(JSON.stringify(value, null, space)))).toBe(!areKnown(value))
    }),
    { numRuns: 1_000 },
  )
})

test('members are looked for inside parts and calls, and not inside their contents', () => {
  const known = [
    { role: 'user', content: [{ type: 'image_url', image_url: { url: 'x', my_tag: 1 } }] },
    {
      role: 'assistant',
      tool_calls: [{ id: 'a', type: 'function', function: { name: 'f', arguments: '{"my_tag":1}' } }],
    },
  ]
  expect(areKnown(known)).toBe(true)
  for (const message of [
    { role: 'user', my_tag: 1 },
    { role: 'user', content: [{ type: 'text', text: 'x', my_tag: 1 }] },
    { role: 'assistant', tool_calls: [{ id: 'a', my_tag: 1 }] },
    { role: 'assistant', tool_calls: [{ id: 'a', function: { name: 'f', my_tag: 1 } }] },
  ])
    expect(areKnown([message])).toBe(false)
})
