import { expect, test } from 'bun:test'
import { comparedTextLengthMax } from '../core/limits/text.ts'
import { stringsOf, withoutCallerText } from './caller-text.ts'

const prompt = 'My name is Ada Lovelace.\nCall me at +44 20 7946 0958, the password is hunter2.'
const written = { texts: [prompt, 'acme/large', 'temperature of the sea'], names: ['temperature', 'large'] }

test.each([
  ['The model is overloaded. Try again.', 'The model is overloaded. Try again.'],
  ['Cannot parse "Ada Lovelace" as JSON', 'Cannot parse "[removed]" as JSON'],
  ["Invalid value: 'hunter2'.", "Invalid value: '[removed]'."],
  ['refused: my  name is ada lovelace', 'refused: [removed]'],
  ['input_value=hunter2 is wrong', 'input_value= [removed] is wrong'],
  ['bad number 7946', 'bad number [removed]'],
  ["'temperature' must be at most 2", "'temperature' must be at most 2"],
  ['Rate limit of 30000 for `large` is reached', 'Rate limit of 30000 for `large` is reached'],
])('%s', (said, logged) => {
  expect(withoutCallerText(said, written)).toBe(logged)
})

test('if the caller’s text is too long to be compared, no provider text is logged', () => {
  expect(
    withoutCallerText('overloaded', { texts: ['x'.repeat(comparedTextLengthMax + 1)], names: [] }),
  ).toBeNull()
})

test('every string of a request counts, however deep it is', () => {
  expect(stringsOf({ a: 'one', b: [{ c: 'two', d: 3, e: null }] })).toEqual(['one', 'two'])
})
