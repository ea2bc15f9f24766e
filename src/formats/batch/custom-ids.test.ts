import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { CustomIds } from './custom-ids.ts'

test('tells exactly for every id whether it was added before', () => {
  const id = fc.oneof(
    fc.constantFrom('a', 'b', 'aa', 'ab', 'item-1'),
    fc.string({ unit: 'grapheme', minLength: 1, maxLength: 8 }),
  )
  fc.assert(
    fc.property(fc.array(id, { maxLength: 200 }), (ids) => {
      const known = new CustomIds()
      const model = new Set<string>()
      for (const next of ids.filter((text) => text.isWellFormed())) {
        expect(known.add(next)).toBe(!model.has(next))
        model.add(next)
      }
      expect(known.size).toBe(model.size)
    }),
  )
})

test('stays exact while it grows', () => {
  const known = new CustomIds()
  for (let index = 0; index < 100_000; index++) expect(known.add(`request-${index}`)).toBe(true)
  for (let index = 0; index < 100_000; index += 997) expect(known.add(`request-${index}`)).toBe(false)
  expect(known.size).toBe(100_000)
})

test('ids of the greatest length fit', () => {
  const known = new CustomIds()
  const longest = '𝄞'.repeat(64)
  expect(known.add(longest)).toBe(true)
  expect(known.add(longest)).toBe(false)
  expect(known.add(longest.slice(2))).toBe(true)
})
