import type { Call } from '../../canonical/call.ts'
import { memberValue } from '../../json/document.ts'
import type { StickyConversation } from '../../routing/sticky.ts'
import { operations } from '../operations.ts'

/** The conversation a call belongs to, so that its next call finds the provider's prompt cache again; null for none. */
export function conversationOf(call: Call, organizationId: string, model: string): StickyConversation | null {
  const key = call.sessionId ?? promptCacheKey(call)
  return key === null ? null : { organizationId, model, key }
}

/**
 * The value of the member in which the caller's format has the key of the prompt cache; null where the format has no
 * such member, or the call no value.
 */
export function promptCacheKey(call: Call): string | null {
  const name = operations[call.operation].text?.cacheKey ?? null
  if (call.kind !== 'text' || name === null || !call.document.members.has(name)) return null
  const value = memberValue(call.document, name)
  return typeof value === 'string' ? value : null
}
