import type { UpstreamReply } from '../../canonical/upstream.ts'
import { GatewayError } from '../../core/errors.ts'
import { findMember } from '../../json/scan.ts'
import { recordOrNull, type WireRecord } from '../../json/values.ts'

/** The object of a reply of a batch service. Throws `provider_failed`. */
export function parseReply({ bytes }: UpstreamReply): WireRecord {
  const wire = recordOrNull(parsedOrNull(bytes))
  if (wire === null) throw new GatewayError('provider_failed', 'The provider answered with no JSON object.')
  return wire
}

/** The value of these bytes; null when they are no JSON. */
export function parsedOrNull(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8'))
  } catch {
    return null
  }
}

/** A member's own bytes: numbers that JavaScript cannot hold stay as they are. */
export function memberOf(bytes: Uint8Array, names: readonly string[]): Uint8Array {
  let value = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  for (const name of names) value = findMember(value, name).value ?? value
  return value
}
