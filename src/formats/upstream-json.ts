import { GatewayError } from '../core/errors.ts'
import { jsonDepthMax } from '../core/limits/text.ts'
import { isRecord, parsePlainly } from '../json/values.ts'
import { isNestedWithin } from '../json/scan.ts'
import { toBuffer } from '../json/bytes.ts'

/** A provider's answer as an object. Throws `provider_failed` when it is not one. */
export function parseAnswer(bytes: Uint8Array, parse = parsePlainly): Record<string, unknown> {
  return parseAnswerText(toBuffer(bytes).toString('utf8'), parse)
}

/** The same for its text. */
export function parseAnswerText(json: string, parse = parsePlainly): Record<string, unknown> {
  if (!isNestedWithin(json, jsonDepthMax)) throw unreadable('it is nested too deep')
  let wire: unknown
  try {
    wire = parse(json)
  } catch (cause) {
    throw unreadable('it is not JSON', cause)
  }
  if (!isRecord(wire)) throw unreadable('it is not an object')
  return wire
}

/** The error for an answer that cannot be read; `reason` is for the log. */
export function unreadable(reason: string, cause?: unknown): GatewayError {
  return new GatewayError('provider_failed', 'The provider sent an answer that could not be read.', {
    cause: new Error(reason, { cause }),
  })
}
