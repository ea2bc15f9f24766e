import { isUtf8 } from 'node:buffer'
import { fieldError, GatewayError } from '../core/errors.ts'
import {
  bodyValuesBytesMax,
  elementStepBytes,
  jsonDepthMax,
  setAsideTextBytesMin,
} from '../core/limits/text.ts'
import { inTurns } from '../core/turns.ts'
import { toBuffer } from './bytes.ts'
import { describeFault, notJson, notUtf8, tooDeep } from './faults.ts'
import { isNestedWithin, requireUniqueNames, skipSpace, skipString, skipValue } from './scan.ts'

/** Messages, parts, calls and tools of one request together: four times as many as the longest conversation of an agent. */
const requestElementsMax = 100_000
/** All objects and lists of a request of many elements, those inside of them included. */
const requestObjectsMax = 1_000_000

const comma = 0x2c
const openBrace = 0x7b
const openBracket = 0x5b
const quote = 0x22

/**
 * The value of a JSON body that may carry long texts. Throws `invalid_request` when it is empty, no JSON in UTF-8, nested
 * too deep or when an object of it has a member twice, and `payload_too_large` when it is more than a few long texts.
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
 * Whether a JSON text is at most `bytesMax` bytes besides its texts of `textBytesMin` and more. Goes from text to text and
 * stops at the bound, so that a refusal costs nothing however large the body is.
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

/** Refuses a body that is no text in UTF-8: each reader would put other characters in the place of the broken ones. */
export function requireUtf8(bytes: Uint8Array): void {
  if (!isUtf8(bytes)) throw notUtf8()
}

/** The refusal of a body that is more than a few long texts. */
export function tooManyValues(): GatewayError {
  return new GatewayError(
    'payload_too_large',
    `The request body has more than ${bodyValuesBytesMax} bytes besides its long texts. Send less.`,
    { param: 'body' },
  )
}

/**
 * Refuses a body of more elements than a request may have, before any of them is built: a million tiny messages would
 * stall everybody while they are parsed. Null when that is told at once, as of nearly every body. Rejects with
 * `invalid_request` naming the member that has too many.
 */
export function requireFewElements(bytes: Uint8Array): Promise<void> | null {
  const source = toBuffer(bytes)
  const brackets = countUpTo(requestElementsMax, openBrace, source)
  const isFew = brackets + countUpTo(requestElementsMax - brackets, openBracket, source) <= requestElementsMax
  return isFew ? null : inTurns(countElements(source))
}

/** How often a byte stands there, also inside texts; not beyond one more than `most`. */
function countUpTo(most: number, byte: number, source: Buffer): number {
  let count = 0
  for (let at = source.indexOf(byte); at !== -1 && count <= most; at = source.indexOf(byte, at + 1))
    count += 1
  return count
}

/** An element is an object or a list that stands in a list; before any other value in a list there is no bracket. */
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

/** The member of the outermost object whose value is cut off at the end of these bytes. */
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
