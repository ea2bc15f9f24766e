import { isUtf8 } from 'node:buffer'
import { fieldError, GatewayError } from '../core/errors.ts'
import { bodyValuesBytesMax, jsonDepthMax, setAsideTextBytesMin } from '../core/limits/text.ts'
import { inTurns } from '../core/turns.ts'
import { toBuffer } from './bytes.ts'
import { describeFault, notJson, notUtf8, tooDeep } from './faults.ts'
import { isNestedWithin, requireUniqueNames, skipSpace, skipString, skipValue } from './scan.ts'

/** The bytes of one step in which the elements of a body are counted. */
const elementStepBytes = 262_144

/**
 * The bound of messages, parts, calls and tools of one request together: four times the longest conversation of an
 * agent.
 */
const requestElementsMax = 100_000
/** The bound of all objects and lists of such a request, inner ones included. */
const requestObjectsMax = 1_000_000

const comma = 0x2c
const openBrace = 0x7b
const openBracket = 0x5b
const quote = 0x22

/**
 * The value of a JSON body that may carry long texts. Throws `invalid_request` when it is empty, not JSON in UTF-8,
 * nested too deep, or has a name twice in an object, and `payload_too_large` when it has too much besides a few long
 * texts.
 */
export function parseJsonBody(bytes: Uint8Array): unknown {
  if (bytes.byteLength === 0)
    throw new GatewayError('invalid_request', 'The request body is empty. Send one JSON object.', {
      param: 'body',
    })
  if (!hasFewValues(toBuffer(bytes), { textBytesMin: setAsideTextBytesMin, bytesMax: bodyValuesBytesMax }))
    throw tooManyValues()
  try {
    const json = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    if (!isNestedWithin(json, jsonDepthMax)) throw tooDeep()
    const value: unknown = JSON.parse(json)
    requireUniqueNames(bytes)
    return value
  } catch (cause) {
    if (cause instanceof GatewayError) throw cause
    throw notJson(describeFault(bytes), cause)
  }
}

/**
 * Whether a JSON text has at most `bytesMax` bytes outside of its texts of at least `textBytesMin` bytes. Goes from
 * text to text and stops at the bound, so that a refusal is cheap however large the body is.
 */
export function hasFewValues(
  buffer: Buffer,
  { textBytesMin, bytesMax }: { textBytesMin: number; bytesMax: number },
): boolean {
  if (buffer.length <= bytesMax) return true
  let valuesBytes = 0
  for (let position = 0; position < buffer.length;) {
    const found = buffer.indexOf(quote, position)
    const start = found < 0 ? buffer.length : found
    const end = found < 0 ? start : skipString(buffer, start)
    const textBytes = end - start
    valuesBytes += start - position + (textBytes < textBytesMin ? textBytes : 0)
    if (valuesBytes > bytesMax) return false
    position = end
  }
  return true
}

/** Refuses a body that is not valid UTF-8: each reader would replace the invalid bytes differently. */
export function requireUtf8(bytes: Uint8Array): void {
  if (!isUtf8(bytes)) throw notUtf8()
}

/** Refuses a body that has too much besides a few long texts. */
export function tooManyValues(): GatewayError {
  return new GatewayError(
    'payload_too_large',
    `The request body has more than ${bodyValuesBytesMax} bytes besides its long texts. Send less.`,
    { param: 'body' },
  )
}

/**
 * Refuses a body of more elements than a request may have before any of them is built: parsing a million tiny messages
 * would block the event loop. Returns null when that is known at once, as for nearly every body. Rejects with
 * `invalid_request`, which names the member with too many elements.
 */
export function requireFewElements(bytes: Uint8Array): Promise<void> | null {
  const source = toBuffer(bytes)
  const brackets = countUpTo(requestElementsMax, openBrace, source)
  const isFew = brackets + countUpTo(requestElementsMax - brackets, openBracket, source) <= requestElementsMax
  return isFew ? null : inTurns(countElements(source))
}

/** Counts how often a byte occurs, also inside texts; stops at `most` + 1. */
function countUpTo(most: number, byte: number, source: Buffer): number {
  let count = 0
  for (let at = source.indexOf(byte); at !== -1 && count <= most; at = source.indexOf(byte, at + 1))
    count += 1
  return count
}

/** An element is an object or a list inside a list. Other values in a list have no bracket. */
function* countElements(source: Buffer): Generator<void, void> {
  let [elements, objects, before, looked] = [0, 0, 0, 0]
  for (let at = 0; at < source.length;) {
    const byte = source[at] ?? 0
    if (byte === openBrace || byte === openBracket) {
      objects += 1
      if (before === comma || before === openBracket) elements += 1
      if (elements > requestElementsMax || objects > requestObjectsMax) throw tooMany(source, at)
    }
    if (byte > 0x20) before = byte
    at = byte === quote ? skipString(source, at) : at + 1
    if (at - looked < elementStepBytes) continue
    looked = at
    yield
  }
}

function tooMany(source: Buffer, at: number): GatewayError {
  return fieldError(
    memberUnder(source.subarray(0, at)),
    `brings the request to more than ${requestElementsMax} elements: messages, parts, calls and tools together. Send fewer.`,
  )
}

/** The top-level member whose value is cut off at the end of these bytes. */
function memberUnder(source: Buffer): string {
  let name = 'body'
  try {
    for (let at = skipSpace(source, skipSpace(source, 0) + 1); ; at = skipSpace(source, at + 1)) {
      const nameEnd = skipString(source, at)
      name = String(JSON.parse(source.toString('utf8', at, nameEnd)))
      const valueStart = skipSpace(source, skipSpace(source, nameEnd) + 1)
      at = skipSpace(source, skipValue(source, valueStart))
    }
  } catch {
    return name
  }
}
