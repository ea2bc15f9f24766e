import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { memberBytes } from './json-walk.ts'

test('a member’s bytes are what JSON.parse reads for it', () => {
  const name = fc.constantFrom('body', 'custom_id', 'other', 'bod', 'body ', 'b"dy')
  const object = fc.dictionary(name, fc.jsonValue(), { noNullPrototype: true })
  fc.assert(
    fc.property(object, fc.constantFrom(undefined, 2), (item, indent) => {
      const text = JSON.stringify(item, null, indent)
      const bytes = memberBytes(Buffer.from(text), 'body')
      // As the text has it: JSON knows no -0.
      const { body: expected } = JSON.parse(text) as { body?: unknown }
      expect(bytes === null ? undefined : JSON.parse(bytes.toString())).toEqual(expected)
    }),
  )
})

test('the last of several members counts, also when its name is escaped', () => {
  const text = '{"body":1,"body" : [ "]" ] ,"b\\u006fdy":{"x":"}"}}'
  expect(memberBytes(Buffer.from(text), 'body')?.toString()).toBe('{"x":"}"}')
  expect(memberBytes(Buffer.from('{ }'), 'body')).toBeNull()
})
