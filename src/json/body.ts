import { isUtf8 } from 'node:buffer'
import { GatewayError } from '../core/errors.ts'
import { bodyValuesBytesMax, setAsideTextBytesMin, jsonDepthMax } from '../core/limits/text.ts'
import { isNestedWithin } from './depth.ts'
import { requireUniqueNames, skipString, toBuffer } from './document.ts'
import { describeFault } from './faults.ts'

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

/** Refuses a body that is no text in UTF-8: each reader of it would put other characters in the place of the broken ones. */
export function requireUtf8(bytes: Uint8Array): void {
  if (!isUtf8(bytes)) throw notUtf8()
}

/** The refusal of a body whose bytes are no characters. */
export function notUtf8(): GatewayError {
  return notJson('it is not text in UTF-8', null)
}

/** The refusal of a body that is no JSON; `fault` says what is wrong, and where. */
export function notJson(fault: string, cause: unknown): GatewayError {
  return new GatewayError(
    'invalid_request',
    `The request body is not valid JSON: ${fault}. Send one JSON object.`,
    { param: 'body', cause },
  )
}

function tooDeep(): GatewayError {
  return new GatewayError(
    'invalid_request',
    `The request body is nested deeper than ${jsonDepthMax} levels. Flatten it.`,
    { param: 'body' },
  )
}

/** The refusal of a body that is more than a few long texts. */
export function tooManyValues(): GatewayError {
  return new GatewayError(
    'payload_too_large',
    `The request body has more than ${bodyValuesBytesMax} bytes besides its long texts. Send less.`,
    { param: 'body' },
  )
}
