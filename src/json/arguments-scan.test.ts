import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { ArgumentsScan } from './arguments-scan.ts'

/** After how many characters the arguments are whole for the first time; null for never. */
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

test('what is no object is never whole, and neither is an object with something behind it', () => {
  for (const text of ['', ' ', '1', '[{}]', '"{}"', 'x{}', '{"a":"}', '{"a":"\\"}']) {
    expect({ text, after: wholeAfter(text) }).toEqual({ text, after: null })
  }
  const scan = new ArgumentsScan()
  scan.push('{}{"a":1}')
  expect(scan.isWhole).toBe(false)
})
