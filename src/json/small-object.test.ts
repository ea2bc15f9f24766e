import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { isThorough } from '../../test/support/thorough.ts'
import { joinPieces } from '../core/body.ts'
import { jsonDepthMax } from '../core/limits/text.ts'
import {
  editPieces,
  hasMember,
  type JsonDocument,
  memberBytes,
  memberValue,
  parseJsonDocument,
} from './document.ts'
import { parseSmallObject, smallObjectBytesMax } from './small-object.ts'

const numRuns = isThorough ? 20_000 : 300

/** A JSON text that was put together, and whether an object in it has a name twice. */
interface Written {
  text: string
  isTwice: boolean
}

const space = fc.constantFrom('', '', '', ' ', '\n', '\t ', '\r\n  ')

/** A name as JSON writes it; some pairs are one name in two spellings. */
const name = fc.oneof(
  fc.constantFrom(
    '"a"',
    '"b"',
    '"\\u0061"',
    '""',
    '"é"',
    '"\\u00e9"',
    '"__proto__"',
    '"toString"',
    '"7"',
    '"10"',
  ),
  fc.constantFrom('"model"', '"messages"', '"stream"', '"x:y"', '"q\\"q"', '"{"', '"\\ud800"'),
  fc.string({ maxLength: 8 }).map((text) => JSON.stringify(text)),
)

const scalar = fc.oneof(
  fc.constantFrom(
    'null',
    'true',
    'false',
    '0',
    '-0',
    '1.0',
    '1e400',
    '-1.5E+3',
    '12345678901234567890',
    '""',
  ),
  fc.constantFrom(
    '"\\ud83d"',
    '"\\uDE00x"',
    '"é😀"',
    '"a\\\\"',
    '"\\"}:,{"',
    '"\\/\\b\\f\\n\\r\\t"',
    `"${'long '.repeat(20)}"`,
  ),
  fc.string({ unit: 'binary', maxLength: 40 }).map((text) => JSON.stringify(text)),
  fc.double().map((number) => (Number.isFinite(number) ? String(number) : '2')),
)

const leaf: fc.Arbitrary<Written> = scalar.map((text) => ({ text, isTwice: false }))

const { value } = fc.letrec<{ value: Written }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 5, withCrossShrink: true },
    leaf,
    fc.tuple(fc.array(tie('value'), { maxLength: 4 }), space).map(([values, gap]) => ({
      text: `[${gap}${values.map(({ text }) => text).join(`${gap},`)}${gap}]`,
      isTwice: values.some(({ isTwice }) => isTwice),
    })),
    fc.tuple(fc.array(fc.tuple(name, tie('value')), { maxLength: 4 }), space).map(([pairs, gap]) => ({
      text: `{${gap}${pairs.map(([key, { text }]) => `${key}${gap}:${gap}${text}`).join(`,${gap}`)}${gap}}`,
      isTwice: hasTwice(pairs.map(([key]) => key)) || pairs.some(([, { isTwice }]) => isTwice),
    })),
  ),
}))

const members = fc.array(fc.tuple(name, value, space, space, space, space), { maxLength: 8 })

function hasTwice(names: readonly string[]): boolean {
  return new Set(names.map((each) => JSON.parse(each) as string)).size < names.length
}

/** The text of an object, and where each of its members stands in its bytes. */
function write(pairs: readonly Pair[], gap: string) {
  let text = `${gap}{${gap}`
  const places: { name: string; keyStart: number; valueStart: number; valueEnd: number; value: string }[] = []
  for (const [index, [key, { text: json }, before, behind, ahead, after]] of pairs.entries()) {
    text += before
    const keyStart = Buffer.byteLength(text)
    text += `${key}${behind}:${ahead}`
    const valueStart = Buffer.byteLength(text)
    text += json
    const valueEnd = Buffer.byteLength(text)
    text += `${after}${index < pairs.length - 1 ? ',' : ''}`
    places.push({ name: JSON.parse(key) as string, keyStart, valueStart, valueEnd, value: json })
  }
  return { text: `${text}}${gap}`, places }
}

type Pair = readonly [string, Written, string, string, string, string]

/** What reading a text gives: its members, or the message of its refusal. */
function reading(text: string): unknown {
  let document: JsonDocument
  try {
    document = parseJsonDocument(Buffer.from(text))
  } catch (thrown) {
    return (thrown as Error).message
  }
  return [...document.members.keys()].map((each) => [
    each,
    valueOf(document, each),
    hasMember(document, each),
  ])
}

function valueOf(document: JsonDocument, each: string): unknown {
  try {
    return JSON.stringify(memberValue(document, each))
  } catch (thrown) {
    return (thrown as Error).message
  }
}

/** The same text with white space that makes it too large to be parsed at once. */
const enlarged = (text: string) => `${text}${' '.repeat(smallObjectBytesMax)}`

describe('a small object', () => {
  test('has its members where they were written, or is refused for a name that stands twice', () => {
    fc.assert(
      fc.property(members, space, (pairs, gap) => {
        const { text, places } = write(pairs, gap)
        const isTwice = hasTwice(pairs.map(([key]) => key)) || pairs.some(([, each]) => each.isTwice)
        if (isTwice) {
          expect(reading(text)).toContain('twice')
          return
        }
        const document = parseJsonDocument(Buffer.from(text))
        expect([...document.members]).toEqual(
          places.map(({ name: each, keyStart, valueStart, valueEnd }) => [
            each,
            { keyStart, valueStart, valueEnd },
          ]),
        )
        for (const place of places) {
          expect(memberBytes(document, place.name)?.toString()).toBe(place.value)
          expect(memberValue(document, place.name)).toEqual(JSON.parse(place.value))
          expect(hasMember(document, place.name)).toBe(place.value !== 'null')
        }
        const edited = Buffer.from(joinPieces(editPieces(document, { set: { 'set ': '1.0' } }))).toString()
        for (const { keyStart, valueEnd } of places)
          expect(edited).toContain(Buffer.from(text).toString('utf8', keyStart, valueEnd))
      }),
      { numRuns },
    )
  })

  test('is read like a large one, whatever is broken in it', () => {
    fc.assert(
      fc.property(
        members,
        space,
        fc.nat(),
        fc.constantFrom('', ',', ':', '"', '{', ']', '}', '\\', '0', 'x', '\u0001'),
        (pairs, gap, at, put) => {
          const { text } = write(pairs, gap)
          const cut = at % (text.length + 1)
          const broken = `${text.slice(0, cut)}${put}${text.slice(cut + 1)}`
          const [small, large] = [reading(broken), reading(enlarged(broken))]
          // The end of a text that is cut off is elsewhere in the larger one.
          if (typeof small === 'string' && typeof large === 'string') return
          expect(small).toEqual(large)
        },
      ),
      { numRuns },
    )
  })

  test.each([
    ['as deep as may be', `{"a":${'['.repeat(jsonDepthMax)}${']'.repeat(jsonDepthMax)}}`],
    ['deeper than may be', `{"a":${'['.repeat(jsonDepthMax + 1)}${']'.repeat(jsonDepthMax + 1)}}`],
    ['a number of 400 digits', `{"a":${'1'.repeat(400)}}`],
    ['a number of 401 digits', `{"a":${'1'.repeat(401)} ,"b":1}`],
    ['as many members as may be', `{${Array.from({ length: 500 }, (_, at) => `"m${at}":1`).join()}}`],
    ['more members than may be', `{${Array.from({ length: 501 }, (_, at) => `"m${at}":1`).join()}}`],
    ['a byte order mark', '\ufeff{"a":1}'],
    ['a list', '[{"a":1}]'],
    ['a list that begins like an object', '{"a":1}]'],
  ])('is read like a large one: %s', (_name, text) => {
    expect(reading(text)).toEqual(reading(enlarged(text)))
  })

  test('that an ordinary client sends is parsed at once', () => {
    const body = { model: 'a/b', messages: [{ role: 'user', content: 'Say: "hi"' }], max_tokens: 5 }
    for (const indent of [0, 2]) {
      const bytes = Buffer.from(JSON.stringify(body, null, indent))
      expect(parseSmallObject(bytes)?.values).toEqual(body)
      expect(parseSmallObject(Buffer.from(enlarged(bytes.toString())))).toBeNull()
    }
  })
})
