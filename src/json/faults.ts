import { GatewayError } from '../core/errors.ts'
import { jsonDepthMax } from '../core/limits/text.ts'
import { isHexDigit, isSimpleEscape, isSpace, isTokenByte, markLength, toBuffer } from './bytes.ts'

/** In a line up to this length a column counts characters; in a longer line it counts bytes. */
const placeColumnBytesMax = 1_048_576

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

/** The first position at which a text is not JSON, and the problem, such as `a colon was expected`. */
export interface SyntaxFault {
  offset: number
  problem: string
}

/** A place in a text as editors show it; both numbers start at 1. */
export interface TextPlace {
  line: number
  column: number
}

/**
 * The first fault of a JSON text of one value, or null when it has none. The runtime's parser does not report the
 * position, so this walks a refused text again, without building values.
 */
export function findSyntaxFault(bytes: Uint8Array, start = 0, end = bytes.length): SyntaxFault | null {
  return new SyntaxWalk(bytes, start === 0 ? markLength(bytes) : start, end).walk()
}

/** The line and column of an offset. The column counts characters; in a line of megabytes it counts bytes. */
export function placeOf(bytes: Uint8Array, offset: number): TextPlace {
  const lines = countLines(bytes.subarray(0, offset))
  return { line: lines.count + 1, column: columnOf(bytes.subarray(lines.lastEnd, offset)) + 1 }
}

/** The number of lines that end in these bytes, and the end of the last one. */
export function countLines(bytes: Uint8Array): { count: number; lastEnd: number } {
  let count = 0
  let lastEnd = 0
  for (let at = bytes.indexOf(newline); at !== -1; at = bytes.indexOf(newline, lastEnd)) {
    count += 1
    lastEnd = at + 1
  }
  return { count, lastEnd }
}

/** The number of characters in a part of a line. */
export function columnOf(bytes: Uint8Array): number {
  if (bytes.length > placeColumnBytesMax) return bytes.length
  let characters = 0
  // Every character has exactly one byte that is not a continuation byte.
  for (const byte of bytes) if ((byte & 0xc0) !== 0x80) characters += 1
  return characters
}

/** The place as messages show it. */
export function describePlace({ line, column }: TextPlace): string {
  return `line ${line}, column ${column}`
}

/** The fault of a text that could not be parsed, with its place: `a colon was expected (line 2, column 7)`. */
export function describeFault(bytes: Uint8Array): string {
  const fault = findSyntaxFault(bytes)
  return fault
    ? `${fault.problem} (${describePlace(placeOf(bytes, fault.offset))})`
    : 'it is not text in UTF-8'
}

type Expected = 'value' | 'value_or_end' | 'key' | 'key_or_end' | 'colon' | 'comma_or_end' | 'end'

const numberPattern = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/
/** Longer than any meaningful number; a longer token is refused. */
export const literalBytesMax = 400

/** Whether these bytes are a number, `true`, `false` or `null`. */
export function isLiteral(bytes: Uint8Array, start: number, end: number): boolean {
  const length = end - start
  if (length === 0 || length > literalBytesMax) return false
  const text = toBuffer(bytes).toString('latin1', start, end)
  return text === 'true' || text === 'false' || text === 'null' || numberPattern.test(text)
}

/** One walk through a text, token by token. */
class SyntaxWalk {
  readonly #bytes: Uint8Array
  readonly #end: number
  #position: number
  #expected: Expected = 'value'
  /** The closing bracket of each open one. */
  readonly #closers: number[] = []

  constructor(bytes: Uint8Array, start: number, end: number) {
    this.#bytes = bytes
    this.#position = start
    this.#end = end
  }

  walk(): SyntaxFault | null {
    for (;;) {
      this.#skipSpace()
      if (this.#position >= this.#end) {
        return this.#expected === 'end' ? null : { offset: this.#end, problem: this.#unfinished() }
      }
      const problem = this.#token(this.#bytes[this.#position] ?? 0)
      if (problem !== null) return { offset: this.#position, problem }
    }
  }

  #skipSpace(): void {
    while (this.#position < this.#end && isSpace(this.#bytes[this.#position])) this.#position += 1
  }

  #unfinished(): string {
    return this.#closers.length === 0 && this.#expected === 'value'
      ? 'it is empty'
      : 'it ends before it is complete'
  }

  /** Takes one token; null when it is allowed here. After a fault the position stays at the token. */
  #token(byte: number): string | null {
    switch (this.#expected) {
      case 'key_or_end':
        return byte === closeBrace ? this.#close(byte) : this.#key(byte)
      case 'key':
        return this.#key(byte)
      case 'colon':
        return byte === colon ? this.#step('value') : 'a colon was expected'
      case 'value_or_end':
        return byte === closeBracket ? this.#close(byte) : this.#value(byte)
      case 'value':
        return this.#value(byte)
      case 'comma_or_end':
        return this.#commaOrEnd(byte)
      case 'end':
        return 'something follows the JSON text'
    }
  }

  #step(expected: Expected): null {
    this.#position += 1
    this.#expected = expected
    return null
  }

  #key(byte: number): string | null {
    if (byte !== quote) return 'a member name in quotes was expected'
    return this.#string('colon')
  }

  #commaOrEnd(byte: number): string | null {
    const closer = this.#closers.at(-1)
    if (byte === closer) return this.#close(byte)
    if (byte === comma) return this.#step(closer === closeBrace ? 'key' : 'value')
    return closer === closeBrace ? 'a comma or "}" was expected' : 'a comma or "]" was expected'
  }

  #close(byte: number): null {
    if (this.#closers.at(-1) === byte) this.#closers.pop()
    return this.#step(this.#afterValue())
  }

  #afterValue(): Expected {
    return this.#closers.length === 0 ? 'end' : 'comma_or_end'
  }

  #value(byte: number): string | null {
    if (byte === quote) return this.#string(this.#afterValue())
    if (byte === openBrace || byte === openBracket) {
      this.#closers.push(byte + 2)
      return this.#step(byte === openBrace ? 'key_or_end' : 'value_or_end')
    }
    return this.#literal()
  }

  /** A number, `true`, `false` or `null`. */
  #literal(): string | null {
    let end = this.#position
    while (end < this.#end && isTokenByte(this.#bytes[end] ?? 0)) end += 1
    if (!isLiteral(this.#bytes, this.#position, end)) return 'a value was expected'
    this.#position = end
    this.#expected = this.#afterValue()
    return null
  }

  #string(next: Expected): string | null {
    const start = this.#position
    for (let at = start + 1; at < this.#end; at += 1) {
      const byte = this.#bytes[at] ?? 0
      if (byte === quote) {
        this.#position = at + 1
        this.#expected = next
        return null
      }
      if (byte < 0x20)
        return this.#faultAt(at, 'a line break or control character inside a string must be escaped')
      if (byte !== backslash) continue
      const length = this.#escapeLength(at)
      if (length === 0) return this.#faultAt(at, 'an escape that JSON does not have')
      at += length - 1
    }
    return this.#faultAt(start, 'a string is not closed')
  }

  #faultAt(offset: number, problem: string): string {
    this.#position = offset
    return problem
  }

  /** The number of bytes of the escape at a backslash; 0 when it is invalid. */
  #escapeLength(at: number): number {
    const kind = this.#bytes[at + 1] ?? 0
    if (kind !== letterU) return isSimpleEscape(kind) ? 2 : 0
    for (let digit = at + 2; digit < at + 6; digit += 1) if (!isHexDigit(this.#bytes[digit] ?? 0)) return 0
    return 6
  }
}

/** Refuses a request of which only the structure was scanned; `problem` describes the fault at the offset. */
export function malformed(buffer: Buffer, problem: string, offset: number): GatewayError {
  const place = describePlace(placeOf(buffer, offset))
  return new GatewayError(
    'invalid_request',
    `The request body is not valid: ${problem} (${place}). Send one JSON object.`,
  )
}

/** Refuses a name that stands twice in an object; `start` and `end` enclose the second one, quotes included. */
export function appearsTwice(buffer: Buffer, start: number, end: number): GatewayError {
  const name = buffer.toString(
    'utf8',
    start + (buffer[start] === quote ? 1 : 0),
    Math.min(end - 1, start + 101),
  )
  return new GatewayError(
    'invalid_request',
    `"${name}" appears twice in one object of the request body. Send it once.`,
    { param: name },
  )
}

/** Refuses a body whose bytes are not valid UTF-8. */
export function notUtf8(): GatewayError {
  return notJson('it is not text in UTF-8', null)
}

/** Refuses a body that is not JSON; `fault` says what is wrong and where. */
export function notJson(fault: string, cause: unknown): GatewayError {
  return new GatewayError(
    'invalid_request',
    `The request body is not valid JSON: ${fault}. Send one JSON object.`,
    { param: 'body', cause },
  )
}

/** Refuses a body that is nested deeper than the bound for parsing. */
export function tooDeep(): GatewayError {
  return new GatewayError(
    'invalid_request',
    `The request body is nested deeper than ${jsonDepthMax} levels. Flatten it.`,
    { param: 'body' },
  )
}

/** Gives the line and column, in the body, of a byte of one of its values. */
export type PlaceOf = (offset: number) => TextPlace

/** Refuses one value of a body that is read value by value, with the fault's place in the whole body. */
export function valueNotJson(param: string, bytes: Uint8Array, placeInBody: PlaceOf): GatewayError {
  const fault = findSyntaxFault(bytes)
  const problem = fault
    ? `is not valid JSON: ${fault.problem} (${describePlace(placeInBody(fault.offset))}).`
    : 'is not text in UTF-8.'
  return new GatewayError('invalid_request', `${param} ${problem}`, { param })
}
