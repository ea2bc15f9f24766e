import { type AnswerPart, emptyPart } from '../../../canonical/text/answer.ts'
import type { Annotation } from '../../../canonical/text/conversation.ts'
import type { PartHead } from '../../../canonical/text/events.ts'
import { filledTextOrNull, isRecord } from '../../../json/values.ts'

type Wire = Readonly<Record<string, unknown>>

/** The head of a call of a tool. */
export function callHeadOf(call: Wire): PartHead {
  return {
    type: 'tool_call',
    id: filledTextOrNull(call['toolUseId']) ?? '',
    name: filledTextOrNull(call['name']) ?? '',
    kind: 'function',
  }
}

/** The head of a thought, which goes back only to this format. */
export const thoughtHead: PartHead = Object.freeze({ type: 'reasoning', id: null, origin: 'converse' })

/** Reads a whole block of an answer: a union, of which one member is set. */
export function readBlock(block: Wire): AnswerPart {
  const { text, toolUse, reasoningContent, citationsContent, image } = block
  if (typeof text === 'string') return { ...emptyPart({ type: 'text' }), text }
  if (isRecord(toolUse))
    return { ...emptyPart(callHeadOf(toolUse)), text: JSON.stringify(toolUse['input'] ?? {}) }
  if (isRecord(reasoningContent)) return readThought(reasoningContent)
  if (isRecord(citationsContent)) return readCited(citationsContent)
  const picture = isRecord(image) ? readPicture(image) : null
  return emptyPart(picture ?? { type: 'opaque', format: 'converse', value: block })
}

function readThought(thought: Wire): AnswerPart {
  const part = emptyPart(thoughtHead)
  const { reasoningText, redactedContent } = thought
  if (isRecord(reasoningText)) {
    part.text = filledTextOrNull(reasoningText['text']) ?? ''
    part.signature = filledTextOrNull(reasoningText['signature'])
  }
  part.sealed = filledTextOrNull(redactedContent)
  return part
}

function readCited(cited: Wire): AnswerPart {
  const { content, citations } = cited
  const texts = Array.isArray(content) ? content.filter(isRecord) : []
  const text = texts.map((each) => filledTextOrNull(each['text']) ?? '').join('')
  const annotations = Array.isArray(citations) ? citations.filter(isRecord).map(readCitation) : []
  return { ...emptyPart({ type: 'text' }), text, annotations }
}

/** A citation of a place in a document, or of a page. */
export function readCitation(wire: Wire): Annotation {
  const location = isRecord(wire['location']) ? wire['location'] : {}
  const web = isRecord(location['web']) ? location['web'] : {}
  const quoted = Array.isArray(wire['sourceContent']) ? wire['sourceContent'].filter(isRecord) : []
  const citedText = quoted.map((each) => filledTextOrNull(each['text']) ?? '').join('')
  return {
    url: filledTextOrNull(web['url']) ?? filledTextOrNull(wire['source']),
    title: filledTextOrNull(wire['title']),
    citedText: citedText === '' ? null : citedText,
    start: null,
    end: null,
    extras: { converse: wire },
  }
}

function readPicture(image: Wire): PartHead | null {
  const { format, source } = image
  const base64 = isRecord(source) ? filledTextOrNull(source['bytes']) : null
  if (typeof format !== 'string' || base64 === null) return null
  return { type: 'image', mediaType: `image/${format}`, base64 }
}
