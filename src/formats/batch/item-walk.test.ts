import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { WalkedItem } from './item-walk.ts'
import { ItemWalk } from './item-walk.ts'

const itemWalk = new ItemWalk()
const decoder = new TextDecoder('utf-8', { fatal: true })

function parsed(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(decoder.decode(bytes)) as unknown
  } catch {
    return undefined
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The item that fills these bytes exactly; otherwise null. */
function walk(bytes: Buffer): WalkedItem | null {
  const found = itemWalk.prove(bytes, 0, bytes.length)
  return found?.length === bytes.length ? found : null
}

/** The bytes at an offset in a larger memory, between bytes that the walk must ignore. */
function placed(bytes: Uint8Array, offset: number): Buffer {
  const memory = Buffer.alloc(offset + bytes.length + 16, '"}]1')
  memory.set(bytes, offset)
  return memory.subarray(offset, offset + bytes.length)
}

const keys = fc.constantFrom('custom_id', 'body', 'model', 'stream', 'messages', 'x', 'ключ', 'a"b')
const { value: anyValue } = fc.letrec<{ value: unknown; object: Record<string, unknown> }>((tie) => ({
  object: fc.dictionary(keys, tie('value'), { noNullPrototype: true, maxKeys: 5 }),
  value: fc.oneof(
    { depthSize: 'small' },
    fc.oneof(fc.string({ unit: 'binary' }), fc.string(), fc.double({ noNaN: true, noDefaultInfinity: true })),
    fc.constantFrom(null, true, false, 0, -0.5, 1e300, 12, ''),
    fc.array(tie('value'), { maxLength: 4 }),
    tie('object'),
  ),
}))
const item = fc.record(
  { custom_id: fc.string(), body: fc.dictionary(keys, anyValue, { noNullPrototype: true }) },
  { requiredKeys: [], noNullPrototype: true },
)
const indent = fc.constantFrom(undefined, 1, '\t', '\r\n')

test('an item that the walk proves is exactly as JSON.parse reads it, wherever it lies in memory', () => {
  fc.assert(
    fc.property(item, indent, fc.nat(9), (drawn, space, offset) => {
      // JSON cannot express some drawn values, such as -0, so the expected value is what JSON keeps.
      const value = JSON.parse(JSON.stringify(drawn)) as typeof drawn
      const bytes = Buffer.from(
        JSON.stringify(value, null, space === '\r\n' ? 1 : space).replaceAll(
          '\n',
          space === '\r\n' ? '\r\n' : '\n',
        ),
      )
      const memory = placed(bytes, offset)
      const found = walk(memory)
      // `JSON.parse` decides about names with escapes.
      if (found === null) return expect(bytes.includes('a\\"b')).toBe(true)
      const body = isObject(value.body) ? value.body : {}
      const expected = {
        custom_id: value.custom_id,
        body: value.body,
        model: body['model'],
        stream: body['stream'],
      }
      for (const name of ['custom_id', 'body', 'model', 'stream'] as const) {
        const place = found[name]
        const member = place && parsed(memory.subarray(place.start, place.end))
        expect(member).toEqual(expected[name])
      }
    }),
    { numRuns: 500 },
  )
})

test('the walk proves no damaged text that JSON.parse refuses', () => {
  const damage = fc.array(
    fc.record({
      at: fc.nat(),
      to: fc.oneof(fc.nat(255), fc.constantFrom(...Buffer.from('"\\{}[],:0-.eE\u0001 tfnu'))),
      how: fc.constantFrom('set', 'insert', 'remove', 'cut'),
    }),
    { minLength: 1, maxLength: 3 },
  )
  let proven = 0
  fc.assert(
    fc.property(item, damage, fc.nat(3), (value, changes, offset) => {
      let bytes = [...Buffer.from(JSON.stringify(value))]
      for (const { at, to, how } of changes) {
        const place = at % (bytes.length + 1)
        if (how === 'set') bytes[Math.min(place, bytes.length - 1)] = to
        else if (how === 'insert') bytes.splice(place, 0, to)
        else if (how === 'remove') bytes.splice(place, 1)
        else bytes = bytes.slice(0, place)
      }
      const text = Uint8Array.from(bytes)
      if (walk(placed(text, offset)) === null) return
      proven++
      expect(isObject(parsed(text))).toBe(true)
    }),
    { numRuns: 4_000 },
  )
  expect(proven).toBeGreaterThan(200)
})

test('the grammar’s corners are left to JSON.parse or judged as it does', () => {
  const values = [
    '01',
    '-',
    '-0',
    '1.',
    '.5',
    '1e',
    '1e+',
    '1E-7',
    '+1',
    'tru',
    'truex',
    'nul',
    'NaN',
    '"\\u12g4"',
    '"\\ud800"',
    '"\\x"',
    '"\t"',
    '"\u007f"',
    '[1,]',
    '[,1]',
    '{"a":1,}',
    '{"a"}',
    '{a:1}',
    '""x',
    '1 2',
    '[1 2]',
    '\u00a01',
    '"unclosed',
    '\\u0031',
  ]
  for (const value of values) {
    const text = Buffer.from(`{"custom_id":${value}}`)
    const isValid = parsed(text) !== undefined
    expect([value, walk(placed(text, 1)) !== null]).toEqual([value, isValid])
  }
  for (const bytes of [[0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf5, 0x80, 0x80, 0x80], [0xe2, 0x82]]) {
    const text = Buffer.concat([Buffer.from('{"custom_id":"'), Uint8Array.from(bytes), Buffer.from('"}')])
    expect(walk(placed(text, 2))).toBeNull()
  }
})

test('an item ends where it ends, whatever follows, and must end before the given offset', () => {
  const text = Buffer.from(' {"custom_id":"a","body":{}} ,{"custom_id":"b"}')
  expect(itemWalk.prove(text, 1, text.length)).toEqual({
    length: 27,
    hasLineBreaks: false,
    custom_id: { start: 13, end: 16 },
    body: { start: 24, end: 26 },
  })
  expect(itemWalk.prove(text, 1, 28)?.length).toBe(27)
  for (let end = 1; end < 28; end++) expect(itemWalk.prove(text, 1, end)).toBeNull()
})

test('line breaks between tokens are noted, those within a text are not', () => {
  expect(walk(Buffer.from('{"body":\n{}}'))?.hasLineBreaks).toBe(true)
  expect(walk(Buffer.from('{"body":{"x":"\\n"}}'))?.hasLineBreaks).toBe(false)
})

test('a name written with escapes and a second body are left to JSON.parse', () => {
  for (const text of [
    '{"b\\u006fdy":{}}',
    '{"body":{"str\\u0065am":true}}',
    '{"body":{"stream":true},"body":{}}',
  ])
    expect(walk(Buffer.from(text))).toBeNull()
})

test('nesting beyond the bound is not walked', () => {
  const nested = (levels: number): Buffer =>
    Buffer.from(`{"body":${'['.repeat(levels)}${']'.repeat(levels)}}`)
  expect(walk(nested(100))).not.toBeNull()
  expect(walk(nested(100_000))).toBeNull()
})
