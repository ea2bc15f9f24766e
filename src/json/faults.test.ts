import { expect, test } from 'bun:test'
import { assert as assertProperty, integer, json, property, tuple } from 'fast-check'
import { describeFault, findSyntaxFault, placeOf } from './faults.ts'

test.each<[string, string]>([
  ['', 'it is empty (line 1, column 1)'],
  ['{"a": 1,}', 'a member name in quotes was expected (line 1, column 9)'],
  ["{'a': 1}", 'a member name in quotes was expected (line 1, column 2)'],
  ['{"a" 1}', 'a colon was expected (line 1, column 6)'],
  ['{\n  "a": 1\n  "b": 2\n}', 'a comma or "}" was expected (line 3, column 3)'],
  ['[1 2]', 'a comma or "]" was expected (line 1, column 4)'],
  ['[1,]', 'a value was expected (line 1, column 4)'],
  ['[01]', 'a value was expected (line 1, column 2)'],
  ['{"a": True}', 'a value was expected (line 1, column 7)'],
  ['{"äöü🦆": undefined}', 'a value was expected (line 1, column 10)'],
  ['{"a": "b\nc"}', 'a line break or control character inside a string must be escaped (line 1, column 9)'],
  ['{"a": "\\x"}', 'an escape that JSON does not have (line 1, column 8)'],
  ['{"a": "\\u00g0"}', 'an escape that JSON does not have (line 1, column 8)'],
  ['{"a": "b', 'a string is not closed (line 1, column 7)'],
  ['{"a": [1', 'it ends before it is complete (line 1, column 9)'],
  ['{"a": [1}', 'a comma or "]" was expected (line 1, column 9)'],
  ['{} {}', 'something follows the JSON text (line 1, column 4)'],
])('%j: %s', (text, told) => {
  expect(describeFault(Buffer.from(text))).toBe(told)
})

test('a byte order mark is not a fault, and invalid UTF-8 is reported as such', () => {
  expect(findSyntaxFault(Buffer.from('\ufeff{"a":1}'))).toBeNull()
  expect(describeFault(Buffer.from([0x22, 0xff, 0x22]))).toBe('it is not text in UTF-8')
})

test('there is a fault exactly where the runtime refuses the text', () => {
  assertProperty(
    property(
      json(),
      tuple(integer({ min: 0 }), integer({ min: 0 }), integer({ min: 0, max: 2 })),
      (text, change) => {
        const changed = mutate(text, ...change)
        const bytes = Buffer.from(changed)
        expect([changed, findSyntaxFault(bytes) === null]).toEqual([changed, isJson(bytes.toString())])
      },
    ),
    { numRuns: 2_000 },
  )
})

test('a place in the middle of a text is found in it, and in part of it', () => {
  const bytes = Buffer.from('[\n1,\n{"a" 2}]')
  const fault = findSyntaxFault(bytes, 5, 12)
  expect(fault).toEqual({ offset: 10, problem: 'a colon was expected' })
  expect(placeOf(bytes, 10)).toEqual({ line: 3, column: 6 })
})

/** Removes a character, doubles one, or inserts a sign. */
function mutate(text: string, at: number, sign: number, kind: number): string {
  const position = at % (text.length + 1)
  const [front, back] = [text.slice(0, position), text.slice(position)]
  if (kind === 0) return front + back.slice(1)
  if (kind === 1) return front + back.slice(0, 1) + back
  return front + (signs[sign % signs.length] ?? '') + back
}

const signs = ['"', '\\', '{', '}', '[', ']', ',', ':', ' ', '\n', '0', '-', 'e', '.', 'null', "'", '\u0001']

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
