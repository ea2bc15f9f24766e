import type { ConversationFormat, ReasoningPart } from '../../../canonical/text/conversation.ts'
import { leanHeadBytesMax } from '../../../core/limits/text.ts'
import type { Piece } from '../../../canonical/text/events.ts'

/** How every text begins that this gateway sealed. */
export const sealedPrefix = 'hr1.'
const pattern = /^hr1\.(chat|responses|messages|gemini)(?:@([a-z0-9~_-]{1,64}))?\.([sdt])\.([^.]{0,200})\./

/** What binds a thought to its provider. */
export type Bound = Pick<ReasoningPart, 'id' | 'signature' | 'sealed' | 'origin' | 'sealer'>

/** What was sealed, and the words that a signature was made for where they were sealed with it. */
export type Opened = Bound & Pick<ReasoningPart, 'text'>

/**
 * One text that a client of any format keeps and gives back: `hr1.<origin>@<sealer>.<kind>.<id>.<data>`, without the
 * sealer where that is the maker of the format. The kind is `d` for sealed data, `s` for a signature, `t` for the signed
 * words as base64url, a point and their signature: a client may keep this text and not the words, without which a
 * signature is worth nothing. Null for a thought that nothing binds.
 */
export function sealReasoning({ id, signature, sealed, origin, sealer }: Bound, words = ''): string | null {
  const data = sealed ?? signature
  if (data === null || data === '' || origin === null) return null
  // A point ends a field, and a slug may have one.
  const by = sealer === undefined ? '' : `@${sealer.replaceAll('.', '~')}`
  const lead = `${sealedPrefix}${origin}${by}`
  if (sealed !== null) return `${lead}.d.${id ?? ''}.${data}`
  if (words === '') return `${lead}.s.${id ?? ''}.${data}`
  return `${lead}.t.${id ?? ''}.${Buffer.from(words).toString('base64url')}.${data}`
}

/** What a caller of this format is told of a seal: itself, where it is of the maker of the format, else an envelope. */
export function showSeal(bound: Bound, format: ConversationFormat | null, words = ''): string | null {
  const isMakers = bound.origin === format && bound.sealer === undefined
  return isMakers ? (bound.sealed ?? bound.signature) : sealReasoning(bound, words)
}

/** What a client gave back; null for what this gateway did not seal. */
export function openReasoning(text: string): Opened | null {
  const match = text.startsWith(sealedPrefix) ? pattern.exec(text.slice(0, leanHeadBytesMax)) : null
  if (match === null) return null
  const [lead = '', origin = '', sealer, kind = '', id = ''] = match
  const rest = text.slice(lead.length)
  const wordsLength = kind === 't' ? rest.indexOf('.') : -1
  const data = rest.slice(wordsLength + 1)
  return {
    id: id === '' ? null : id,
    signature: kind === 'd' ? null : data,
    sealed: kind === 'd' ? data : null,
    text: wordsLength < 0 ? null : Buffer.from(rest.slice(0, wordsLength), 'base64url').toString(),
    origin: origin as ConversationFormat,
    ...(sealer === undefined ? {} : { sealer: sealer.replaceAll('~', '.') }),
  }
}

/** Puts an empty line between the paragraphs of a summary that come piece by piece, as a whole one has it. */
export class SummaryParagraphs {
  #last: number | null = null

  /** What follows of the same thought's summary. */
  next({ index, text }: Extract<Piece, { type: 'summary' }>): string {
    const lead = this.#last === null || this.#last === index ? '' : '\n\n'
    this.#last = index
    return lead + text
  }
}
