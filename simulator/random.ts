/** A number in [0, 1) that depends on nothing but the seed and the key, so that a run can be repeated exactly. */
export function fractionOf(key: string | Uint8Array, seed = 0): number {
  return Bun.hash.xxHash32(key, seed) / 2 ** 32
}

const idAlphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

/** Letters and digits derived from a key, `length` of them. */
export function lettersOf(key: string, length: number): string {
  let letters = ''
  for (let block = 0; letters.length < length; block++) {
    let rest = Bun.hash.wyhash(key, BigInt(block))
    for (let i = 0; i < 10 && letters.length < length; i++) {
      letters += idAlphabet.charAt(Number(rest % 62n))
      rest /= 62n
    }
  }
  return letters
}
