import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { ArgumentsScan, findMember, isNestedWithin, requireUniqueNames } from './scan.ts'
import { memberNamesComparedMax } from './names.ts'
import { parseJsonDocument } from './document.ts'

const arrays = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
const objects = (depth: number) => '{"a":'.repeat(depth) + '1' + '}'.repeat(depth)

test('a text is within its depth to the level', () => {
  for (const nested of [arrays, objects]) {
    expect(isNestedWithin(nested(200), 200)).toBe(true)
    expect(isNestedWithin(nested(201), 200)).toBe(false)
    expect(isNestedWithin(`{"x":${nested(199)},"y":[${nested(198)}]}`, 200)).toBe(true)
    expect(isNestedWithin(`{"x":"]","y":[${nested(199)}]}`, 200)).toBe(false)
  }
})

test('brackets that open one after the other are not nested', () => {
  expect(isNestedWithin(`[${'[],{},'.repeat(1_000)}0]`, 2)).toBe(true)
})

test('brackets in strings do not count as levels, whatever is escaped in the strings', () => {
  const open = '['.repeat(300)
  for (const text of [open, `\\"${open}`, `${open}\\\\`, `\\\\\\"${open}`]) {
    expect(isNestedWithin(`["${text}"]`, 10)).toBe(true)
    expect(isNestedWithin(`["${text}",${arrays(10)}]`, 10)).toBe(false)
  }
})

test('a string without end, and one of nothing but escapes, are read in no time', () => {
  const startMs = performance.now()
  expect(isNestedWithin(`["${'\\"'.repeat(1_000_000)}`, 10)).toBe(true)
  expect(isNestedWithin(`["${'\\'.repeat(2_000_000)}"]`, 10)).toBe(true)
  expect(performance.now() - startMs).toBeLessThan(5_000)
})

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

  test('is not found for a name in another object or inside a text', () => {
    expect(isRefused('{"a":{"x":1},"b":[{"x":1},{"x":2}],"x":{"x":{"x":"x"}}}')).toBe(false)
    expect(isRefused('{"a":{"x":"\\"x\\":","y":"x"},"c":["x","x"]}')).toBe(false)
    expect(isRefused(`{"a":{${many.join()}},"b":{${many.join()}}}`)).toBe(false)
  })

  test('is found exactly when parsing would lose a member', () => {
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

/** Counts the colons of written members; the drawn texts have none. */
function colonsOf(text: string): number {
  return text.replaceAll('"\\"a\\":1"', '0').split(':').length - 1
}

/** The number of characters after which the arguments are first complete; null for never. */
function wholeAfter(text: string): number | null {
  const scan = new ArgumentsScan()
  for (let at = 0; at < text.length; at += 1) {
    scan.push(text[at] ?? '')
    if (scan.isWhole) return at + 1
  }
  return null
}

test('arguments are whole with the last bracket of their object and not before', () => {
  const value = fc.dictionary(fc.string(), fc.jsonValue())
  fc.assert(
    fc.property(value, fc.constantFrom(undefined, 1), (given, indent) => {
      const text = JSON.stringify(given, null, indent)
      expect(wholeAfter(` ${text}`)).toBe(text.length + 1)
      const scan = new ArgumentsScan()
      scan.push(`${text}\r\n\t `)
      expect(scan.isWhole).toBe(true)
    }),
  )
})

test('arguments that are not an object, or have text after it, are never whole', () => {
  for (const text of ['', ' ', '1', '[{}]', '"{}"', 'x{}', '{"a":"}', '{"a":"\\"}']) {
    expect({ text, after: wholeAfter(text) }).toEqual({ text, after: null })
  }
  const scan = new ArgumentsScan()
  scan.push('{}{"a":1}')
  expect(scan.isWhole).toBe(false)
})

test('a member’s bytes are what JSON.parse reads for it', () => {
  const name = fc.constantFrom('body', 'custom_id', 'other', 'bod', 'body ', 'b"dy')
  const object = fc.dictionary(name, fc.jsonValue(), { noNullPrototype: true })
  fc.assert(
    fc.property(object, fc.constantFrom(undefined, 2), (item, indent) => {
      const text = JSON.stringify(item, null, indent)
      const bytes = findMember(Buffer.from(text), 'body').value
      // Compared with the written text, because JSON.stringify has no -0.
      const { body: expected } = JSON.parse(text) as { body?: unknown }
      expect(bytes === null ? undefined : JSON.parse(bytes.toString())).toEqual(expected)
    }),
  )
})

test('the last of several members counts, also when its name is escaped', () => {
  const text = '{"body":1,"body" : [ "]" ] ,"b\\u006fdy":{"x":"}"}}'
  expect(findMember(Buffer.from(text), 'body').value?.toString()).toBe('{"x":"}"}')
  expect(findMember(Buffer.from('{ }'), 'body').value).toBeNull()
})
