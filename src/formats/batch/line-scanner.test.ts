import { expect, test } from 'bun:test'
import { batchItemBytesMax } from '../../core/limits/batches.ts'
import { linesForm } from './item-form.ts'
import { LineScanner } from './line-scanner.ts'

function scan(text: string | Buffer, chunkBytes: number) {
  const found: { line: number; index: number; text: string; isProven: boolean }[] = []
  const oversized: number[] = []
  const scanner = new LineScanner(
    {
      item: (index, value, walked) =>
        found.push({ line: scanner.line, index, text: value.toString(), isProven: walked !== null }),
      oversizedItem: (_index, head) => {
        expect(head.toString().startsWith('{"custom_id"')).toBe(true)
        oversized.push(scanner.line)
      },
    },
    linesForm,
  )
  const bytes = Buffer.from(text)
  for (let start = 0; start < bytes.length; start += chunkBytes)
    scanner.push(bytes.subarray(start, start + chunkBytes))
  scanner.end()
  return { found, oversized, count: scanner.itemCount }
}

test('lines are found wherever the chunks are cut, and empty ones count', () => {
  const text = '\uFEFF{"custom_id":"a","body":{}}\r\n\n  \n {"custom_id":"ä"} \nno json\n{"custom_id":"last"}'
  for (const chunkBytes of [1, 2, 3, 7, 1_000]) {
    const { found, count } = scan(text, chunkBytes)
    expect(found.map(({ line, index, text: own }) => [line, index, own])).toEqual([
      [1, 0, '{"custom_id":"a","body":{}}'],
      [4, 1, '{"custom_id":"ä"}'],
      [5, 2, 'no json'],
      [6, 3, '{"custom_id":"last"}'],
    ])
    expect(found.map(({ isProven }) => isProven)).toEqual([true, true, false, true])
    expect(count).toBe(4)
  }
})

test('a line with more than one value is not proven', () => {
  expect(scan('{"a":1} {"b":2}', 100).found[0]?.isProven).toBe(false)
})

test('a line that is too large is left out, and the one after it is read', () => {
  const large = Buffer.alloc(batchItemBytesMax + 100, 0x61)
  large.write('{"custom_id":"large","body":{"x":"')
  const { found, oversized } = scan(Buffer.concat([large, Buffer.from('\n{"custom_id":"b"}\n')]), 1 << 16)
  expect(oversized).toEqual([1])
  expect(found.map(({ line, text }) => [line, text])).toEqual([[2, '{"custom_id":"b"}']])
})
