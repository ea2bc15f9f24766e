import { randomBytes } from 'node:crypto'
import { assert } from '../../core/assert.ts'
import { customIdLengthMax } from '../../core/limits/batches.ts'

/** Bytes of one block of caller ids in memory. */
const customIdBlockBytes = 1_048_576

const initialSlots = 1024
/** A fuller table is doubled, so that linear probing stays short. */
const fillMax = 0.7
/** A code point takes at most four bytes of UTF-8, so a length fits one byte as `length - 1`. */
const idBytesMax = customIdLengthMax * 4

/**
 * The exact set of a batch's custom ids: their bytes lie in blocks, one id after the other, and an open-addressed table
 * has their places. A million ids of 20 characters take about 38 MB; a `Set` of strings takes 100. The hash has a
 * random key, so a caller cannot choose ids that collide.
 */
export class CustomIds {
  #blocks: Uint8Array[] = []
  #blockEnd = customIdBlockBytes
  /**
   * Two numbers for each slot: the id's place + 1 (0 for a free slot) and the id's hash. With the hash, nearly all
   * different ids are told apart, and the table grows, without reading their bytes. A place is block ×
   * `customIdBlockBytes` + offset.
   */
  #table = new Uint32Array(initialSlots * 2)
  #size = 0
  readonly #scratch = new Uint8Array(idBytesMax)
  readonly #encoder = new TextEncoder()
  readonly #key = new Int32Array(randomBytes(8).buffer.slice(0, 8))

  get size(): number {
    return this.#size
  }

  /** Adds an id of 1 to `customIdLengthMax` code points; false when the set has it already. */
  add(id: string): boolean {
    const { read, written } = this.#encoder.encodeInto(id, this.#scratch)
    assert(read === id.length && written > 0, 'a custom id is checked before it is added')
    return this.#add(this.#scratch, 0, written)
  }

  /** Like `add`, for an id between these offsets that is 1 to `customIdLengthMax` bytes of ASCII. */
  addAscii(bytes: Uint8Array, start: number, end: number): boolean {
    assert(end > start && end - start <= customIdLengthMax, 'a custom id is checked before it is added')
    return this.#add(bytes, start, end - start)
  }

  #add(bytes: Uint8Array, start: number, length: number): boolean {
    const hash = this.#hash(bytes, start, length)
    const at = this.#find(hash, bytes, start, length)
    if (this.#table[at] !== 0) return false
    this.#table[at] = this.#store(bytes, start, length) + 1
    this.#table[at + 1] = hash
    this.#size++
    if (this.#size * 2 > this.#table.length * fillMax) this.#grow()
    return true
  }

  /** The slot of these bytes, or the free slot where they belong. */
  #find(hash: number, bytes: Uint8Array, start: number, length: number): number {
    const table = this.#table
    const mask = table.length - 1
    for (let at = (hash * 2) & mask; ; at = (at + 2) & mask) {
      const entry = table[at] ?? 0
      if (entry === 0) return at
      if (table[at + 1] === hash && this.#equals(entry - 1, bytes, start, length)) return at
    }
  }

  #equals(place: number, bytes: Uint8Array, start: number, length: number): boolean {
    const block = this.#blockOf(place)
    const offset = place % customIdBlockBytes
    if ((block[offset] ?? 0) + 1 !== length) return false
    for (let index = 0; index < length; index++) {
      if (block[offset + 1 + index] !== bytes[start + index]) return false
    }
    return true
  }

  #blockOf(place: number): Uint8Array {
    const block = this.#blocks[Math.floor(place / customIdBlockBytes)]
    assert(block, 'every place lies in a block')
    return block
  }

  #store(bytes: Uint8Array, start: number, length: number): number {
    if (this.#blockEnd + 1 + length > customIdBlockBytes) {
      this.#blocks.push(new Uint8Array(customIdBlockBytes))
      this.#blockEnd = 0
    }
    const place = (this.#blocks.length - 1) * customIdBlockBytes + this.#blockEnd
    const block = this.#blockOf(place)
    block[this.#blockEnd] = length - 1
    // For so few bytes a loop is faster than a call into the runtime.
    for (let index = 0; index < length; index++) block[this.#blockEnd + 1 + index] = bytes[start + index] ?? 0
    this.#blockEnd += 1 + length
    return place
  }

  #grow(): void {
    const old = this.#table
    const table = new Uint32Array(old.length * 2)
    const mask = table.length - 1
    for (let from = 0; from < old.length; from += 2) {
      const entry = old[from] ?? 0
      if (entry === 0) continue
      const hash = old[from + 1] ?? 0
      let at = (hash * 2) & mask
      while (table[at] !== 0) at = (at + 2) & mask
      table[at] = entry
      table[at + 1] = hash
    }
    this.#table = table
  }

  /** HalfSipHash-1-3: short inputs, 32-bit arithmetic, a secret key. */
  #hash(bytes: Uint8Array, start: number, length: number): number {
    const key0 = this.#key[0] ?? 0
    const key1 = this.#key[1] ?? 0
    let v0 = key0
    let v1 = key1
    let v2 = 0x6c796765 ^ key0
    let v3 = 0x74656462 ^ key1
    const words = (length >>> 2) + 1
    for (let word = 0; word < words + 3; word++) {
      const message = word < words ? wordAt(bytes, start, length, word) : 0
      if (word === words) v2 ^= 0xff
      v3 ^= message
      v0 = (v0 + v1) | 0
      v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0
      v0 = (v0 << 16) | (v0 >>> 16)
      v2 = (v2 + v3) | 0
      v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2
      v0 = (v0 + v3) | 0
      v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0
      v2 = (v2 + v1) | 0
      v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2
      v2 = (v2 << 16) | (v2 >>> 16)
      v0 ^= message
    }
    return (v1 ^ v3) >>> 0
  }
}

/** The `word`-th four bytes, little-endian; the last word is padded with zeros and carries the length. */
function wordAt(bytes: Uint8Array, start: number, length: number, word: number): number {
  const at = start + word * 4
  const left = length - word * 4
  if (left >= 4) {
    return (
      (bytes[at] ?? 0) |
      ((bytes[at + 1] ?? 0) << 8) |
      ((bytes[at + 2] ?? 0) << 16) |
      ((bytes[at + 3] ?? 0) << 24)
    )
  }
  let value = length << 24
  for (let index = 0; index < left; index++) value |= (bytes[at + index] ?? 0) << (index * 8)
  return value
}
