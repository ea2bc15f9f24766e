import { expect, test } from 'bun:test'
import { ItemChecks } from './item-checks.ts'

test('an oversized item gets its id from its beginning, or is refused when the beginning has none', () => {
  const checks = new ItemChecks()
  expect(checks.checkOversized(0, Buffer.from('{ "custom_id" : "a\\u0041", "body":'))).toBe('aA')
  for (const head of [
    '{"body":{',
    '{"custom_id":"","b":',
    '{"custom_id":"a\\x","b":',
    '{"custom_id":"\\u12","b":',
    '',
  ])
    expect(() => checks.checkOversized(1, Buffer.from(head))).toThrow('requests[1] is too large')
})
