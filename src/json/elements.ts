import { fieldError, type GatewayError } from '../core/errors.ts'
import { elementStepBytes, requestElementsMax, requestObjectsMax } from '../core/limits/text.ts'
import { inTurns } from '../core/turns.ts'
import { skipSpace, skipString, skipValue, toBuffer } from './document.ts'

const quote = 0x22
const comma = 0x2c
const openBracket = 0x5b
const openBrace = 0x7b

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
