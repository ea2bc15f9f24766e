import { describe, expect, test } from 'bun:test'
import { LineCutter } from './lines.ts'

describe('lines', () => {
  test('are the same wherever the text is cut into pieces', () => {
    const text = 'one\n\ntwo and three\nlast'
    for (let size = 1; size <= text.length; size += 1) {
      const cutter = new LineCutter()
      const lines: string[] = []
      for (let at = 0; at < text.length; at += size) lines.push(...cutter.cut(text.slice(at, at + size)))
      expect([...lines, cutter.end()]).toEqual(['one', '', 'two and three', 'last'])
    }
  })

  test('a text that ends with a line leaves nothing over', () => {
    const cutter = new LineCutter()
    expect([cutter.cut('a\nb\n'), cutter.waitingLength, cutter.end()]).toEqual([['a', 'b'], 0, ''])
  })

  test('the length of a line that goes on is known', () => {
    const cutter = new LineCutter()
    cutter.cut('a\nbc')
    cutter.cut('def')
    expect([cutter.waitingLength, cutter.end()]).toEqual([5, 'bcdef'])
  })
})
