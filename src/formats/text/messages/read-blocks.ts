import { type AnswerPart, emptyPart } from '../../../canonical/text/answer.ts'
import type { Annotation, Extras } from '../../../canonical/text/conversation.ts'
import type { PartHead } from '../../../canonical/text/events.ts'
import { filledTextOrNull, isRecord } from '../../../json/values.ts'

type Wire = Readonly<Record<string, unknown>>

/** The members of each type of block that a part has a place for. */
const partMembers: Readonly<Record<string, ReadonlySet<string>>> = {
  text: new Set(['type', 'text', 'citations']),
  thinking: new Set(['type', 'thinking', 'signature']),
  redacted_thinking: new Set(['type', 'data']),
  tool_use: new Set(['type', 'id', 'name', 'input']),
}

/**
 * The head of the part that a block becomes. A block of unknown type goes back unchanged to callers of the same format.
 */
export function headOf(block: Wire): PartHead {
  const { type } = block
  switch (type) {
    case 'text':
      return { type, ...extrasOf(block, type) }
    case 'thinking':
    case 'redacted_thinking':
      return { type: 'reasoning', id: null, origin: 'messages', ...extrasOf(block, type) }
    case 'tool_use':
      return {
        type: 'tool_call',
        id: filledTextOrNull(block['id']) ?? '',
        name: filledTextOrNull(block['name']) ?? '',
        kind: 'function',
        ...extrasOf(block, type),
      }
    default:
      return { type: 'opaque', format: 'messages', value: block }
  }
}

/** The other members, which no other format shows; empty for nearly every block. */
function extrasOf(block: Wire, type: keyof typeof partMembers): { extras?: Extras } {
  const rest = Object.entries(block).filter(
    ([name, value]) => value !== null && !partMembers[type]?.has(name),
  )
  return rest.length === 0 ? {} : { extras: { messages: Object.fromEntries(rest) } }
}

/** Reads a whole block of an answer. */
export function readBlock(block: Wire): AnswerPart {
  const part = emptyPart(headOf(block))
  switch (block['type']) {
    case 'text':
      part.text = filledTextOrNull(block['text']) ?? ''
      part.annotations = readCitations(block['citations'])
      break
    case 'thinking':
      part.text = filledTextOrNull(block['thinking']) ?? ''
      part.signature = filledTextOrNull(block['signature'])
      break
    case 'redacted_thinking':
      part.sealed = filledTextOrNull(block['data'])
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

/** A citation of any type: of a page, a document or a search result. */
export function readCitation(wire: Wire): Annotation {
  return {
    url: filledTextOrNull(wire['url']) ?? filledTextOrNull(wire['source']),
    title: filledTextOrNull(wire['title']) ?? filledTextOrNull(wire['document_title']),
    citedText: filledTextOrNull(wire['cited_text']),
    start: null,
    end: null,
    extras: { messages: wire },
  }
}
