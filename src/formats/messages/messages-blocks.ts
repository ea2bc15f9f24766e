import type { AnswerPart } from '../../canonical/text/answer.ts'
import { emptyPart } from '../../canonical/text/answer.ts'
import type { Annotation } from '../../canonical/text/conversation.ts'
import type { PartHead } from '../../canonical/text/events.ts'
import { isRecord } from '../chat/chat-media.ts'
import { stringOrNull } from '../chat/chat-answer.ts'

type Wire = Readonly<Record<string, unknown>>

/** What a block is. Kinds that this gateway does not know go back to a caller of the same format as they came. */
export function headOf(block: Wire): PartHead {
  switch (block['type']) {
    case 'text':
      return { type: 'text' }
    case 'thinking':
    case 'redacted_thinking':
      return { type: 'reasoning', id: null, origin: 'messages' }
    case 'tool_use':
      return {
        type: 'tool_call',
        id: stringOrNull(block['id']) ?? '',
        name: stringOrNull(block['name']) ?? '',
        kind: 'function',
      }
    default:
      return { type: 'opaque', format: 'messages', value: block }
  }
}

/** A whole block of an answer. */
export function readBlock(block: Wire): AnswerPart {
  const part = emptyPart(headOf(block))
  switch (block['type']) {
    case 'text':
      part.text = stringOrNull(block['text']) ?? ''
      part.annotations = readCitations(block['citations'])
      break
    case 'thinking':
      part.text = stringOrNull(block['thinking']) ?? ''
      part.signature = stringOrNull(block['signature'])
      break
    case 'redacted_thinking':
      part.sealed = stringOrNull(block['data'])
      break
    case 'tool_use':
      part.text = JSON.stringify(block['input'] ?? {})
      break
  }
  return part
}

function readCitations(wire: unknown): Annotation[] {
  return Array.isArray(wire) ? wire.filter(isRecord).map(readCitation) : []
}

/** A citation of any kind: of a page, a document or a search result. */
export function readCitation(wire: Wire): Annotation {
  return {
    url: stringOrNull(wire['url']) ?? stringOrNull(wire['source']),
    title: stringOrNull(wire['title']) ?? stringOrNull(wire['document_title']),
    citedText: stringOrNull(wire['cited_text']),
    start: null,
    end: null,
    extras: { messages: wire },
  }
}
