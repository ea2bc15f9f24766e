import type { AnswerPart } from '../../../canonical/text/answer.ts'
import type { ConversationFormat, ReasoningPart } from '../../../canonical/text/conversation.ts'
import { isRecord, textOrNull } from '../../../json/values.ts'
import { openReasoning, showSeal } from '../thoughts/reasoning-envelope.ts'

type Wire = Readonly<Record<string, unknown>>

/** The contract's names for the format in which a thought was made. */
const formatNames: Readonly<Record<ConversationFormat, string>> = {
  messages: 'anthropic-claude-v1',
  responses: 'openai-responses-v1',
  gemini: 'google-gemini-v1',
  chat: 'unknown',
  converse: 'unknown',
  cohere: 'unknown',
}

/**
 * The format whose providers a thought can go back to. Thoughts of other hosts with OpenAI's format are sealed in the
 * same way.
 */
export function originOf(format: unknown): ConversationFormat | null {
  if (typeof format !== 'string') return null
  if (format.endsWith('openai-responses-v1')) return 'responses'
  const found = Object.entries(formatNames).find(([, name]) => name === format)
  return found ? (found[0] as ConversationFormat) : null
}

/** An assistant's earlier thoughts, in the order in which they were shown. */
export function readReasoning(message: Wire): ReasoningPart[] {
  const details = message['reasoning_details']
  if (Array.isArray(details) && details.length > 0) return joinDetails(details.filter(isRecord))
  const text = message['reasoning'] ?? message['reasoning_content']
  if (typeof text !== 'string' || text === '') return []
  return [{ ...emptyReasoning, text, origin: 'chat' }]
}

const emptyReasoning: ReasoningPart = {
  type: 'reasoning',
  id: null,
  text: null,
  summary: null,
  signature: null,
  sealed: null,
  origin: null,
}

/** Clients that collect a stream send its pieces back one by one, so the pieces of one thought are joined. */
function joinDetails(details: readonly Wire[]): ReasoningPart[] {
  const parts: ReasoningPart[] = []
  let last: Wire | null = null
  for (const detail of details) {
    const part = readDetail(detail)
    if (part === null) continue
    const open = parts.at(-1)
    if (open !== undefined && last !== null && belongsTo(open, part, last, detail)) {
      parts[parts.length - 1] = joined(open, part)
    } else parts.push(part)
    last = detail
  }
  return parts
}

function belongsTo(open: ReasoningPart, part: ReasoningPart, last: Wire, detail: Wire): boolean {
  if (open.origin !== part.origin || open.signature !== null) return false
  if (last['index'] !== undefined || detail['index'] !== undefined) return last['index'] === detail['index']
  if (open.id !== null && open.id === part.id) return true
  return (
    open.sealed === null && part.sealed === null && part.id === open.id && detail['type'] === last['type']
  )
}

function joined(open: ReasoningPart, part: ReasoningPart): ReasoningPart {
  const { sealer = open.sealer } = part
  return {
    ...open,
    ...(sealer === undefined ? {} : { sealer }),
    id: open.id ?? part.id,
    text: open.text === null && part.text === null ? null : `${open.text ?? ''}${part.text ?? ''}`,
    summary: open.summary === null && part.summary === null ? null : joinSummaries(open, part),
    signature: part.signature ?? open.signature,
    sealed: part.sealed ?? open.sealed,
  }
}

function joinSummaries(open: ReasoningPart, part: ReasoningPart): string[] {
  return [[...(open.summary ?? []), ...(part.summary ?? [])].join('')]
}

function readDetail(detail: Wire): ReasoningPart | null {
  const base: ReasoningPart = {
    ...emptyReasoning,
    id: textOrNull(detail['id']),
    origin: originOf(detail['format']),
  }
  switch (detail['type']) {
    case 'reasoning.text':
      return {
        ...base,
        text: textOrNull(detail['text']),
        ...readSeal(detail['signature'], 'signature', base),
      }
    case 'reasoning.summary':
      return { ...base, summary: [textOrNull(detail['summary']) ?? ''] }
    case 'reasoning.encrypted':
      return { ...base, ...readSeal(detail['data'], 'sealed', base) }
    default:
      return null
  }
}

/**
 * A seal, by the member that holds it. The seal of a host other than the format's maker is in an envelope that names
 * the host.
 */
function readSeal(
  wire: unknown,
  member: 'signature' | 'sealed',
  { id, origin }: ReasoningPart,
): Partial<ReasoningPart> {
  const text = textOrNull(wire)
  const opened = text === null ? null : openReasoning(text)
  if (opened === null) return { [member]: text }
  const { text: _words, ...bound } = opened
  return { ...bound, id: id ?? bound.id, origin: bound.origin ?? origin }
}

/** A thought as the contract shows it. */
export function writeDetails(part: AnswerPart, index: number): Record<string, unknown>[] {
  const { head } = part
  if (head.type !== 'reasoning') return []
  const base = detailBase(head.id, head.origin, index)
  const details: Record<string, unknown>[] = []
  const summary = part.summary.join('\n\n')
  const signature = showDetailSeal(head, { signature: part.signature, sealed: null })
  const data = showDetailSeal(head, { signature: null, sealed: part.sealed })
  if (summary !== '') details.push({ type: 'reasoning.summary', summary, ...base })
  if (part.text !== '' || signature !== null)
    details.push({ type: 'reasoning.text', text: part.text, signature, ...base })
  if (data !== null) details.push({ type: 'reasoning.encrypted', data, ...base })
  return details
}

/** The seal as a detail shows it. A seal of the format's maker goes back unchanged. */
export function showDetailSeal(
  head: Pick<ReasoningPart, 'id' | 'origin' | 'sealer'>,
  seal: Pick<ReasoningPart, 'signature' | 'sealed'>,
): string | null {
  return showSeal({ ...head, ...seal }, head.origin)
}

/** The members that every piece of one thought carries. */
export function detailBase(
  id: string | null,
  origin: ConversationFormat | null,
  index: number,
): Record<string, unknown> {
  return { id, format: origin === null ? 'unknown' : formatNames[origin], index }
}
