import type { ConversationFormat, ReasoningPart } from '../canonical/text/conversation.ts'

/** How every text begins that this gateway sealed. */
export const sealedPrefix = 'hr1.'
const pattern = /^hr1\.(chat|responses|messages|gemini)\.([sdt])\.([^.]{0,200})\./

/** What binds a thought to its provider. */
export type Bound = Pick<ReasoningPart, 'id' | 'signature' | 'sealed' | 'origin'>

/** What was sealed, and the words that a signature was made for where they were sealed with it. */
export type Opened = Bound & Pick<ReasoningPart, 'text'>

/**
 * One text that a client of any format keeps and gives back: `hr1.<origin>.<kind>.<id>.<data>`. The kind is `d` for sealed
 * data, `s` for a signature, `t` for the signed words as base64url, a point and their signature: a client may keep this
 * text and not the words, without which a signature is worth nothing. Null for a thought that nothing binds.
 */
export function sealReasoning({ id, signature, sealed, origin }: Bound, words = ''): string | null {
  const data = sealed ?? signature
  if (data === null || origin === null) return null
  const lead = `${sealedPrefix}${origin}`
  if (sealed !== null) return `${lead}.d.${id ?? ''}.${data}`
  if (words === '') return `${lead}.s.${id ?? ''}.${data}`
  return `${lead}.t.${id ?? ''}.${Buffer.from(words).toString('base64url')}.${data}`
}

/** What a client gave back; null for what this gateway did not seal. */
export function openReasoning(text: string): Opened | null {
  const match = text.startsWith(sealedPrefix) ? pattern.exec(text.slice(0, 256)) : null
  if (match === null) return null
  const [lead = '', origin = '', kind = '', id = ''] = match
  const rest = text.slice(lead.length)
  const wordsLength = kind === 't' ? rest.indexOf('.') : -1
  const data = rest.slice(wordsLength + 1)
  return {
    id: id === '' ? null : id,
    signature: kind === 'd' ? null : data,
    sealed: kind === 'd' ? data : null,
    text: wordsLength < 0 ? null : Buffer.from(rest.slice(0, wordsLength), 'base64url').toString(),
    origin: origin as ConversationFormat,
  }
}
