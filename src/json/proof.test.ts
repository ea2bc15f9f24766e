import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { JsonTextScanner } from './proof.ts'

/** The string at the beginning of `json`, read at every alignment; `null` when it is refused. */
function scanAt(json: string | Buffer, shift: number) {
  const text = Buffer.from(json)
  const memory = Buffer.alloc(text.length + shift + 3, 0x22)
  memory.set(text, shift)
  return new JsonTextScanner(memory.subarray(shift, shift + text.length)).scan(0)
}

function isValid(json: string): boolean {
  try {
    return typeof JSON.parse(json) === 'string'
  } catch {
    return false
  }
}

const shifts = [0, 1, 2, 3, 4, 5, 6, 7]

describe('a string of JSON', () => {
  test('has the end and the length that the runtime finds, whatever it contains and wherever it lies', () => {
    const unit = fc.constantFrom(
      'a',
      ' ',
      '!',
      '#',
      '"',
      '\\',
      '\n',
      '\u0001',
      '\u007f',
      'é',
      '…',
      '😀',
      '\ud800',
      '\udc00',
    )
    fc.assert(
      fc.property(
        fc.array(unit, { maxLength: 60 }),
        fc.boolean(),
        fc.constantFrom(...shifts),
        (units, escapeAll, shift) => {
          const value = units.join('')
          const json = escapeAll
            ? `"${[...Array(value.length).keys()].map((at) => `\\u${value.charCodeAt(at).toString(16).padStart(4, '0')}`).join('')}"`
            : JSON.stringify(value)
          expect(scanAt(`${json},"x"`, shift)).toEqual({
            end: Buffer.byteLength(json) - 1,
            textBytes: Buffer.byteLength(value),
          })
        },
      ),
    )
  })

  test('is refused exactly where the runtime refuses it', () => {
    const unit = fc.constantFrom(
      'a',
      '/',
      '\\',
      '\\\\',
      '\\"',
      '\\u',
      '00e9',
      'D83D',
      '\\/',
      '\\x',
      '\t',
      '\u001f',
      '\u0000',
      ' ',
      '\u007f',
      'bfnrt',
    )
    fc.assert(
      fc.property(fc.array(unit, { maxLength: 30 }), fc.constantFrom(...shifts), (units, shift) => {
        const json = `"${units.join('')}"`
        const found = scanAt(json, shift)
        const isWhole = found !== null && found.end === Buffer.byteLength(json) - 1
        expect(isWhole).toBe(isValid(json))
      }),
      { numRuns: 2_000 },
    )
  })

  test('with any one byte below a space is refused, and with any other taken', () => {
    for (let byte = 0; byte < 0x80; byte += 1) {
      if (byte === 0x22 || byte === 0x5c) continue
      for (let at = 1; at < 24; at += 1) {
        const text = Buffer.from(`"${'x'.repeat(24)}"`)
        text[at] = byte
        expect(scanAt(text, 1) !== null).toBe(byte >= 0x20)
      }
    }
  })

  test('that is not closed is refused', () => {
    for (const shift of shifts) {
      for (const json of ['"', '"abc', '"abc\\', '"abc\\"', '"\\u00e', `"${'long '.repeat(9)}`])
        expect(scanAt(json, shift)).toBeNull()
    }
  })
})
