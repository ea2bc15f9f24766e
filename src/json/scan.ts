import { jsonDepthMax } from '../core/limits/text.ts'
import { isSpace, isTokenByte, markLength, toBuffer } from './bytes.ts'
import { appearsTwice, isLiteral, malformed } from './faults.ts'
import { MemberNames } from './names.ts'

const backslash = 0x5c
const closeBrace = 0x7d
const closeBracket = 0x5d
const colon = 0x3a
const comma = 0x2c
const openBrace = 0x7b
const openBracket = 0x5b
const quote = 0x22

/** Up to about this length a string is walked byte by byte, which is cheaper than a search. */
const walkedStringBytes = 24

/** The position of the next byte that is not white space. */
export function skipSpace(buffer: Buffer, start: number): number {
  let position = start
  while (isSpace(buffer[position])) position += 1
  return position
}

/**
 * The position after the closing quote of a string whose content continues at `from`; -1 when the string is not closed
 * before `end`. `from` must not follow an unpaired backslash. Bytes from `end` on are ignored.
 */
export function stringEnd(buffer: Buffer, from: number, end: number): number {
  let position = from
  for (;;) {
    const near = Math.min(end, position + walkedStringBytes)
    for (; position < near; position += 1) {
      const byte = buffer[position]
      if (byte === quote) return position + 1
      if (byte === backslash) position += 1
    }
    if (position >= end) return -1
    const found = buffer.indexOf(quote, position)
    if (found < 0 || found >= end) return -1
    if (!isEscaped(buffer, found, position)) return found + 1
    position = found + 1
  }
}

/** The position after the string that begins at `start`. Throws `invalid_request` when it is not closed. */
export function skipString(buffer: Buffer, start: number): number {
  const end = stringEnd(buffer, start + 1, buffer.length)
  if (end < 0) throw malformed(buffer, 'a string is not closed', start)
  return end
}

/** Whether an odd number of backslashes precedes this position; bytes before `from` do not count. */
export function isEscaped(buffer: Uint8Array, at: number, from: number): boolean {
  let count = 0
  while (at - 1 - count >= from && buffer[at - 1 - count] === backslash) count += 1
  return count % 2 === 1
}

/**
 * The position after the value that begins at `start`. Throws `invalid_request` when there is no value and, with
 * `names`, when a name stands twice in one of its objects.
 */
export function skipValue(buffer: Buffer, start: number, names: MemberNames | null = null): number {
  const first = buffer[start]
  if (first === quote) return skipString(buffer, start)
  if (first === openBrace || first === openBracket) return skipContainer(buffer, start, names)
  const end = literalEnd(buffer, start)
  if (!isLiteral(buffer, start, end)) throw malformed(buffer, 'a value was expected', start)
  return end
}

/**
 * The position after a value inside a valid JSON list or object. A number or a word is not checked, and the white space
 * after it counts as part of it, so that the elements of a list together have all its bytes.
 */
export function skipElement(buffer: Buffer, start: number): number {
  const first = buffer[start]
  if (first === quote) return skipString(buffer, start)
  if (isBracketed(buffer, start)) return skipContainer(buffer, start, null)
  let position = start
  while (position < buffer.length && !endsElement(buffer[position])) position += 1
  return position
}

/** Whether an object or a list begins at this position. */
export function isBracketed(buffer: Buffer, at: number): boolean {
  return buffer[at] === openBrace || buffer[at] === openBracket
}

function endsElement(byte: number | undefined): boolean {
  return byte === comma || byte === closeBracket || byte === closeBrace
}

function literalEnd(buffer: Buffer, start: number): number {
  let position = start
  while (isTokenByte(buffer[position] ?? 0)) position += 1
  return position
}

/** The position after a bracketed value. A stack of brackets finds `[}` before a provider does. */
function skipContainer(buffer: Buffer, start: number, names: MemberNames | null): number {
  const closers: number[] = []
  let position = start
  for (;;) {
    const byte = buffer[position]
    if (byte === quote) {
      const end = skipString(buffer, position)
      // A string before a colon is a name.
      if (names !== null && isBefore(colon, buffer, end) && names.addIsTwice(position, end))
        throw appearsTwice(buffer, position, end)
      position = end
      continue
    }
    if (byte === openBrace || byte === openBracket) {
      if (closers.length >= jsonDepthMax)
        throw malformed(buffer, `it is nested deeper than ${jsonDepthMax} levels`, position)
      closers.push(byte + 2)
      if (byte === openBrace) names?.open()
    } else if (byte === closeBrace || byte === closeBracket) {
      if (closers.pop() !== byte) throw malformed(buffer, 'brackets do not match', position)
      if (byte === closeBrace) names?.close()
      if (closers.length === 0) return position + 1
    } else if (byte === undefined) {
      throw malformed(buffer, 'it ends in the middle of a value', buffer.length)
    }
    position += 1
  }
}

function isBefore(next: number, buffer: Buffer, at: number): boolean {
  return buffer[at] === next || buffer[skipSpace(buffer, at)] === next
}

/** Refuses a valid JSON text in which a name stands twice in any object. */
export function requireUniqueNames(bytes: Uint8Array): void {
  const buffer = toBuffer(bytes)
  skipValue(buffer, skipSpace(buffer, markLength(buffer)), new MemberNames(buffer))
}

/**
 * The value of a member in the bytes of a valid JSON object, and how often the object has the name. The last one
 * counts, as for `JSON.parse`. `name` is ASCII. The value shares memory with the object.
 */
export function findMember(object: Buffer, name: string): { value: Buffer | null; count: number } {
  const found: { value: Buffer | null; count: number } = { value: null, count: 0 }
  let position = skipSpace(object, object.indexOf(openBrace) + 1)
  while (object[position] === quote) {
    const nameEnd = skipString(object, position)
    const isNamed = isName(object, position, nameEnd, name)
    const start = skipSpace(object, skipSpace(object, nameEnd) + 1)
    const end = skipElement(object, start)
    if (isNamed) {
      found.value = object.subarray(start, end)
      found.count += 1
    }
    position = skipSpace(object, end)
    if (object[position] === comma) position = skipSpace(object, position + 1)
  }
  return found
}

function isName(object: Buffer, start: number, end: number, name: string): boolean {
  if (end - start - 2 === name.length && object.toString('latin1', start + 1, end - 1) === name) return true
  return hasEscape(object, start, end) && JSON.parse(object.toString('utf8', start, end)) === name
}

/** Whether a string has an escape, so that its text differs from its bytes. */
export function hasEscape(buffer: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at += 1) if (buffer[at] === backslash) return true
  return false
}

/**
 * Whether exactly these bytes stand there. A loop, because for a few bytes a call into the runtime costs more than the
 * comparison.
 */
export function isBytes(buffer: Uint8Array, start: number, end: number, bytes: Uint8Array): boolean {
  if (end - start !== bytes.length) return false
  for (let at = 0; at < bytes.length; at += 1) if (buffer[start + at] !== bytes[at]) return false
  return true
}

/**
 * Whether a JSON text has at most this depth. Checked before parsing a text that will be written again: the runtime
 * writes ten thousand levels in quadratic time and crashes on more. For a text that is not JSON the result means
 * nothing, but it comes as fast.
 */
export function isNestedWithin(json: string, depthMax: number): boolean {
  // Every level has two brackets.
  if (json.length <= 2 * depthMax || hasFewOpened(json, depthMax)) return true
  let depth = 0
  for (let position = 0; position < json.length; position += 1) {
    const code = json.charCodeAt(position)
    if (code === quote) {
      const end = closingQuote(json, position + 1)
      if (end === -1) return true
      position = end
    } else if (code === openBracket || code === openBrace) {
      depth += 1
      if (depth > depthMax) return false
    } else if (code === closeBracket || code === closeBrace) depth -= 1
  }
  return true
}

/** Whether a text has at most this many opening brackets, those inside strings included, as nearly every answer has. */
function hasFewOpened(json: string, most: number): boolean {
  let count = 0
  for (const bracket of '{[') {
    for (let at = json.indexOf(bracket); at !== -1; at = json.indexOf(bracket, at + 1)) {
      count += 1
      if (count > most) return false
    }
  }
  return true
}

/** The position of the closing quote of a string whose inside begins at `start`; -1 when there is none. */
export function closingQuote(json: string, start: number): number {
  for (let from = start; ;) {
    const end = json.indexOf('"', from)
    if (end === -1) return -1
    let escapes = end - 1
    while (escapes >= from && json.charCodeAt(escapes) === backslash) escapes -= 1
    if ((end - escapes) % 2 === 1) return end
    from = end + 1
  }
}

/**
 * The position of the scan in the text; `beyond` once more than white space follows the object, or the text is not an
 * object.
 */
type Place = 'before' | 'inside' | 'string' | 'escape' | 'behind' | 'beyond'

/**
 * Follows the arguments of a tool call, piece by piece, to tell when their object is complete. It looks at every
 * character once and stores none, so that megabytes in single characters cost no more than in one piece.
 */
export class ArgumentsScan {
  #place: Place = 'before'
  #depth = 0

  /** Whether the object is closed and only white space follows it. */
  get isWhole(): boolean {
    return this.#place === 'behind'
  }

  push(text: string): void {
    let place = this.#place
    for (let at = 0; at < text.length && place !== 'beyond'; at += 1)
      place = this.#follow(place, text.charCodeAt(at))
    this.#place = place
  }

  #follow(place: Place, unit: number): Place {
    switch (place) {
      case 'string':
        if (unit === backslash) return 'escape'
        return unit === quote ? 'inside' : 'string'
      case 'escape':
        return 'string'
      case 'inside':
        return this.#followInside(unit)
      case 'before':
        if (unit === openBrace) this.#depth = 1
        return unit === openBrace ? 'inside' : outside(place, unit)
      default:
        return outside(place, unit)
    }
  }

  #followInside(unit: number): Place {
    if (unit === quote) return 'string'
    if (unit === openBrace || unit === openBracket) this.#depth += 1
    else if (unit === closeBrace || unit === closeBracket) this.#depth -= 1
    return this.#depth === 0 ? 'behind' : 'inside'
  }
}

/** Only white space may stand beside the object. */
function outside(place: Place, unit: number): Place {
  return unit === 0x20 || (unit >= 0x09 && unit <= 0x0d) ? place : 'beyond'
}
