import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { GatewayError } from '../core/errors.ts'
import { editDocument, editList, elementsOf, hasMember, memberValue, parseJsonDocument } from './document.ts'

const bytesOf = (text: string) => new TextEncoder().encode(text)
const textOf = (bytes: Uint8Array) => new TextDecoder().decode(bytes)

function refusal(text: string): GatewayError {
  try {
    parseJsonDocument(bytesOf(text))
  } catch (thrown) {
    if (thrown instanceof GatewayError) return thrown
    throw thrown
  }
  throw new Error(`accepted: ${text}`)
}

describe('parseJsonDocument', () => {
  test('finds every top-level member whatever the spacing', () => {
    const document = parseJsonDocument(
      bytesOf(' { "a" : 1 ,\r\n"b":[{"c":"}]"}],\t"d":"x\\"y\\\\" , "e":null } \n'),
    )
    expect([...document.members.keys()]).toEqual(['a', 'b', 'd', 'e'])
    expect(memberValue(document, 'b')).toEqual([{ c: '}]' }])
    expect(memberValue(document, 'd')).toBe('x"y\\')
    expect(hasMember(document, 'e')).toBe(false)
    expect(memberValue(document, 'missing')).toBeUndefined()
  })

  test('reads a long string with escaped quotes and trailing backslashes', () => {
    const value = `${'long '.repeat(20)}"quoted" \\`.repeat(5)
    const document = parseJsonDocument(bytesOf(JSON.stringify({ value, after: 1 })))
    expect(memberValue(document, 'value')).toBe(value)
    expect(memberValue(document, 'after')).toBe(1)
  })

  test('decodes escapes and letters beyond ASCII in names', () => {
    const document = parseJsonDocument(bytesOf('{"mod\\u0065l":"x","größe":1}'))
    expect([...document.members.keys()]).toEqual(['model', 'größe'])
  })

  test('agrees with JSON.parse on any object', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.constantFrom(0, 1, 2), (value, indent) => {
        const document = parseJsonDocument(bytesOf(JSON.stringify(value, null, indent)))
        const names = [...document.members.keys()]
        expect(new Set(names)).toEqual(new Set(Object.keys(value)))
        for (const name of names) {
          expect(memberValue(document, name)).toEqual(JSON.parse(JSON.stringify(value[name])))
        }
      }),
    )
  })

  test('never accepts a truncated object', () => {
    const text = '{"a":[1,{"b":"c\\"d"}],"e":true,"f":-1.5e3}'
    for (let length = 0; length < text.length; length += 1) {
      expect(refusal(text.slice(0, length)).type).toBe('invalid_request')
    }
  })

  test.each([
    ['', 'empty'],
    ['[]', 'one JSON object'],
    ['{"a":1} x', 'follows'],
    ['{"a":1,}', 'name in quotes'],
    ['{"a" 1}', 'colon'],
    ['{"a":[1}}', 'brackets do not match'],
    ['{"a":01}', 'a value was expected'],
    ['{"a":nul}', 'a value was expected'],
    ['{"a":1 "b":2}', 'comma'],
  ])('refuses %p and says why', (text, reason) => {
    expect(refusal(text).message).toContain(reason)
  })

  test('names a member that appears twice, also under another spelling', () => {
    const error = refusal('{"model":"a","mod\\u0065l":"b"}')
    expect(error.param).toBe('model')
    expect(error.message).toContain('twice')
  })

  test('refuses nesting beyond the bound', () => {
    expect(refusal(`{"a":${'['.repeat(5_000)}${']'.repeat(5_000)}}`).message).toContain('nested')
  })

  test('names the member whose value is broken inside', () => {
    const document = parseJsonDocument(bytesOf('{"tools":[1 2]}'))
    expect(() => memberValue(document, 'tools')).toThrow('"tools" is not valid JSON')
  })
})

describe('editDocument', () => {
  test('leaves untouched members byte for byte', () => {
    const document = parseJsonDocument(bytesOf('{ "a" : 1.0,  "b": "\\u0041", "c":[ 1 ] }'))
    const edited = editDocument(document, { set: { b: '2' }, remove: ['nothing'] })
    expect(textOf(edited)).toBe('{"a" : 1.0,"b": 2,"c":[ 1 ]}')
  })

  test('edits give the same value as parsing, editing and writing again', () => {
    const names = fc.constantFrom('a', 'b', 'c', 'd', 'ü', '__proto__', 'model')
    fc.assert(
      fc.property(
        fc.dictionary(names, fc.jsonValue()),
        fc.dictionary(names, fc.jsonValue()),
        fc.array(names),
        (value, set, remove) => {
          const document = parseJsonDocument(bytesOf(JSON.stringify(value)))
          const texts = Object.fromEntries(Object.entries(set).map(([k, v]) => [k, JSON.stringify(v)]))
          const edited = new Map(
            Object.entries(JSON.parse(textOf(editDocument(document, { set: texts, remove })))),
          )
          const expected = new Map(Object.entries(JSON.parse(JSON.stringify(value))))
          for (const name of remove) expected.delete(name)
          for (const [name, text] of Object.entries(texts)) expected.set(name, JSON.parse(text))
          expect(edited).toEqual(expected)
        },
      ),
    )
  })
})

const edited = (json: string, edit: (element: string, index: number) => string | null) =>
  editList(Buffer.from(json), (element, index) => {
    const text = edit(element.toString('utf8'), index)
    return text === null ? null : Buffer.from(text)
  }).toString('utf8')

test('elements of a list stay as they are, are replaced or left out', () => {
  const list = '[ {"a": 12345678901234567890} ,"]",[1, [2]],null , 1e400]'
  const elements: string[] = []
  const look = (element: string) => {
    elements.push(element)
    return element
  }
  expect(edited(list, look)).toBe('[{"a": 12345678901234567890},"]",[1, [2]],null ,1e400]')
  expect(elements.map((element) => element.trim())).toEqual([
    '{"a": 12345678901234567890}',
    '"]"',
    '[1, [2]]',
    'null',
    '1e400',
  ])
  expect(edited('[1,2,3]', (element, index) => (index === 1 ? '"two"' : element))).toBe('[1,"two",3]')
  expect(edited('[1,2,3]', (element, index) => (index === 0 ? null : element))).toBe('[2,3]')
  expect(edited('[1]', () => null)).toBe('[]')
  expect(edited('[ ]', () => 'x')).toBe('[]')
})

test('elements of a list are views of its bytes, brackets in texts and all', () => {
  const list = Buffer.from('[ "a],b" ,{"c": [1]}]')
  expect(elementsOf(list).map(String)).toEqual(['"a],b"', '{"c": [1]}'])
  expect(elementsOf(Buffer.from('[ ]'))).toEqual([])
})
