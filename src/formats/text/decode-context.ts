import { type JsonDocument, type LeanJson, parseJsonDocument } from '../../json/document.ts'
import { sessionIdLengthMax } from '../../core/limits/http.ts'
import { fieldError } from '../../core/errors.ts'

/** What a request brings besides its body. */
export interface DecodeContext {
  /** The header `x-session-id`; counts only when the body has no `session_id`, and only then is it checked. */
  sessionIdHeader: string | null
  /** The header `anthropic-beta`, of messages alone. */
  betaHeader?: string | null
  /** The body without its longer texts, for one that must not be parsed whole. */
  lean?: LeanJson | null
  /** The body, where somebody has parsed it already. */
  document?: JsonDocument
}

/** The body of a request. Throws `invalid_request` where it is no JSON object. */
export function documentOf(bytes: Uint8Array, { document, lean = null }: DecodeContext): JsonDocument {
  return document ?? parseJsonDocument(bytes, lean)
}

/** The session the body names, else the header's. Throws `invalid_request` when the one that counts is too long. */
export function decodeSessionId(sessionId: string | null, context: DecodeContext): string | null {
  if (sessionId !== null) return sessionId
  const header = context.sessionIdHeader
  if (header !== null && [...header].length > sessionIdLengthMax) {
    throw fieldError('x-session-id', `must be at most ${sessionIdLengthMax} characters.`)
  }
  return header
}
