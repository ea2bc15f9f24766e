import { GatewayError } from '../core/errors.ts'

/** The value of a small JSON body. Throws `invalid_request` when it is empty or no JSON in UTF-8. */
export function parseJsonBody(bytes: Uint8Array): unknown {
  if (bytes.byteLength === 0)
    throw new GatewayError('invalid_request', 'The request body is empty. Send one JSON object.', {
      param: 'body',
    })
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch (cause) {
    throw new GatewayError('invalid_request', 'The request body is not valid JSON. Send one JSON object.', {
      param: 'body',
      cause,
    })
  }
}
