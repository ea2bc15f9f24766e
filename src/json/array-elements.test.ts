import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { ArrayElements } from './array-elements.ts'

function read(
  text: string,
  { at, pieceBytes, bytesMax }: { at: string[]; pieceBytes: number; bytesMax: number },
) {
  const elements = new ArrayElements({ at, elementBytesMax: bytesMax, restBytesMax: 1_000_000 })
  const bytes = Buffer.from(text)
  const found: unknown[] = []
  for (let start = 0; start < bytes.length; start += pieceBytes)
    for (const element of elements.push(bytes.subarray(start, start + pieceBytes)))
      found.push(typeof element === 'string' ? element : JSON.parse(Buffer.from(element).toString('utf8')))
  const rest = elements.rest()
  return {
    found,
    rest: rest === null ? null : (JSON.parse(Buffer.from(rest).toString('utf8')) as unknown),
    isComplete: elements.isComplete,
  }
}

test('the elements of an array come out one by one, wherever the bytes are cut, and the rest is the document without them', () => {
  fc.assert(
    fc.property(
      fc.array(fc.jsonValue(), { maxLength: 6 }),
      fc.record({ before: fc.jsonValue(), after: fc.jsonValue() }),
      fc.integer({ min: 1, max: 40 }),
      fc.constantFrom(0, 2),
      (results, { before, after }, pieceBytes, indent) => {
        const document = { before: { x: before }, response: { results }, after: [after], token: 'next' }
        const text = JSON.stringify(document, null, indent)
        const { found, rest, isComplete } = read(text, {
          at: ['response', 'results'],
          pieceBytes,
          bytesMax: 1_000_000,
        })
        expect(found).toEqual(JSON.parse(JSON.stringify(results)) as unknown[])
        const without = { ...document, response: { results: [] } }
        expect(JSON.stringify(rest)).toBe(JSON.stringify(emptied(without)))
        expect(isComplete).toBe(true)
      },
    ),
    { numRuns: 300, endOnFailure: true },
  )
})

/** As the reader leaves out every array of that name. */
function emptied(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(emptied)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      name,
      name === 'results' && Array.isArray(inner) ? [] : emptied(inner),
    ]),
  )
}

test('an array elsewhere under the same name gives no element, and a large element is told and not kept', () => {
  const large = { text: 'x'.repeat(2_000) }
  const text = JSON.stringify({ other: { results: [1, 2] }, results: [{ a: 1 }, large, 'end'] })
  for (const pieceBytes of [1, 7, 5_000])
    expect(read(text, { at: ['results'], pieceBytes, bytesMax: 1_000 })).toEqual({
      found: [{ a: 1 }, 'too large', 'end'],
      rest: { other: { results: [] }, results: [] },
      isComplete: true,
    })
})

test('a document that breaks off is not complete', () => {
  const elements = new ArrayElements({ at: ['results'], elementBytesMax: 1_000, restBytesMax: 1_000 })
  const found = elements.push(Buffer.from('{"results":[{"a":1},{"b":'))
  expect(found.map(String)).toEqual(['{"a":1}'])
  expect(elements.isComplete).toBe(false)
})
