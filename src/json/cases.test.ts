import { describe, expect, test } from 'bun:test'
import { joinPieces } from '../core/body.ts'
import { jsonDepthMax } from '../core/limits/text.ts'
import { toBuffer } from './bytes.ts'
import { editDocument, editList, memberValue, parseJsonDocument } from './document.ts'
import { describePlace, findSyntaxFault, placeOf } from './faults.ts'
import { JsonTextScanner, ObjectProof } from './proof.ts'
import { parseJsonBody } from './json-body.ts'
import { closingQuote, findMember, isNestedWithin, requireUniqueNames, skipValue } from './scan.ts'
import { leaveOutTexts, putTextsBack, restore, setTextsAside } from './set-aside-texts.ts'
import { SplitStream } from './split-stream.ts'
import { parseExactly } from './values.ts'

/** A text and its faults, written by hand. */
interface Case {
  text: string | Uint8Array
  /** Offset of the first fault in bytes; absent where the text is JSON. */
  fault?: number
  /** An object has the same name twice. */
  isTwice?: true
  isTooDeep?: true
}

const nested = (depth: number) => `{"a":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}`

const cases: Readonly<Record<string, Case>> = {
  'an empty object': { text: '{}' },
  'an empty object with space in it': { text: ' {\t\r\n } ' },
  'plain members': { text: '{"a":1,"b":"two","c":[true,false,null],"d":{"e":{}}}' },
  'space wherever it may stand': { text: ' { "a" :\t[ 1 , "x" ] ,\r\n"b" : { "c" : null } } \n' },
  'brackets, quotes and commas in texts': { text: '{"a":"{[\\",]}","b":["\\\\","]"]}' },
  'every escape': { text: '{"a":"\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\uD83D\\uDE00"}' },
  'half a surrogate pair': { text: '{"a":"\\ud83d","b":"\\ude00x"}' },
  'letters of many bytes': { text: '{"ключ":"日本 😀","b":1}' },
  'names with escapes': { text: '{"\\u0061":1,"b\\n":{"\\"":2}}' },
  'an empty name': { text: '{"":{"":""}}' },
  'the name of the prototype': { text: '{"__proto__x":1,"toString":2}' },
  'big and small numbers': {
    text: '{"a":12345678901234567890,"b":-0,"c":1e400,"d":0.1e-7,"e":[-1.5E+3,123456789012345678901]}',
  },
  'as deep as may be': { text: nested(jsonDepthMax) },
  'deeper than may be': { text: nested(jsonDepthMax + 5), isTooDeep: true },
  'a name twice': { text: '{"a":1,"b":2,"a":3}', isTwice: true },
  'a name twice, once with an escape': { text: '{"a":1,"\\u0061":3}', isTwice: true },
  'a name twice far inside': { text: '{"a":[1,{"b":{"c":1,"d":2,"c":3}}]}', isTwice: true },
  'one name in two objects': { text: '{"a":{"b":1},"c":{"b":1},"b":[{"b":1},{"b":2}]}' },
  'a long text': { text: `{"content":"${'words \\n and é '.repeat(600)}","b":1}` },
  'two long texts': { text: JSON.stringify({ text: 'x'.repeat(9_000), data: '"'.repeat(9_000) }) },

  'no closing brace': { text: '{"a":1', fault: 6 },
  'no closing quote': { text: '{"a":"b}', fault: 5 },
  'no value': { text: '{"a":}', fault: 5 },
  'no colon': { text: '{"a" 1}', fault: 5 },
  'no comma': { text: '{"a":1 "b":2}', fault: 7 },
  'a comma too many': { text: '{"a":1,}', fault: 7 },
  'a name without quotes': { text: '{a:1}', fault: 1 },
  'a number that begins with zero': { text: '{"a":01}', fault: 5 },
  'a number that ends with its point': { text: '{"a":1.}', fault: 5 },
  'a word that is none': { text: '{"a":tru}', fault: 5 },
  'a word with a capital letter': { text: '{"a":\n True}', fault: 7 },
  'a number with a quote behind it': { text: '{"a":1"b":2}', fault: 6 },
  'a number with a bracket behind it': { text: '{"a":1]}', fault: 6 },
  'brackets that do not match': { text: '{"a":[1}', fault: 7 },
  'something behind the object': { text: '{"a":1} x', fault: 8 },
  'a second object': { text: '{}{}', fault: 2 },
  'a line break in a text': { text: '{"a":"b\nc"}', fault: 7 },
  'a control character in a text': { text: '{"a":"b\u0001"}', fault: 7 },
  'an escape that JSON does not have': { text: '{"a":"b\\x"}', fault: 7 },
  'an escape with too few digits': { text: '{"é":"b\\u12g4"}', fault: 8 },
  'single quotes': { text: "{'a':1}", fault: 1 },
  'a comment': { text: '{"a":1}// one', fault: 7 },
  'a value that is not a number': { text: '{"a":NaN}', fault: 5 },
  'a space that JSON does not have': { text: '{"a":\u00a01}', fault: 5 },
}

const rows = Object.entries(cases).map(([name, row]) => ({
  name,
  ...row,
  bytes: typeof row.text === 'string' ? Buffer.from(row.text) : toBuffer(row.text),
}))
const valid = rows.filter(({ fault }) => fault === undefined)
const broken = rows.filter(({ fault }) => fault !== undefined)
const usable = valid.filter(({ isTwice, isTooDeep }) => !isTwice && !isTooDeep)

const parsed = (bytes: Uint8Array) =>
  JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) as Record<string, unknown>

/** What a call throws, as text; null when it throws nothing. */
function thrownBy(call: () => unknown): string | null {
  try {
    call()
    return null
  } catch (thrown) {
    return (thrown as Error).message
  }
}

test('the table is right about the runtime’s parser', () => {
  for (const { name, bytes, fault } of rows)
    expect([name, thrownBy(() => parsed(bytes)) === null]).toEqual([name, fault === undefined])
})

test.each(rows)('the place of the first fault: $name', ({ bytes, fault }) => {
  expect(findSyntaxFault(bytes)?.offset).toBe(fault)
  // After a byte order mark every offset is three bytes larger.
  const marked = Buffer.concat([Buffer.from('efbbbf', 'hex'), bytes])
  expect(findSyntaxFault(marked)?.offset).toBe(fault === undefined ? undefined : fault + 3)
})

describe('a body', () => {
  test.each(usable)('is its value: $name', ({ bytes }) => {
    expect(parseJsonBody(bytes)).toEqual(parsed(bytes))
    expect(parseJsonBody(Buffer.concat([Buffer.from('efbbbf', 'hex'), bytes]))).toEqual(parsed(bytes))
  })

  test.each(broken)('is refused with the place of its fault: $name', ({ bytes, fault = 0 }) => {
    expect(thrownBy(() => parseJsonBody(bytes))).toContain(describePlace(placeOf(bytes, fault)))
  })

  test.each(valid.filter(({ isTwice }) => isTwice))('is refused: $name', ({ bytes }) => {
    expect(thrownBy(() => parseJsonBody(bytes))).toContain('appears twice')
    expect(thrownBy(() => requireUniqueNames(bytes))).toContain('appears twice')
    expect(thrownBy(() => parseJsonDocument(bytes))).toContain('appears twice')
  })

  test.each(valid.filter(({ isTooDeep }) => isTooDeep))('is refused: $name', ({ bytes }) => {
    for (const read of [parseJsonBody, parseJsonDocument])
      expect(thrownBy(() => read(bytes))).toContain('nested deeper')
  })
})

describe('a document', () => {
  test.each(usable)('has the members of its value: $name', ({ bytes }) => {
    const value = parsed(bytes)
    const document = parseJsonDocument(bytes)
    expect([...document.members.keys()]).toEqual(Object.keys(value))
    for (const [name, member] of Object.entries(value)) expect(memberValue(document, name)).toEqual(member)
    expect(parsed(editDocument(document, {}))).toEqual(value)
    const added = parsed(editDocument(document, { set: { added: '[1]' } }))
    expect(added).toEqual({ ...value, added: [1] })
    expect(editDocument(document, { remove: Object.keys(value) }).toString()).toBe('{}')
  })

  test.each(usable)('keeps members that an edit does not name: $name', ({ bytes }) => {
    const edited = editDocument(parseJsonDocument(bytes), { set: { added: '1' } }).toString()
    for (const { keyStart, valueEnd } of parseJsonDocument(bytes).members.values())
      expect(edited).toContain(bytes.toString('utf8', keyStart, valueEnd))
  })

  test.each(broken)(
    'is refused with the place of its fault, at the latest member by member: $name',
    (row) => {
      const message = thrownBy(() => {
        const document = parseJsonDocument(row.bytes)
        for (const name of document.members.keys()) memberValue(document, name)
      })
      expect(message).toContain(describePlace(placeOf(row.bytes, row.fault ?? 0)))
    },
  )
})

describe('a scan', () => {
  test.each(usable)('ends where the value ends: $name', ({ bytes }) => {
    const trimmed = Buffer.from(bytes.toString().trim())
    expect(skipValue(Buffer.concat([trimmed, Buffer.from(' ]}')]), 0)).toBe(trimmed.length)
    for (const [name, member] of Object.entries(parsed(bytes)).filter(([each]) => /^\w+$/.test(each))) {
      const { value, count } = findMember(bytes, name)
      expect([count, JSON.parse(String(value))]).toEqual([1, member])
    }
  })

  test.each(valid)('counts levels as the value has them: $name', ({ bytes }) => {
    const depth = depthOf(parsed(bytes))
    const padded = bytes.toString() + ' '.repeat(3 * jsonDepthMax)
    expect([isNestedWithin(padded, depth), isNestedWithin(padded, depth - 1)]).toEqual([true, false])
  })

  test.each(valid)('finds the end of every text: $name', ({ bytes }) => {
    const json = bytes.toString()
    const scanner = new JsonTextScanner(bytes)
    for (let start = json.indexOf('"'); start !== -1;) {
      const end = closingQuote(json, start + 1)
      expect(() => JSON.parse(json.slice(start, end + 1)) as unknown).not.toThrow()
      const inBytes = Buffer.byteLength(json.slice(0, start))
      expect(scanner.scan(inBytes)?.end).toBe(Buffer.byteLength(json.slice(0, end)))
      start = json.indexOf('"', end + 1)
    }
  })
})

function depthOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0
  return 1 + Math.max(0, ...Object.values(value).map(depthOf))
}

describe('a proof', () => {
  const proof = new ObjectProof({ members: ['a', 'b'], inner: 'a', innerMembers: ['e'] })
  const prove = (bytes: Buffer) => proof.prove(bytes, 0, bytes.length)

  test.each(broken)('is never given for broken JSON: $name', ({ bytes }) => {
    const proven = prove(bytes)
    // An object may be complete and the fault may follow it.
    if (proven !== null) expect(() => parsed(bytes.subarray(0, proven.length))).not.toThrow()
    expect(proven?.length).not.toBe(bytes.length)
  })

  test.each(usable)('finds the members of the outline: $name', ({ bytes }) => {
    const proven = prove(bytes)
    if (proven === null) return
    const value = parsed(bytes)
    for (const name of ['a', 'b'] as const) {
      const place = proven[name]
      expect(place && parsed(bytes.subarray(place.start, place.end))).toEqual(value[name] as never)
    }
  })
})

describe('texts that are set aside', () => {
  test.each(rows)('come back byte for byte, even in text that is not JSON: $name', ({ bytes }) => {
    const steps = leaveOutTexts(bytes)
    let step = steps.next()
    while (!step.done) step = steps.next()
    const lean = step.value
    expect(joinPieces(restore(toBuffer(lean.bytes).toString(), bytes, lean))).toEqual(new Uint8Array(bytes))
    const aside = setTextsAside(bytes)
    if (aside !== null) expect(joinPieces(putTextsBack(aside.skeleton, aside))).toEqual(new Uint8Array(bytes))
  })
})

test.each(usable)('a number stays as it was written: $name', ({ bytes }) => {
  const numbers = (json: string) => json.match(/(?<=[[:,])-?\d[\d.eE+-]*/g) ?? []
  const compact = JSON.stringify(parseExactly(bytes.toString()))
  for (const number of numbers(bytes.toString())) if (number.length > 16) expect(compact).toContain(number)
})

test.each(usable)('a list has the elements of its value: $name', ({ bytes }) => {
  const list = Buffer.from(`[ ${bytes.toString()} ,1, ${bytes.toString()}]`)
  const seen: unknown[] = []
  const same = editList(list, (element) => {
    seen.push(JSON.parse(element.toString()))
    return element
  })
  expect(seen).toEqual(JSON.parse(list.toString()))
  expect(JSON.parse(same.toString())).toEqual(seen)
})

describe('a stream that is split, cut at every byte', () => {
  const split = (bytes: Buffer, cut: number) => {
    const stream = new SplitStream({
      at: ['top', '*', 'data'],
      begin: () => ({ push: (text) => Buffer.from(text, 'utf16le'), end: () => Buffer.from('|', 'utf16le') }),
      keptBytesMax: 1_000_000,
      depthMax: 2 * jsonDepthMax,
      errors: {
        tooManyBytes: () => new Error('too many'),
        tooDeep: () => new Error('too deep'),
        brokenName: (fault) => new Error(fault),
        brokenEscape: (escape) => new Error(`escape ${escape}`),
      },
    })
    const taken: Uint8Array[] = []
    stream.push(bytes.subarray(0, cut), taken)
    stream.push(bytes.subarray(cut), taken)
    return { stream, taken: Buffer.concat(taken).toString('utf16le') }
  }

  const cuts = (length: number) =>
    length < 500 ? Array.from({ length }, (_, at) => at) : [0, 1, length >> 1, length - 1]

  test.each(valid)('has the rest as it came: $name', ({ bytes }) => {
    for (const cut of cuts(bytes.length)) {
      const { stream, taken } = split(bytes, cut)
      expect([toBuffer(stream.rest).equals(bytes), taken]).toEqual([true, ''])
    }
  })

  const texts = ['', 'abcd', 'a/b\n', '"quoted\\', 'é', '😀\u0001']
  test.each(texts)('gives the texts at the place, and "" stands for them: %j', (text) => {
    const value = { data: text, top: [{ data: text, x: [text] }, 1, { y: { data: text }, data: text }], z: 2 }
    const rest = {
      data: text,
      top: [{ data: '', x: [text] }, 1, { y: { data: text }, data: '' }],
      z: 2,
    }
    // In such a text a byte is a character, because the decoded text is ASCII.
    const ascii = (json: string) =>
      json.replaceAll(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    for (const indent of [0, 2]) {
      const bytes = Buffer.from(ascii(JSON.stringify(value, null, indent)))
      for (let cut = 0; cut <= bytes.length; cut += 1) {
        const { stream, taken } = split(bytes, cut)
        expect([parsed(stream.rest), taken, stream.isInTaken]).toEqual([
          rest as never,
          `${text}|${text}|`,
          false,
        ])
      }
    }
  })

  test('tells a fault by its place in the whole', () => {
    const bytes = Buffer.from('{"top":[{"data":"abc"},\n{"data":"de","x":tru}]}')
    for (let cut = 0; cut < bytes.length; cut += 1) {
      const { stream } = split(bytes, cut)
      expect(stream.describeFault()).toContain(describePlace(placeOf(bytes, bytes.indexOf('tru'))))
    }
  })

  test('refuses an escape that JSON does not have, and an invalid name', () => {
    for (let cut = 0; cut < 20; cut += 1) {
      expect(() => split(Buffer.from('{"top":[{"data":"a\\x"}]}'), cut)).toThrow('escape \\x')
      expect(() => split(Buffer.from('{"a\\x":"a"}'), cut)).toThrow('an escape that JSON does not have')
    }
  })
})
