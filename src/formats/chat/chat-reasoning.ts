import type { AnswerPart } from '../../canonical/text/answer.ts'
import type { ConversationFormat, ReasoningPart } from '../../canonical/text/conversation.ts'
import { isRecord } from './chat-media.ts'
import { textOrNull } from '../wire-values.ts'

type Wire = Readonly<Record<string, unknown>>

/** The contract's names for who made a thought. */
const formatNames: Readonly<Record<ConversationFormat, string>> = {
  messages: 'anthropic-claude-v1',
  responses: 'openai-responses-v1',
  gemini: 'google-gemini-v1',
  chat: 'unknown',
}

/** Where a thought of this format goes back to. Those of other hosts with OpenAI's format are sealed in the same way. */
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

/** Clients that collect a stream's pieces give them back one by one: those of one thought belong together. */
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
  return {
    ...open,
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
      return { ...base, text: textOrNull(detail['text']), signature: textOrNull(detail['signature']) }
    case 'reasoning.summary':
      return { ...base, summary: [textOrNull(detail['summary']) ?? ''] }
    case 'reasoning.encrypted':
      return { ...base, sealed: textOrNull(detail['data']) }
    default:
      return null
  }
}

/** A thought as the contract shows it. */
export function writeDetails(part: AnswerPart, index: number): Record<string, unknown>[] {
  const { head } = part
  if (head.type !== 'reasoning') return []
  const base = detailBase(head.id, head.origin, index)
  const details: Record<string, unknown>[] = []
  const summary = part.summary.join('\n\n')
  if (summary !== '') details.push({ type: 'reasoning.summary', summary, ...base })
  if (part.text !== '' || part.signature !== null)
    details.push({ type: 'reasoning.text', text: part.text, signature: part.signature, ...base })
  if (part.sealed !== null) details.push({ type: 'reasoning.encrypted', data: part.sealed, ...base })
  return details
}

/** The members that every piece of one thought carries. */
export function detailBase(
  id: string | null,
  origin: ConversationFormat | null,
  index: number,
): Record<string, unknown> {
  return { id, format: origin === null ? 'unknown' : formatNames[origin], index }
}
