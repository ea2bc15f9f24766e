import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { createFrameSplitter, readFrameData, toUtf8 } from './sse.ts'

/** The data of every frame, however the bytes are cut. */
function dataOf(bytes: Uint8Array, cuts: readonly number[] = []): string[] {
  const splitter = createFrameSplitter(10_000)
  let text = ''
  let from = 0
  for (const cut of [...cuts.toSorted((a, b) => a - b), bytes.length]) {
    text += splitter.push(bytes.subarray(from, cut)) ?? ''
    from = cut
  }
  const rest = splitter.end()
  if (rest !== null) text += `${rest}\n\n`
  return text.split('\n\n').flatMap((frame) => {
    const data = readFrameData(frame.replace(/^\n+/, ''))
    return data === null ? [] : [toUtf8(data)]
  })
}

const bytesOf = (text: string) => new TextEncoder().encode(text)

describe('an event stream', () => {
  test('may begin with a byte order mark, wherever that is cut', () => {
    const bytes = bytesOf('\ufeffdata: 1\n\ndata: \ufeff2\n\n')
    for (const cuts of [[], [1], [2], [1, 2], [1, 1, 2], [3], [4]]) {
      expect(dataOf(bytes, cuts)).toEqual(['1', '\ufeff2'])
    }
    expect(dataOf(bytesOf('\ufeff').subarray(0, 2))).toEqual([])
  })

  test('is cut into frames whatever ends its lines', () => {
    for (const end of ['\n', '\r\n', '\r']) {
      const text = [
        ': comment',
        '',
        'event: x',
        'data: one',
        'id: 1',
        '',
        'data:two',
        'data: three',
        '',
        '',
      ].join(end)
      expect(dataOf(bytesOf(text))).toEqual(['one', 'two\nthree'])
    }
  })

  test('gives the same frames wherever its reads end, also inside a character and between CR and LF', () => {
    const text = '\ufeff: hi\r\n\r\ndata: {"a":"größe 東京 🦆"}\r\n\r\ndata: b\n\ndata: c\r\rdata: last'
    const bytes = bytesOf(text)
    const whole = dataOf(bytes)
    expect(whole).toEqual(['{"a":"größe 東京 🦆"}', 'b', 'c', 'last'])
    fc.assert(
      fc.property(fc.array(fc.nat(bytes.length), { maxLength: 12 }), (cuts) => {
        expect(dataOf(bytes, cuts)).toEqual(whole)
      }),
    )
    expect(dataOf(bytes, [...bytes.keys()])).toEqual(whole)
  })

  test('is given up when one frame grows beyond the bound, not when many short frames arrive at once', () => {
    const splitter = createFrameSplitter(1_000)
    const piece = bytesOf('data: xxxxxxxxxxxxxxxxxxxxxxxx')
    expect(() => {
      for (let count = 0; count < 100; count += 1) splitter.push(piece)
    }).toThrow(RangeError)
    expect(createFrameSplitter(1_000).push(bytesOf('data: x\n\n'.repeat(1_000)))?.length).toBe(9_000)
  })
})
