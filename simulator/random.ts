/** A number in [0, 1) that depends only on the seed and the key, so that a run can be repeated exactly. */
export function fractionOf(key: string | Uint8Array, seed = 0): number {
  return Bun.hash.xxHash32(key, seed) / 2 ** 32
}

const idAlphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

/** Letters and digits derived from a key, `length` of them. */
export function lettersOf(key: string, length: number): string {
  let letters = ''
  // A xorshift from the key's hash: an id is made for every request, and big integers would cost more than the rest of it.
  let state = Bun.hash.xxHash32(key) | 1
  while (letters.length < length) {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    letters += idAlphabet.charAt((state >>> 0) % idAlphabet.length)
  }
  return letters
}
