import type { ConversationFormat, ReasoningPart } from '../../../canonical/text/conversation.ts'
import { leanHeadBytesMax } from '../../../core/limits/text.ts'
import type { Piece } from '../../../canonical/text/events.ts'

/** The beginning of every text that this gateway sealed. */
export const sealedPrefix = 'hr1.'
const pattern =
  /^hr1\.(chat|responses|messages|gemini|converse|cohere)(?:@([a-z0-9~_-]{1,64}))?\.([sdt])\.([^.]{0,200})\./

/** The seal of a thought and the provider it belongs to. */
export type Bound = Pick<ReasoningPart, 'id' | 'signature' | 'sealed' | 'origin' | 'sealer'>

/** A seal that was opened, and the signed text if it was sealed too. */
export type Opened = Bound & Pick<ReasoningPart, 'text'>

/**
 * One text that a client of any format keeps and sends back: `hr1.<origin>@<sealer>.<kind>.<id>.<data>`, without the
 * sealer when it is the maker of the format. The kind is `d` for sealed data, `s` for a signature, and `t` for the
 * signed text as base64url, a point and its signature. Kind `t` exists because a client may keep this text and lose the
 * thought's own text, without which the signature is worthless. Null for a thought without a seal.
 */
export function sealReasoning({ id, signature, sealed, origin, sealer }: Bound, words = ''): string | null {
  const data = sealed ?? signature
  if (data === null || data === '' || origin === null) return null
  // A point ends a field, and a slug may contain one.
  const by = sealer === undefined ? '' : `@${sealer.replaceAll('.', '~')}`
  const lead = `${sealedPrefix}${origin}${by}`
  if (sealed !== null) return `${lead}.d.${id ?? ''}.${data}`
  if (words === '') return `${lead}.s.${id ?? ''}.${data}`
  return `${lead}.t.${id ?? ''}.${Buffer.from(words).toString('base64url')}.${data}`
}

/**
 * Kind `t` without a signature: the words of a thought that only has words, for a caller that wants to see none of them
 * and gives the thought back. They go back as words, so the envelope names no sealer.
 */
export function sealWords(words: string): string {
  return `${sealedPrefix}chat.t..${Buffer.from(words).toString('base64url')}.`
}

/**
 * The seal that a caller of this format sees: the seal itself when the format's maker sealed it, otherwise an envelope.
 */
export function showSeal(bound: Bound, format: ConversationFormat | null, words = ''): string | null {
  const isMakers = bound.origin === format && bound.sealer === undefined
  return isMakers ? (bound.sealed ?? bound.signature) : sealReasoning(bound, words)
}

/** Opens a text that a client sent back; null when this gateway did not seal it. */
export function openReasoning(text: string): Opened | null {
  const match = text.startsWith(sealedPrefix) ? pattern.exec(text.slice(0, leanHeadBytesMax)) : null
  if (match === null) return null
  const [lead = '', origin = '', sealer, kind = '', id = ''] = match
  const rest = text.slice(lead.length)
  const wordsLength = kind === 't' ? rest.indexOf('.') : -1
  const data = rest.slice(wordsLength + 1)
  return {
    id: id === '' ? null : id,
    signature: kind === 'd' || data === '' ? null : data,
    sealed: kind === 'd' ? data : null,
    text: wordsLength < 0 ? null : Buffer.from(rest.slice(0, wordsLength), 'base64url').toString(),
    origin: origin as ConversationFormat,
    ...(sealer === undefined ? {} : { sealer: sealer.replaceAll('~', '.') }),
  }
}

/** Puts an empty line between the paragraphs of a summary that arrives in pieces, as a whole summary has. */
export class SummaryParagraphs {
  #last: number | null = null

  /** The next text of the summary. */
  next({ index, text }: Extract<Piece, { type: 'summary' }>): string {
    const lead = this.#last === null || this.#last === index ? '' : '\n\n'
    this.#last = index
    return lead + text
  }
}
