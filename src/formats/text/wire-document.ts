import { isUtf8 } from 'node:buffer'
import { type JsonDocument, parseJsonDocument } from '../../json/document.ts'
import { unreadable } from '../upstream-json.ts'

type Wire = Readonly<Record<string, unknown>>

/** Where LiteLLM notes in its answers what its provider said besides. Clients send it back, and no provider knows it. */
export const specificFields = 'provider_specific_fields'

/**
 * A provider's JSON, which was parsed as `wire`, as a document to edit. What clients would not read alike, because a member
 * stands there twice or the bytes are no UTF-8, is written anew.
 */
export function wireDocument(bytes: Uint8Array, wire: Wire): JsonDocument {
  const document =
    (isUtf8(bytes) ? documentOrNull(bytes) : null) ?? documentOrNull(Buffer.from(JSON.stringify(wire)))
  if (document === null) throw unreadable('it has too many members')
  return document
}

/** Values as the JSON that `editPieces` sets. */
export function toJson(members: Wire): Record<string, string> {
  return Object.fromEntries(Object.entries(members).map(([name, value]) => [name, JSON.stringify(value)]))
}

function documentOrNull(bytes: Uint8Array): JsonDocument | null {
  try {
    return parseJsonDocument(bytes)
  } catch {
    return null
  }
}
