import { GatewayError } from '../core/errors.ts'
import { bodyValuesBytesMax, heldTextBytesMin } from '../core/limits.ts'
import { skipString, toBuffer } from './json-document.ts'

const quote = 0x22

/**
 * The value of a JSON body that may carry long texts. Throws `invalid_request` when it is empty or no JSON in UTF-8, and
 * `payload_too_large` when it is more than a few long texts.
 */
export function parseJsonBody(bytes: Uint8Array): unknown {
  if (bytes.byteLength === 0)
    throw new GatewayError('invalid_request', 'The request body is empty. Send one JSON object.', {
      param: 'body',
    })
  if (bytes.byteLength > bodyValuesBytesMax) requireFewValues(toBuffer(bytes))
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch (cause) {
    throw new GatewayError('invalid_request', 'The request body is not valid JSON. Send one JSON object.', {
      param: 'body',
      cause,
    })
  }
}

/** Goes from text to text and stops at the bound, so that a refusal costs nothing however large the body is. */
function requireFewValues(buffer: Buffer): void {
  let valuesBytes = 0
  for (let position = 0; position < buffer.length;) {
    const found = buffer.indexOf(quote, position)
    const start = found < 0 ? buffer.length : found
    const end = found < 0 ? start : skipString(buffer, start)
    const textBytes = end - start
    valuesBytes += start - position + (textBytes < heldTextBytesMin ? textBytes : 0)
    if (valuesBytes > bodyValuesBytesMax) throw tooManyValues()
    position = end
  }
}

function tooManyValues(): GatewayError {
  return new GatewayError(
    'payload_too_large',
    `The request body has more than ${bodyValuesBytesMax} bytes besides its long texts. Send less.`,
    { param: 'body' },
  )
}
