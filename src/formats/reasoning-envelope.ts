import type { ConversationFormat, ReasoningPart } from '../canonical/text/conversation.ts'

/** How every text begins that this gateway sealed. */
export const sealedPrefix = 'hr1.'
const pattern = /^hr1\.(chat|responses|messages|gemini)\.([sd])\.([^.]{0,200})\./

/** What binds a thought to its provider. */
export type Bound = Pick<ReasoningPart, 'id' | 'signature' | 'sealed' | 'origin'>

/**
 * One text that a client of any format keeps and gives back: `hr1.<origin>.<s: signature, d: sealed data>.<id>.<data>`.
 * Null for a thought that nothing binds.
 */
export function sealReasoning({ id, signature, sealed, origin }: Bound): string | null {
  const data = sealed ?? signature
  if (data === null || origin === null) return null
  return `${sealedPrefix}${origin}.${sealed === null ? 's' : 'd'}.${id ?? ''}.${data}`
}

/** What a client gave back; null for what this gateway did not seal. */
export function openReasoning(text: string): Bound | null {
  const match = text.startsWith(sealedPrefix) ? pattern.exec(text.slice(0, 256)) : null
  if (match === null) return null
  const [lead = '', origin = '', kind = '', id = ''] = match
  const data = text.slice(lead.length)
  return {
    id: id === '' ? null : id,
    signature: kind === 's' ? data : null,
    sealed: kind === 'd' ? data : null,
    origin: origin as ConversationFormat,
  }
}
