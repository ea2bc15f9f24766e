import { assert } from '../../core/assert.ts'

/** Whether bit `index` is set. */
export function hasBit(bitmap: Uint8Array, index: number): boolean {
  return ((bitmap[index >> 3] ?? 0) & (1 << (index & 7))) !== 0
}

/** A copy with more bits set. A bit that is set already is a bug: its item would have two results. */
export function withBits(bitmap: Uint8Array, indexes: Iterable<number>): Uint8Array {
  const copy = bitmap.slice()
  for (const index of indexes) {
    assert(index >> 3 < copy.length, 'an item lies in its segment')
    assert(!hasBit(copy, index), 'an item has one result')
    copy[index >> 3] = (copy[index >> 3] ?? 0) | (1 << (index & 7))
  }
  return copy
}
