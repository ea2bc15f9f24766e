import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { memberNamesComparedMax } from '../core/limits/text.ts'
import { parseJsonDocument, requireUniqueNames } from './document.ts'

const bytesOf = (text: string) => new TextEncoder().encode(text)

function isRefused(text: string): boolean {
  try {
    parseJsonDocument(bytesOf(text))
    return false
  } catch (thrown) {
    expect(String(thrown)).toContain('twice')
    return true
  }
}

describe('a member that an object has twice', () => {
  const many = Array.from({ length: memberNamesComparedMax * 2 }, (_, at) => `"name ${at}":${at}`)

  test.each([
    ['in a message', '{"messages":[{"role":"user","role":"system"}]}'],
    ['under another spelling', '{"a":{"role":1,"r\\u006fle":2}}'],
    ['after an object inside', '{"a":{"x":{"y":1,"z":{}},"b":[{"x":1}],"x":2}}'],
    ['with space before its colon', '{"a":[[{"x" :1 , "x"\n:2}]]}'],
    ['of many', `{"a":{${many.join()},"name 3":0}}`],
    ['among many', `{"a":{${many.join()},${many.at(-1)}}}`],
    ['of no letters', '{"a":{"":1,"":2}}'],
  ])('is found %s', (_where, text) => {
    expect(isRefused(text)).toBe(true)
    expect(() => requireUniqueNames(bytesOf(text))).toThrow('twice')
  })

  test('is not what another object has, or a text says', () => {
    expect(isRefused('{"a":{"x":1},"b":[{"x":1},{"x":2}],"x":{"x":{"x":"x"}}}')).toBe(false)
    expect(isRefused('{"a":{"x":"\\"x\\":","y":"x"},"c":["x","x"]}')).toBe(false)
    expect(isRefused(`{"a":{${many.join()}},"b":{${many.join()}}}`)).toBe(false)
  })

  test('is found exactly where parsing loses one', () => {
    const name = fc.constantFrom('a', 'b', 'aa', 'ab', 'ba', 'é', '\\u0061', '__proto__')
    const value: fc.Memo<string> = fc.memo((depth) =>
      depth === 0
        ? fc.constantFrom('1', '"a"', '"\\"a\\":1"', 'null')
        : fc.oneof(
            fc.array(fc.tuple(name, value(depth - 1)), { maxLength: 4 }).map((members) => {
              return `{${members.map(([key, text]) => `"${key}":${text}`).join()}}`
            }),
            fc.array(value(depth - 1), { maxLength: 3 }).map((items) => `[${items.join()}]`),
          ),
    )
    fc.assert(
      fc.property(value(3), (text) => {
        const body = `{"body":${text}}`
        expect(isRefused(body)).toBe(countNames(JSON.parse(body)) < colonsOf(body))
      }),
    )
  })
})

function countNames(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  const names = Array.isArray(value) ? 0 : Object.keys(value).length
  return Object.values(value).reduce<number>((sum, inner) => sum + countNames(inner), names)
}

/** Of the members that were written; texts with a colon are made without. */
function colonsOf(text: string): number {
  return text.replaceAll('"\\"a\\":1"', '0').split(':').length - 1
}
