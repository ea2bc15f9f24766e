import { isUtf8 } from 'node:buffer'
import { jsonDepthMax } from '../core/limits/text.ts'
import { isDigit, isHexDigit, isSimpleEscape, isSpace } from './bytes.ts'
import { hasEscape } from './scan.ts'

const backslash = 0x5c
const closeBrace = 0x7d
const closeBracket = 0x5d
const colon = 0x3a
const comma = 0x2c
const letterU = 0x75
const newline = 0x0a
const openBrace = 0x7b
const openBracket = 0x5b
const quote = 0x22

/** The highest bit of each byte in a word of four. */
const highBits = 0x80808080 | 0

/** The end of a string in a JSON text, and its length after its escapes are decoded. */
export interface JsonText {
  /** Position of the closing quote. */
  end: number
  /** The length of the decoded text in UTF-8; half a surrogate pair counts as the three bytes of its replacement. */
  textBytes: number
}

/** Reads strings of one JSON text, four bytes at a time while none of them is special. */
export class JsonTextScanner {
  readonly #buffer: Buffer
  readonly #words: Int32Array
  readonly #shift: number

  constructor(buffer: Buffer) {
    this.#buffer = buffer
    this.#shift = buffer.byteOffset
    this.#words = new Int32Array(buffer.buffer, 0, (buffer.byteOffset + buffer.length) >> 2)
  }

  /** The string whose opening quote is at `start`; null when it is not valid JSON up to its closing quote. */
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

  /**
   * The position of a word, searched from an aligned position on, with no quote, backslash or control character before
   * it.
   */
  #skipPlain(start: number): number {
    const words = this.#words
    let index = (start + this.#shift) >> 2
    // Four words at a time, because the loop itself costs as much as the comparison.
    for (const last = words.length - 4; index <= last; index += 4) {
      const found =
        specialIn(words[index] ?? 0) |
        specialIn(words[index + 1] ?? 0) |
        specialIn(words[index + 2] ?? 0) |
        specialIn(words[index + 3] ?? 0)
      if ((found & highBits) !== 0) break
    }
    while (index < words.length && (specialIn(words[index] ?? 0) & highBits) === 0) index += 1
    return (index << 2) - this.#shift
  }
}

/**
 * Sets the highest bit of each byte that is special. Exchanging 0x20 and 0x22 puts the quote right above the control
 * characters, so that one comparison finds both.
 */
function specialIn(word: number): number {
  const exchanged = word ^ 0x02020202
  const slashed = word ^ 0x5c5c5c5c
  return ((exchanged - 0x21212121) & ~exchanged) | ((slashed - 0x01010101) & ~slashed)
}

/** The escape at a backslash: its length and the length of the decoded text. A surrogate pair is one escape. */
function readEscape(buffer: Buffer, start: number): { length: number; textBytes: number } | null {
  const kind = buffer[start + 1] ?? 0
  if (kind !== letterU) return isSimpleEscape(kind) ? simpleEscape : null
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

/**
 * The place of a value: the offsets of its first byte and of the byte after its last, relative to the object's first
 * byte.
 */
export interface ValuePlace {
  readonly start: number
  readonly end: number
}

/** The members to find: some of the object itself, and some of its member `inner`. Names are ASCII. */
export interface Outline<Name extends string> {
  members: readonly Name[]
  inner: Name
  innerMembers: readonly Name[]
}

/**
 * A proven object and the places of its outlined members. When an inner member stands twice, the last one counts, as
 * for `JSON.parse`.
 */
export type ProvenObject<Name extends string> = {
  /** Bytes of the object. */
  length: number
  /** Whether it spans several lines. */
  hasLineBreaks: boolean
} & Partial<Record<Name, ValuePlace>>

interface OutlinedName<Name extends string> {
  name: Name
  /** The name as JSON, quotes included. */
  text: Buffer
}

function outlined<Name extends string>(name: Name): OutlinedName<Name> {
  return { name, text: Buffer.from(`"${name}"`) }
}

function newProven<Name extends string>(): ProvenObject<Name> {
  return { length: 0, hasLineBreaks: false } as ProvenObject<Name>
}

const minus = 0x2d
const plus = 0x2b
const point = 0x2e
const zero = 0x30
const lowerE = 0x65
const literals = ['true', 'false', 'null'].map((text) => Buffer.from(text))
/** Stands for a name with escapes; `JSON.parse` decides then. */
const unclear = Symbol('unclear')

/**
 * Proves that bytes are one JSON object in UTF-8 and finds the members of its outline, without building values: parsing
 * 200 MB object by object would allocate the same bytes twice. It never accepts what `JSON.parse` refuses; `JSON.parse`
 * judges the bytes that it cannot prove.
 */
export class ObjectProof<Name extends string> {
  /** The names of the outline, by their level. */
  readonly #names: readonly (readonly OutlinedName<Name>[])[]
  readonly #inner: Name
  #bytes: Uint8Array = new Uint8Array(0)
  /** The same memory as words of four bytes, from its start; the last three bytes may be missing. */
  #words: Int32Array = new Int32Array(0)
  // Offsets count in the whole memory, so that the words are aligned.
  #end = 0
  /** The bits that were set in any byte of a string. */
  #seen = 0
  #isInInner = false
  #start = 0
  #object: ProvenObject<Name> = newProven()

  constructor({ members, inner, innerMembers }: Outline<Name>) {
    this.#names = [members.map(outlined), innerMembers.map(outlined)]
    this.#inner = inner
  }

  /**
   * Proves the object that begins at `from`; null when the bytes are not proven to be a JSON object that ends before
   * `to`. More bytes may follow it.
   */
  prove(bytes: Buffer, from: number, to: number): ProvenObject<Name> | null {
    if (this.#bytes.buffer !== bytes.buffer) {
      this.#bytes = new Uint8Array(bytes.buffer)
      this.#words = new Int32Array(bytes.buffer, 0, bytes.buffer.byteLength >> 2)
    }
    const start = bytes.byteOffset + from
    this.#start = start
    this.#end = bytes.byteOffset + to
    this.#seen = 0
    this.#isInInner = false
    const proven: ProvenObject<Name> = newProven()
    this.#object = proven
    if (this.#bytes[start] !== openBrace) return null
    const end = this.#walkObject(start, 0)
    // A walk that read beyond `to` also ends beyond it, so one comparison is enough.
    if (end < 0 || end > this.#end) return null
    proven.length = end - start
    return (this.#seen & highBits) === 0 || isUtf8(bytes.subarray(from, from + proven.length)) ? proven : null
  }

  /** The offset after the value that begins here; -1 when it is unproven. The methods below return the same. */
  #value(at: number, level: number): number {
    const first = this.#bytes[at] ?? 0
    if (first === quote) return this.#string(at + 1)
    if (first === openBrace) return level < jsonDepthMax ? this.#walkObject(at, level) : -1
    if (first === openBracket) return level < jsonDepthMax ? this.#walkList(at, level) : -1
    if (first === minus || isDigit(first)) return this.#number(at)
    return this.#literal(at)
  }

  #walkObject(start: number, level: number): number {
    let at = this.#space(start + 1)
    if (this.#bytes[at] === closeBrace) return at + 1
    for (;;) {
      if (this.#bytes[at] !== quote) return -1
      const nameEnd = this.#string(at + 1)
      if (nameEnd < 0) return -1
      const name = level < 2 ? this.#nameOf(at, nameEnd, level) : null
      if (name === unclear) return -1
      const between = this.#space(nameEnd)
      if (this.#bytes[between] !== colon) return -1
      const valueStart = this.#space(between + 1)
      if (level === 0) this.#isInInner = name === this.#inner
      // An object with an outlined member twice stays unproven, so that its reader refuses it.
      if (level === 0 && name !== null && this.#object[name]) return -1
      const valueEnd = this.#value(valueStart, level + 1)
      if (valueEnd < 0) return -1
      if (name !== null) this.#note(name, valueStart, valueEnd)
      at = this.#space(valueEnd)
      if (this.#bytes[at] === closeBrace) return at + 1
      if (this.#bytes[at] !== comma) return -1
      at = this.#space(at + 1)
    }
  }

  #walkList(start: number, level: number): number {
    let at = this.#space(start + 1)
    if (this.#bytes[at] === closeBracket) return at + 1
    for (;;) {
      const valueEnd = this.#value(at, level + 1)
      if (valueEnd < 0) return -1
      at = this.#space(valueEnd)
      if (this.#bytes[at] === closeBracket) return at + 1
      if (this.#bytes[at] !== comma) return -1
      at = this.#space(at + 1)
    }
  }

  /** Proves the rest of a string, its closing quote included. */
  #string(from: number): number {
    const bytes = this.#bytes
    const end = this.#end
    let at = from
    for (;;) {
      if ((at & 3) === 0) at = this.#leap(at)
      if (at >= end) return -1
      const byte = bytes[at] ?? 0
      if (byte === quote) return at + 1
      if (byte < 0x20) return -1
      at = byte === backslash ? this.#escape(at + 1) : at + 1
      if (at < 0) return -1
      this.#seen |= byte
    }
  }

  /** The hot loop: it skips four bytes at a time while none of them is special. */
  #leap(at: number): number {
    const words = this.#words
    const end = this.#end >> 2
    let seen = 0
    let word = at >> 2
    for (; word < end; word++) {
      const four = words[word] ?? 0
      if ((specialIn(four) & highBits) !== 0) break
      seen |= four
    }
    this.#seen |= seen
    return word << 2
  }

  #escape(at: number): number {
    const byte = this.#bytes[at] ?? 0
    if (byte !== letterU) return isSimpleEscape(byte) ? at + 1 : -1
    for (let digit = at + 1; digit <= at + 4; digit += 1) if (!isHexDigit(this.#bytes[digit] ?? 0)) return -1
    return at + 5
  }

  #number(start: number): number {
    let at = this.#bytes[start] === minus ? start + 1 : start
    const first = this.#bytes[at]
    at = first === zero ? at + 1 : this.#digits(at)
    if (at >= 0 && this.#bytes[at] === point) at = this.#digits(at + 1)
    if (at < 0 || ((this.#bytes[at] ?? 0) | 0x20) !== lowerE) return at
    const sign = this.#bytes[at + 1]
    return this.#digits(sign === minus || sign === plus ? at + 2 : at + 1)
  }

  /** Requires at least one digit. */
  #digits(start: number): number {
    let at = start
    while (isDigit(this.#bytes[at] ?? 0)) at += 1
    return at === start ? -1 : at
  }

  #literal(at: number): number {
    for (const literal of literals) if (this.#stands(literal, at)) return at + literal.length
    return -1
  }

  #stands(text: Uint8Array, at: number): boolean {
    for (let index = 0; index < text.length; index += 1)
      if (this.#bytes[at + index] !== text[index]) return false
    return true
  }

  #space(from: number): number {
    let at = from
    for (; isSpace(this.#bytes[at]); at += 1)
      if (this.#bytes[at] === newline) this.#object.hasLineBreaks = true
    return at
  }

  /** The outlined member with this name, quotes included; `unclear` for a name with escapes. */
  #nameOf(start: number, end: number, level: number): Name | typeof unclear | null {
    if (level === 1 && !this.#isInInner) return null
    const length = end - start
    for (const { name, text } of this.#names[level] ?? []) {
      if (text.length === length && this.#stands(text, start)) return name
    }
    return hasEscape(this.#bytes, start, end) ? unclear : null
  }

  #note(name: Name, start: number, end: number): void {
    this.#object[name] = { start: start - this.#start, end: end - this.#start } as ProvenObject<Name>[Name]
  }
}
