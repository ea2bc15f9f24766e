/** Bytes that are kept of a body which is read byte by byte, in memory that grows with them. */
export class KeptBytes {
  readonly #bytesMax: number
  readonly #tooMany: () => Error
  #bytes: Uint8Array = new Uint8Array(1_024)
  #length = 0

  /** What `tooMany` makes is thrown at the byte after `bytesMax`. */
  constructor(bytesMax: number, tooMany: () => Error) {
    this.#bytesMax = bytesMax
    this.#tooMany = tooMany
  }

  get length(): number {
    return this.#length
  }

  add(byte: number): void {
    if (this.#length === this.#bytesMax) throw this.#tooMany()
    if (this.#length === this.#bytes.length) {
      const larger = new Uint8Array(this.#bytes.length * 2)
      larger.set(this.#bytes)
      this.#bytes = larger
    }
    this.#bytes[this.#length++] = byte
  }

  /** What was kept from `start` on; to be used before the next byte. */
  view(start = 0): Uint8Array {
    return this.#bytes.subarray(start, this.#length)
  }

  clear(): void {
    this.#length = 0
  }
}

/** Where a byte next stands, at or after `start`; the end when it does not. */
export function positionOf(byte: number, piece: Uint8Array, start: number): number {
  const found = piece.indexOf(byte, start)
  return found < 0 ? piece.length : found
}

/** A character for each byte. */
export function toLatin1(piece: Uint8Array, start: number, end: number): string {
  return Buffer.from(piece.buffer, piece.byteOffset + start, end - start).toString('latin1')
}
