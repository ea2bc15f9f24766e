const quote = 0x22
const backslash = 0x5c
const letterU = 0x75

/** Where a string of a JSON text ends, and how long it is once its escapes are read. */
export interface JsonText {
  /** Position of the closing quote. */
  end: number
  /** Bytes of the text itself as UTF-8; half a surrogate pair counts as the three bytes of its replacement. */
  textBytes: number
}

/** Reads strings of one JSON text, four bytes at a step where there is nothing to heed. */
export class JsonTextScanner {
  readonly #buffer: Buffer
  readonly #words: Int32Array
  readonly #shift: number

  constructor(buffer: Buffer) {
    this.#buffer = buffer
    this.#shift = buffer.byteOffset
    this.#words = new Int32Array(buffer.buffer, 0, (buffer.byteOffset + buffer.length) >> 2)
  }

  /** The string whose opening quote is at `start`, in UTF-8; null when it is not valid JSON to its closing quote. */
  scan(start: number): JsonText | null {
    const buffer = this.#buffer
    const { length } = buffer
    let saved = 0
    let position = start + 1
    for (;;) {
      if (((position + this.#shift) & 3) === 0) position = this.#skipPlain(position)
      const byte = position < length ? (buffer[position] ?? 0) : 0
      if (byte < 0x20) return null
      if (byte === quote) return { end: position, textBytes: position - start - 1 - saved }
      if (byte !== backslash) {
        position += 1
        continue
      }
      const escape = readEscape(buffer, position)
      if (escape === null) return null
      position += escape.length
      saved += escape.length - escape.textBytes
    }
  }

  /** Position of a word from an aligned position on, before which there is no quote, backslash or control character. */
  #skipPlain(start: number): number {
    const words = this.#words
    let index = (start + this.#shift) >> 2
    // Four at a time, because the loop itself costs as much as the comparison.
    for (const last = words.length - 4; index <= last; index += 4) {
      const found =
        specialIn(words[index] ?? 0) |
        specialIn(words[index + 1] ?? 0) |
        specialIn(words[index + 2] ?? 0) |
        specialIn(words[index + 3] ?? 0)
      if ((found & 0x80808080) !== 0) break
    }
    while (index < words.length && (specialIn(words[index] ?? 0) & 0x80808080) === 0) index += 1
    return (index << 2) - this.#shift
  }
}

/**
 * Has the highest bit of a byte set when one of the four bytes must be heeded. Exchanging 0x20 and 0x22 puts the quote
 * right above the control characters, so that one comparison finds both.
 */
function specialIn(word: number): number {
  const exchanged = word ^ 0x02020202
  const slashed = word ^ 0x5c5c5c5c
  return ((exchanged - 0x21212121) & ~exchanged) | ((slashed - 0x01010101) & ~slashed)
}

const simpleEscapes: ReadonlySet<number> = new Set(Buffer.from('"\\/bfnrt'))

/** The escape at a backslash: its length and that of what it stands for. A surrogate pair is one escape. */
function readEscape(buffer: Buffer, start: number): { length: number; textBytes: number } | null {
  const kind = buffer[start + 1] ?? 0
  if (kind !== letterU) return simpleEscapes.has(kind) ? simpleEscape : null
  const unit = readUnit(buffer, start + 2)
  if (unit === -1) return null
  if (unit >= 0xd800 && unit < 0xdc00 && buffer[start + 6] === backslash && buffer[start + 7] === letterU) {
    const second = readUnit(buffer, start + 8)
    if (second >= 0xdc00 && second < 0xe000) return { length: 12, textBytes: 4 }
  }
  if (unit < 0x80) return { length: 6, textBytes: 1 }
  return { length: 6, textBytes: unit < 0x800 ? 2 : 3 }
}

const simpleEscape = Object.freeze({ length: 2, textBytes: 1 })

/** The number that four hexadecimal digits write, or -1. */
function readUnit(buffer: Buffer, start: number): number {
  let unit = 0
  for (let at = start; at < start + 4; at += 1) {
    const digit = digitOf(buffer[at] ?? 0)
    if (digit === -1) return -1
    unit = unit * 16 + digit
  }
  return unit
}

function digitOf(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30
  const lower = byte | 0x20
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : -1
}
