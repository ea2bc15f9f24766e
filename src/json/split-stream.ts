import { describeFault, describePlace, findSyntaxFault, placeOf } from './faults.ts'

const backslash = 0x5c
const closeBrace = 0x7d
const closeBracket = 0x5d
const colon = 0x3a
const comma = 0x2c
const openBrace = 0x7b
const openBracket = 0x5b
const quote = 0x22

/**
 * Receives the inside of one string, with escapes decoded, in pieces cut anywhere, and returns the bytes that it
 * encodes.
 */
export interface StringDecoder {
  push(text: string): Uint8Array
  end(): Uint8Array
}

/** Which strings are taken out of a document, and how they are decoded. */
export interface StringsToTake {
  /** The path of members from the top to the string; `*` matches any position in a list. */
  at: readonly string[]
  /** Makes the decoder for a new string; throws when the document must not have another. */
  begin(): StringDecoder
  /** The most bytes of a document besides these strings, and its greatest depth. */
  keptBytesMax: number
  depthMax: number
  errors: {
    tooManyBytes(): Error
    tooDeep(): Error
    /** For a name that is not JSON; `fault` describes the first fault of the document so far. */
    brokenName(fault: string, cause: unknown): Error
    /** For an invalid escape inside a string that is taken out. */
    brokenEscape(escape: string, cause: unknown): Error
  }
}

/** A string that was taken out: its position in the kept bytes, and its length in bytes. */
interface TakenString {
  at: number
  bytes: number
}

/**
 * Splits JSON documents into the strings at one place and all else, byte by byte on arrival, so that memory stays
 * constant whatever the size and the order of members. The strings are decoded. All other bytes are kept, up to a
 * bound, and form the document in which each such string is `""`. The parser of this rest judges whether it is JSON.
 */
export class SplitStream {
  readonly #rules: StringsToTake
  readonly #kept: KeptBytes
  /** The decoder of the current string; null outside of such strings. */
  #decoder: StringDecoder | null = null
  #isInString = false
  #isEscaped = false
  /** The path of members to the current position; null inside a list, and before a name. */
  #path: (string | null)[] = []
  #isList: boolean[] = []
  #isName = false
  #stringStart = 0
  /** An incomplete escape inside the current string. */
  #escape = ''
  /** Text of the current string in this piece, escapes decoded, that its decoder has not received yet. */
  #text = ''
  #taken: TakenString[] = []

  constructor(rules: StringsToTake) {
    this.#rules = rules
    this.#kept = new KeptBytes(rules.keptBytesMax, () => rules.errors.tooManyBytes())
  }

  /** Takes the next bytes and appends the decoded bytes to `decoded`, in order: one piece for each part of a string. */
  push(piece: Uint8Array, decoded: Uint8Array[]): void {
    for (let offset = 0; offset < piece.length;) {
      if (this.#decoder === null) this.#scanByte(piece[offset++] ?? 0)
      else offset = this.#scanTaken(this.#decoder, piece, offset, decoded)
    }
    if (this.#decoder !== null) this.#decode(this.#decoder, decoded)
  }

  /** Whether the bytes so far end inside such a string. */
  get isInTaken(): boolean {
    return this.#decoder !== null
  }

  /** The document without its strings; valid until the next byte. */
  get rest(): Uint8Array {
    return this.#kept.view()
  }

  /** Prepares for the next document. */
  reset(): void {
    this.#decoder = null
    this.#isInString = false
    this.#isEscaped = false
    this.#isName = false
    this.#path = []
    this.#isList = []
    this.#escape = ''
    this.#text = ''
    this.#taken = []
    this.#kept.clear()
  }

  /**
   * The fault of the rest, with its place in the whole document: a string that was taken out stood in the same line as
   * the bytes after it.
   */
  describeFault(): string {
    const rest = this.#kept.view()
    const fault = findSyntaxFault(rest)
    if (!fault) return describeFault(rest)
    const { line, column } = placeOf(rest, fault.offset)
    let before = 0
    for (const { at, bytes } of this.#taken)
      if (fault.offset > at && placeOf(rest, at).line === line) before += bytes
    return `${fault.problem} (${describePlace({ line, column: column + before })})`
  }

  /** Reads to the quote that ends the string, or to the end of the piece. */
  #scanTaken(decoder: StringDecoder, piece: Uint8Array, start: number, decoded: Uint8Array[]): number {
    let offset = start
    // Remembered, because some encoders write an escape after every 64 characters, and searching again each time would
    // be slow.
    let end = -1
    let escape = -1
    while (offset < piece.length) {
      if (this.#escape !== '') {
        this.#scanEscape(piece[offset] ?? 0)
        offset += 1
        continue
      }
      if (end < offset) end = positionOf(quote, piece, offset)
      if (escape < offset) escape = positionOf(backslash, piece, offset)
      const plainEnd = Math.min(end, escape)
      if (plainEnd > offset) this.#text += toLatin1(piece, offset, plainEnd)
      offset = plainEnd + 1
      if (escape < end) this.#escape = '\\'
      else if (end < piece.length) {
        this.#countTaken(offset - 1 - start)
        this.#endTaken(decoder, decoded)
        return offset
      }
    }
    this.#countTaken(piece.length - start)
    return piece.length
  }

  #countTaken(bytes: number): void {
    const last = this.#taken.at(-1)
    if (last) last.bytes += bytes
  }

  /** Reads one byte of an escape: some encoders write `\/`, and wrapped base64 has `\n`. */
  #scanEscape(byte: number): void {
    this.#escape += String.fromCharCode(byte)
    const length = this.#escape[1] === 'u' ? 6 : 2
    if (this.#escape.length < length) return
    this.#text += this.#readEscape(this.#escape)
    this.#escape = ''
  }

  #readEscape(escape: string): string {
    if (escape === '\\/') return '/'
    if (escape === '\\n') return '\n'
    try {
      return JSON.parse(`"${escape}"`) as string
    } catch (cause) {
      throw this.#rules.errors.brokenEscape(escape, cause)
    }
  }

  /** Decodes once for each piece of the document, because every decoded piece may become a write of its own. */
  #decode(decoder: StringDecoder, decoded: Uint8Array[]): void {
    if (this.#text === '') return
    const bytes = decoder.push(this.#text)
    this.#text = ''
    if (bytes.length > 0) decoded.push(bytes)
  }

  #endTaken(decoder: StringDecoder, decoded: Uint8Array[]): void {
    this.#decode(decoder, decoded)
    const last = decoder.end()
    if (last.length > 0) decoded.push(last)
    this.#decoder = null
    this.#kept.add(quote)
  }

  #scanByte(byte: number): void {
    this.#kept.add(byte)
    if (this.#isInString) return this.#scanStringByte(byte)
    if (byte === quote) return this.#openString()
    if (byte === openBrace || byte === openBracket) return this.#descend(byte === openBracket)
    if (byte === closeBrace || byte === closeBracket) {
      this.#path.pop()
      this.#isList.pop()
      this.#isName = false
    } else if (byte === comma) {
      this.#isName = this.#isList.at(-1) === false
    } else if (byte === colon) {
      this.#isName = false
    }
  }

  #scanStringByte(byte: number): void {
    if (this.#isEscaped) {
      this.#isEscaped = false
    } else if (byte === backslash) {
      this.#isEscaped = true
    } else if (byte === quote) {
      this.#isInString = false
      if (this.#isName) this.#path[this.#path.length - 1] = this.#keptString()
    }
  }

  #openString(): void {
    if (!this.#isName && this.#isAtPlace()) {
      this.#decoder = this.#rules.begin()
      this.#taken.push({ at: this.#kept.length - 1, bytes: 0 })
      return
    }
    this.#stringStart = this.#kept.length - 1
    this.#isInString = true
  }

  #isAtPlace(): boolean {
    const { at } = this.#rules
    if (this.#path.length !== at.length) return false
    return at.every((name, depth) => (name === '*' ? this.#isList[depth] : this.#path[depth] === name))
  }

  #descend(isList: boolean): void {
    if (this.#path.length === this.#rules.depthMax) throw this.#rules.errors.tooDeep()
    this.#path.push(null)
    this.#isList.push(isList)
    this.#isName = !isList
  }

  #keptString(): string {
    try {
      return JSON.parse(new TextDecoder().decode(this.#kept.view(this.#stringStart))) as string
    } catch (cause) {
      throw this.#rules.errors.brokenName(this.describeFault(), cause)
    }
  }
}

/** The kept bytes of a body that is read byte by byte, in memory that grows with them. */
export class KeptBytes {
  readonly #bytesMax: number
  readonly #tooMany: () => Error
  #bytes: Uint8Array = new Uint8Array(1_024)
  #length = 0

  /** The error of `tooMany` is thrown at the byte after `bytesMax`. */
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

  /** The kept bytes from `start` on; valid until the next byte. */
  view(start = 0): Uint8Array {
    return this.#bytes.subarray(start, this.#length)
  }

  clear(): void {
    this.#length = 0
  }
}

/** The next position of a byte, at or after `start`; the end when there is none. */
function positionOf(byte: number, piece: Uint8Array, start: number): number {
  const found = piece.indexOf(byte, start)
  return found < 0 ? piece.length : found
}

/** One character for each byte. */
function toLatin1(piece: Uint8Array, start: number, end: number): string {
  return Buffer.from(piece.buffer, piece.byteOffset + start, end - start).toString('latin1')
}
