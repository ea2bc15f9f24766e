import { describeFault, describePlace, findSyntaxFault, placeOf } from './faults.ts'

const backslash = 0x5c
const closeBrace = 0x7d
const closeBracket = 0x5d
const colon = 0x3a
const comma = 0x2c
const openBrace = 0x7b
const openBracket = 0x5b
const quote = 0x22

/** Takes the inside of one string, its escapes read, in pieces cut anywhere, and gives the bytes that it stands for. */
export interface StringDecoder {
  push(text: string): Uint8Array
  end(): Uint8Array
}

/** Which strings are taken out of a document, and what happens to them. */
export interface StringsToTake {
  /** Names of members from the top to the string; `*` is any place of a list. */
  at: readonly string[]
  /** The decoder of a string that begins; throws where the document may not have another. */
  begin(): StringDecoder
  /** The most bytes of a document besides its strings, and the most levels. */
  keptBytesMax: number
  depthMax: number
  errors: {
    tooManyBytes(): Error
    tooDeep(): Error
    /** A name that is no JSON; `fault` says what is wrong in the document so far. */
    brokenName(fault: string, cause: unknown): Error
    /** An escape that JSON does not have, inside a string that is taken out. */
    brokenEscape(escape: string, cause: unknown): Error
  }
}

/** A string that was taken out: where it stood in what is kept, and how many bytes it had. */
interface TakenString {
  at: number
  bytes: number
}

/**
 * Splits JSON documents into the strings at one place and everything else, byte by byte as they come, so that memory stays
 * flat whatever the size and the order of members. The strings are decoded; all other bytes are kept, bounded, and are
 * the document in which each such string reads as `""`. Whether the rest is JSON is for the parser of the rest to say.
 */
export class SplitStream {
  readonly #rules: StringsToTake
  readonly #kept: KeptBytes
  /** The decoder of the string that is being taken out; null outside of such strings. */
  #decoder: StringDecoder | null = null
  #isInString = false
  #isEscaped = false
  /** Names of members from the top to where the stream stands; null inside a list, and before a name. */
  #path: (string | null)[] = []
  #isList: boolean[] = []
  #isName = false
  #stringStart = 0
  /** An escape inside the taken string that is not whole yet. */
  #escape = ''
  /** Text of the taken string in this piece, its escapes read, that is not decoded yet. */
  #text = ''
  #taken: TakenString[] = []

  constructor(rules: StringsToTake) {
    this.#rules = rules
    this.#kept = new KeptBytes(rules.keptBytesMax, () => rules.errors.tooManyBytes())
  }

  /** Takes the next bytes, and adds what was decoded of them, in order: one piece for each part of a string. */
  push(piece: Uint8Array, decoded: Uint8Array[]): void {
    for (let offset = 0; offset < piece.length;) {
      if (this.#decoder === null) this.#scanByte(piece[offset++] ?? 0)
      else offset = this.#scanTaken(this.#decoder, piece, offset, decoded)
    }
    if (this.#decoder !== null) this.#decode(this.#decoder, decoded)
  }

  /** Whether the bytes so far end inside a string that is taken out. */
  get isInTaken(): boolean {
    return this.#decoder !== null
  }

  /** The document without its strings; to be used before the next byte. */
  get rest(): Uint8Array {
    return this.#kept.view()
  }

  /** The next byte begins another document. */
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

  /** What is wrong with the rest, by its place in the whole document: a taken string stood in one line with what follows it. */
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

  /** From here to the quote that ends the string, or to the end of the piece. */
  #scanTaken(decoder: StringDecoder, piece: Uint8Array, start: number, decoded: Uint8Array[]): number {
    let offset = start
    // Not looked for again after every escape: some encoders write one for every 64 characters.
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

  /** One byte of an escape: some encoders write `\/`, and wrapped base64 has `\n`. */
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

  /** In one piece for each piece of the document, because every decoded piece may be a write of its own. */
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
function positionOf(byte: number, piece: Uint8Array, start: number): number {
  const found = piece.indexOf(byte, start)
  return found < 0 ? piece.length : found
}

/** A character for each byte. */
function toLatin1(piece: Uint8Array, start: number, end: number): string {
  return Buffer.from(piece.buffer, piece.byteOffset + start, end - start).toString('latin1')
}
