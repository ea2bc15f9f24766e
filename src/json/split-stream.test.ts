import { expect, test } from 'bun:test'
import { KeptBytes } from './split-stream.ts'

test('bytes are kept up to the bound, and the next one is refused', () => {
  const kept = new KeptBytes(3_000, () => new Error('too many'))
  for (let index = 0; index < 3_000; index += 1) kept.add(index % 251)
  expect([kept.length, kept.view(2_999)]).toEqual([3_000, new Uint8Array([2_999 % 251])])
  expect(kept.view()).toEqual(Uint8Array.from({ length: 3_000 }, (_, index) => index % 251))
  expect(() => kept.add(1)).toThrow('too many')
  kept.clear()
  kept.add(7)
  expect(kept.view()).toEqual(new Uint8Array([7]))
})
