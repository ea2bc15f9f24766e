import { type JsonDocument, type LeanJson, parseJsonDocument } from '../../json/document.ts'
import { sessionIdLengthMax } from '../../core/limits/http.ts'
import { fieldError } from '../../core/errors.ts'

/** The inputs of a request besides its body. */
export interface DecodeContext {
  /** The header `x-session-id`. It is read and checked only when the body has no `session_id`. */
  sessionIdHeader: string | null
  /** The header `anthropic-beta`, which only messages reads. */
  betaHeader?: string | null
  /** The body without its longer texts, for one that must not be parsed whole. */
  lean?: LeanJson | null
  /** The body, if it is already parsed. */
  document?: JsonDocument
}

/** The body of a request. Throws `invalid_request` when it is not a JSON object. */
export function documentOf(bytes: Uint8Array, { document, lean = null }: DecodeContext): JsonDocument {
  return document ?? parseJsonDocument(bytes, lean)
}

/**
 * The session that the body names, otherwise the header's. Throws `invalid_request` when the chosen one is too long.
 */
export function decodeSessionId(sessionId: string | null, context: DecodeContext): string | null {
  if (sessionId !== null) return sessionId
  const header = context.sessionIdHeader
  if (header !== null && [...header].length > sessionIdLengthMax) {
    throw fieldError('x-session-id', `must be at most ${sessionIdLengthMax} characters.`)
  }
  return header
}
