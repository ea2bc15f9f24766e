import { isUtf8 } from 'node:buffer'
import { type JsonDocument, parseJsonDocument } from '../../json/document.ts'
import { unreadable } from '../upstream-json.ts'

type Wire = Readonly<Record<string, unknown>>

/** LiteLLM puts its provider's extra notes here. Clients send them back, and no provider knows them. */
export const specificFields = 'provider_specific_fields'

/**
 * A provider's JSON as a document to edit; `wire` is its parsed value. It is written anew when clients might read it
 * differently: a member stands twice, or the bytes are not UTF-8.
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
