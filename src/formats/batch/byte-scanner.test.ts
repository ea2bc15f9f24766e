import { ingestSliceBytes } from '../../batches/ingest/upload-body.ts'
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { GatewayError } from '../../core/errors.ts'
import { batchItemBytesMax, batchItemValuesBytesMax } from '../../core/limits/batches.ts'
import { jsonDepthMax } from '../../core/limits/text.ts'
import { ByteScanner } from './byte-scanner.ts'

interface Seen {
  members: [name: string, value: unknown][]
  items: unknown[]
  oversized: number[]
}

/** Scans chunks and parses the values found. */
function scan(chunks: Iterable<Uint8Array>): Seen {
  const seen: Seen = { members: [], items: [], oversized: [] }
  const scanner = new ByteScanner({
    member: (name, value) => seen.members.push([name, value === null ? null : JSON.parse(value.toString())]),
    requestsBegin: () => scanner.pause(),
    item: (_index, value) => seen.items.push(JSON.parse(value.toString())),
    oversizedItem: (index) => seen.oversized.push(index),
  })
  for (const chunk of chunks) {
    scanner.push(chunk)
    if (scanner.isPaused) scanner.resume()
  }
  scanner.end()
  return seen
}

function scanText(text: string): Seen {
  return scan([Buffer.from(text)])
}

function refusal(text: string): string {
  try {
    scanText(text)
  } catch (thrown) {
    if (thrown instanceof GatewayError) return thrown.message
    throw thrown
  }
  throw new Error(`accepted: ${text}`)
}

/** Cuts bytes at the given places; a place may repeat. */
function cutAt(bytes: Uint8Array, places: readonly number[]): Uint8Array[] {
  const sorted = [0, ...places.map((place) => place % (bytes.length + 1)), bytes.length].toSorted(
    (a, b) => a - b,
  )
  return sorted.slice(1).map((end, index) => bytes.subarray(sorted[index], end))
}

const nasty = fc.string({
  unit: fc.constantFrom('"', '\\', '{', '}', '[', ']', ',', ':', '\n', 'a', 'é', '𝄞', ' ', '\u0000'),
})
const value = fc.letrec<{ any: unknown; object: unknown }>((tie) => ({
  any: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    nasty,
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('any'), { maxLength: 4 }),
    tie('object'),
  ),
  object: fc.dictionary(nasty, tie('any'), { maxKeys: 4, noNullPrototype: true }),
}))
const document = fc.record({
  head: fc.uniqueArray(
    fc.tuple(
      nasty.filter((name) => name !== 'requests'),
      value.any,
    ),
    { selector: ([name]) => name, maxLength: 4 },
  ),
  items: fc.array(fc.oneof(value.object, fc.record({ custom_id: nasty, body: value.object }), value.any), {
    maxLength: 6,
  }),
  at: fc.nat(),
  indent: fc.constantFrom(undefined, 1, '\t', '\r\n'),
  places: fc.array(fc.nat(), { maxLength: 12 }),
  mark: fc.boolean(),
})

test('any document, cut anywhere, is found as JSON.parse finds it', () => {
  fc.assert(
    fc.property(document, ({ head, items, at, indent, places, mark }) => {
      const entries: [string, unknown][] = [...head]
      entries.splice(at % (head.length + 1), 0, ['requests', items])
      const members = entries.map(
        ([name, member]) => `${JSON.stringify(name)} :${JSON.stringify(member, null, indent)}`,
      )
      const text = `${mark ? '\uFEFF' : ''} {${members.join(',\n')}}\n`
      const seen = scan(cutAt(Buffer.from(text), places))
      const normal = (input: unknown): unknown => JSON.parse(JSON.stringify(input))
      expect(seen.items).toEqual(normal(items) as unknown[])
      expect(seen.members).toEqual(normal(head) as Seen['members'])
    }),
    { numRuns: 500 },
  )
})

test('every single byte may be a chunk of its own', () => {
  const text =
    '{"a":"\\\\\\"","requests":[{"custom_id":"\\"]}","body":{"x":[1,{"y":"}"}]}},-1.5e3,true,"s"],"z":null}'
  const seen = scan([...Buffer.from(text)].map((byte) => Uint8Array.of(byte)))
  expect(seen.members).toEqual([
    ['a', '\\"'],
    ['z', null],
  ])
  expect(seen.items).toEqual([{ custom_id: '"]}', body: { x: [1, { y: '}' }] } }, -1500, true, 's'])
})

test('a document that is not a JSON object is refused', () => {
  expect(refusal('')).toContain('it is empty')
  expect(refusal('  \n')).toContain('it is empty')
  for (const text of ['[]', '"x"', '1', 'x', 'null'])
    expect(refusal(text)).toBe('The body must be a JSON object.')
})

test('a document that is cut off is refused wherever it is cut', () => {
  const text = '{"endpoint":"/v1","requests":[{"custom_id":"a","body":{}}],"n":12}'
  for (let length = 1; length < text.length; length++) {
    expect(refusal(text.slice(0, length))).toContain('ends before')
  }
})

test('a misplaced value is named with its place', () => {
  expect(refusal('{"a" 1}')).toContain('":" after a member name (line 1, column 6)')
  expect(refusal('{"a":1 "b":2}')).toContain('"," or "}" (line 1, column 8)')
  expect(refusal('{"a":1,}')).toContain('a member name in quotes (line 1, column 8)')
  expect(refusal('{a:1}')).toContain('a member name in quotes (line 1, column 2)')
  expect(refusal('{"requests":[1,]}')).toContain('a value (line 1, column 16)')
  expect(refusal('{"requests":[1 2]}')).toContain('after requests[0] (line 1, column 16)')
  expect(refusal('{"requests":[]} x')).toContain('nothing after the JSON object (line 1, column 17)')
  expect(refusal('{"requests":{}}')).toBe('requests must be an array of items.')
})

test('a member that appears twice is refused, however its name is written', () => {
  expect(refusal('{"a":1,"a":2}')).toContain('"a" appears twice')
  expect(refusal('{"requests":[],"re\\u0071uests":[]}')).toContain('"requests" appears twice')
})

test('an escaped name means the same member', () => {
  expect(scanText('{"re\\u0071uests":[1]}').items).toEqual([1])
})

test('nesting is bounded', () => {
  const nested = (depth: number): string => `{"requests":[${'['.repeat(depth)}${']'.repeat(depth)}]}`
  expect(scanText(nested(jsonDepthMax)).items).toHaveLength(1)
  expect(refusal(nested(jsonDepthMax + 1))).toBe(
    `requests[0] is nested more than ${jsonDepthMax} levels deep.`,
  )
})

test('a member too large to matter is passed over, one named too long is refused', () => {
  const large = 'x'.repeat(100_000)
  expect(scanText(`{"other":"${large}","requests":[1]}`)).toMatchObject({
    members: [['other', null]],
    items: [1],
  })
  expect(refusal(`{"${large}":1}`)).toContain('member name is longer')
})

test('an item larger than the bound is reported once and its end still found', () => {
  const chunk = Buffer.alloc(1_000_000, 0x78)
  function* chunks(): Generator<Uint8Array> {
    yield Buffer.from('{"requests":[{"custom_id":"a","body":{"t":"')
    for (let sent = 0; sent <= batchItemBytesMax; sent += chunk.length) yield chunk
    yield Buffer.from('"}},{"custom_id":"b","body":{}}]}')
  }
  const seen = scan(chunks())
  expect(seen.oversized).toEqual([0])
  expect(seen.items).toEqual([{ custom_id: 'b', body: {} }])
})

test('an item of millions of small values counts as too large, an item of long texts does not', () => {
  const itemOf = (list: string) => `{"custom_id":"a","body":{"x":[${list}]}}`
  const texts = `"${'x'.repeat(batchItemValuesBytesMax)}","${'y"'.repeat(200).replaceAll('"', '\\"')}"`
  const values = '{},'.repeat(batchItemValuesBytesMax / 3)
  const bytes = Buffer.from(`{"requests":[${itemOf(texts)},${itemOf(`${values}0`)},${itemOf('')}]}`)
  function* chunks(): Generator<Uint8Array> {
    for (let at = 0; at < bytes.length; at += ingestSliceBytes)
      yield bytes.subarray(at, at + ingestSliceBytes)
  }
  const seen = scan(chunks())
  expect(seen.oversized).toEqual([1])
  expect(seen.items).toHaveLength(2)
})

test('a syntax error is reported by line and column, wherever the chunks were cut and however much came before', () => {
  const items = Array.from(
    { length: 20_000 },
    (_unused, index) => `  {"custom_id": "ü${index}", "body": {}},\n`,
  )
  const text = `{"model": "m",\n "requests": [\n${items.join('')}  {"custom_id": "x"} {`
  for (const size of [7, 4_096, 1 << 20]) {
    const bytes = Buffer.from(text)
    const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_unused, index) =>
      bytes.subarray(index * size, (index + 1) * size),
    )
    let message = ''
    try {
      scan(chunks)
    } catch (thrown) {
      message = thrown instanceof GatewayError ? thrown.message : String(thrown)
    }
    expect(message).toContain('after requests[20000] (line 20003, column 22)')
  }
  expect(refusal('{"a": 1\n,}')).toContain('a member name in quotes (line 2, column 2)')
  expect(refusal('{"a": 1,\n"b"')).toContain('(line 2, column 4)')
  // The line is longer than the window, so the column counts bytes.
  expect(refusal(`{"a": "${'x'.repeat(600_000)}", 7`)).toContain('(line 1, column 600011)')
})
