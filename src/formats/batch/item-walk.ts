import { isUtf8 } from 'node:buffer'
import { jsonDepthMax } from '../../core/limits/text.ts'
import { isWhitespace } from './json-walk.ts'

const newline = 0x0a
const quote = 0x22
const comma = 0x2c
const minus = 0x2d
const point = 0x2e
const zero = 0x30
const nine = 0x39
const colon = 0x3a
const openArray = 0x5b
const backslash = 0x5c
const closeArray = 0x5d
const lowerE = 0x65
const lowerU = 0x75
const openObject = 0x7b
const closeObject = 0x7d

/** Four bytes in one number: the same byte four times, to look at four characters in one step. */
const quotes = 0x22222222
const backslashes = 0x5c5c5c5c
const spaces = 0x20202020
const ones = 0x01010101
const highBits = 0x80808080 | 0

/** 1 for what may stand behind a backslash, `u` apart. */
const escapable = new Uint8Array(256)
for (const byte of Buffer.from('"\\/bfnrt')) escapable[byte] = 1
const literals = ['true', 'false', 'null'].map((text) => Buffer.from(text))

/** Where a value lies: the offset of its first byte and the one behind its last, from the item's first byte on. */
export interface ItemPlace {
  readonly start: number
  readonly end: number
}

/** A proven item and its members that ingest looks at, of several of its body with one name the last, as for `JSON.parse`. */
export interface WalkedItem {
  /** Bytes of the item. */
  length: number
  /** Whether it spans lines. */
  hasLineBreaks: boolean
  custom_id?: ItemPlace
  body?: ItemPlace
  // Of the body:
  model?: ItemPlace
  stream?: ItemPlace
  messages?: ItemPlace
  input?: ItemPlace
}

type MemberName = 'custom_id' | 'body' | 'model' | 'stream' | 'messages' | 'input'

const itemMembers = (['custom_id', 'body'] as const).map(quoted)
const bodyMembers = (['model', 'stream', 'messages', 'input'] as const).map(quoted)

function quoted(name: MemberName): { name: MemberName; text: Buffer } {
  return { name, text: Buffer.from(`"${name}"`) }
}

/**
 * Proves that bytes are one JSON object in UTF-8 and finds the members that ingest looks at, without building a value:
 * to parse 200 MB item by item would be to allocate them again, twice. It never takes for JSON what `JSON.parse` refuses;
 * what it leaves unproven is for `JSON.parse` to judge.
 */
export class ItemWalk {
  #bytes: Uint8Array = new Uint8Array(0)
  /** The same memory in fours, from its start on; the last three bytes may be missing. */
  #words: Int32Array = new Int32Array(0)
  // Offsets are those of the whole memory, which is what makes the fours line up.
  #end = 0
  /** Which bits were set in any of a string's bytes. */
  #seen = 0
  #isInBody = false
  #start = 0
  #item: WalkedItem = { length: 0, hasLineBreaks: false }

  /**
   * The item that begins at `from`; null when what stands there is not proven to be a JSON object that is complete before
   * `to`. More may follow it.
   */
  walk(bytes: Buffer, from: number, to: number): WalkedItem | null {
    if (this.#bytes.buffer !== bytes.buffer) {
      this.#bytes = new Uint8Array(bytes.buffer)
      this.#words = new Int32Array(bytes.buffer, 0, bytes.buffer.byteLength >> 2)
    }
    const start = bytes.byteOffset + from
    this.#start = start
    this.#end = bytes.byteOffset + to
    this.#seen = 0
    this.#isInBody = false
    const item: WalkedItem = { length: 0, hasLineBreaks: false }
    this.#item = item
    if (this.#bytes[start] !== openObject) return null
    const end = this.#object(start, 0)
    // Whoever reads beyond `to` ends beyond it, so that one comparison is enough.
    if (end < 0 || end > this.#end) return null
    item.length = end - start
    return (this.#seen & highBits) === 0 || isUtf8(bytes.subarray(from, from + item.length)) ? item : null
  }

  /** The offset behind the value that begins here, -1 when it is unproven; so for all that follow. */
  #value(at: number, level: number): number {
    const first = this.#bytes[at] ?? 0
    if (first === quote) return this.#string(at + 1)
    if (first === openObject) return level < jsonDepthMax ? this.#object(at, level) : -1
    if (first === openArray) return level < jsonDepthMax ? this.#array(at, level) : -1
    if (first === minus || isDigit(first)) return this.#number(at)
    return this.#literal(at)
  }

  #object(start: number, level: number): number {
    let at = this.#space(start + 1)
    if (this.#bytes[at] === closeObject) return at + 1
    for (;;) {
      if (this.#bytes[at] !== quote) return -1
      const nameEnd = this.#string(at + 1)
      if (nameEnd < 0) return -1
      const name = level < 2 ? this.#nameOf(at, nameEnd, level) : null
      if (name === 'unclear') return -1
      const between = this.#space(nameEnd)
      if (this.#bytes[between] !== colon) return -1
      const valueStart = this.#space(between + 1)
      if (level === 0) this.#isInBody = name === 'body'
      // An item that has one of them twice is refused, by whoever reads what is left unproven; a body when it is run.
      if (level === 0 && name !== null && this.#item[name]) return -1
      const valueEnd = this.#value(valueStart, level + 1)
      if (valueEnd < 0) return -1
      if (name !== null) this.#note(name, valueStart, valueEnd)
      at = this.#space(valueEnd)
      if (this.#bytes[at] === closeObject) return at + 1
      if (this.#bytes[at] !== comma) return -1
      at = this.#space(at + 1)
    }
  }

  #array(start: number, level: number): number {
    let at = this.#space(start + 1)
    if (this.#bytes[at] === closeArray) return at + 1
    for (;;) {
      const valueEnd = this.#value(at, level + 1)
      if (valueEnd < 0) return -1
      at = this.#space(valueEnd)
      if (this.#bytes[at] === closeArray) return at + 1
      if (this.#bytes[at] !== comma) return -1
      at = this.#space(at + 1)
    }
  }

  /** The rest of a string, its quote included. */
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

  /** The hot loop: goes on four bytes at a time while none of them is special. */
  #leap(at: number): number {
    const words = this.#words
    const end = this.#end >> 2
    let seen = 0
    let word = at >> 2
    for (; word < end; word++) {
      const four = words[word] ?? 0
      if (hasSpecial(four)) break
      seen |= four
    }
    this.#seen |= seen
    return word << 2
  }

  #escape(at: number): number {
    const byte = this.#bytes[at] ?? 0
    if (byte !== lowerU) return escapable[byte] === 1 ? at + 1 : -1
    for (let digit = at + 1; digit <= at + 4; digit++) if (!isHexDigit(this.#bytes[digit] ?? 0)) return -1
    return at + 5
  }

  #number(start: number): number {
    let at = this.#bytes[start] === minus ? start + 1 : start
    const first = this.#bytes[at]
    at = first === zero ? at + 1 : this.#digits(at)
    if (at >= 0 && this.#bytes[at] === point) at = this.#digits(at + 1)
    if (at < 0 || ((this.#bytes[at] ?? 0) | 0x20) !== lowerE) return at
    const sign = this.#bytes[at + 1]
    return this.#digits(sign === minus || sign === 0x2b ? at + 2 : at + 1)
  }

  /** At least one. */
  #digits(start: number): number {
    let at = start
    while (isDigit(this.#bytes[at] ?? 0)) at++
    return at === start ? -1 : at
  }

  #literal(at: number): number {
    for (const literal of literals) if (this.#stands(literal, at)) return at + literal.length
    return -1
  }

  #stands(text: Uint8Array, at: number): boolean {
    for (let index = 0; index < text.length; index++)
      if (this.#bytes[at + index] !== text[index]) return false
    return true
  }

  #space(from: number): number {
    let at = from
    while (isWhitespace(this.#bytes[at])) if (this.#bytes[at++] === newline) this.#item.hasLineBreaks = true
    return at
  }

  /** Which of the members looked at has this name, its quotes included; `unclear` for a name with escapes. */
  #nameOf(start: number, end: number, level: number): MemberName | 'unclear' | null {
    if (level === 1 && !this.#isInBody) return null
    const length = end - start
    for (const { name, text } of level === 0 ? itemMembers : bodyMembers) {
      if (text.length === length && this.#stands(text, start)) return name
    }
    for (let at = start; at < end; at++) if (this.#bytes[at] === backslash) return 'unclear'
    return null
  }

  #note(name: MemberName, start: number, end: number): void {
    this.#item[name] = { start: start - this.#start, end: end - this.#start }
  }
}

/** Whether one of the four is a quote, a backslash or a control character. */
function hasSpecial(four: number): boolean {
  const control = four - spaces
  const isQuote = ((four ^ quotes) - ones) | 0
  const isBackslash = ((four ^ backslashes) - ones) | 0
  return ((control | isQuote | isBackslash) & ~four & highBits) !== 0
}

function isDigit(byte: number): boolean {
  return byte >= zero && byte <= nine
}

function isHexDigit(byte: number): boolean {
  const letter = byte | 0x20
  return isDigit(byte) || (letter >= 0x61 && letter <= 0x66)
}
