import { type Answer, type AnswerPart, emptyPart } from '../../../canonical/text/answer.ts'
import type { Annotation } from '../../../canonical/text/conversation.ts'
import type { Finish, PartHead } from '../../../canonical/text/events.ts'
import { answerPartsMax } from '../../../core/limits/text.ts'
import { filledTextOrNull, isRecord, parseExactly, tokenCountOrNull } from '../../../json/values.ts'
import { parseAnswer, unreadable } from '../../upstream-json.ts'
import { toFinishReason } from '../finish-reason.ts'
import { readCohereUsage } from './usage.ts'

type Wire = Readonly<Record<string, unknown>>

/** The head of thoughts, and of the plan before calls: plain words, without a seal. */
export const thoughtHead: PartHead = Object.freeze({ type: 'reasoning', id: null, origin: null })

/** Reads a whole answer. Throws `provider_failed` when the body is none. */
export function readCohereAnswer(bytes: Uint8Array): Answer {
  const wire = parseAnswer(bytes, parseExactly)
  const { message } = wire
  if (!isRecord(message)) throw unreadable('it has no message')
  const parts = partsOf(message)
  if (parts.length > answerPartsMax) throw unreadable(`it has more than ${answerPartsMax} parts`)
  return {
    upstreamId: filledTextOrNull(wire['id']),
    upstreamModel: null,
    choices: [
      {
        parts,
        finish: readFinish(
          wire,
          parts.some(({ head }) => head.type === 'tool_call'),
        ),
      },
    ],
    usage: readCohereUsage(wire['usage']),
  }
}

function partsOf(message: Wire): AnswerPart[] {
  const { content, tool_plan: plan, tool_calls: calls, citations } = message
  const blocks = Array.isArray(content) ? content.filter(isRecord) : []
  const cited = Array.isArray(citations) ? citations.filter(isRecord) : []
  const parts = blocks.map((block, index) =>
    readBlock(
      block,
      cited.filter((each) => contentIndexOf(each) === index),
    ),
  )
  if (typeof plan === 'string' && plan !== '') parts.push({ ...emptyPart(thoughtHead), text: plan })
  for (const call of Array.isArray(calls) ? calls.filter(isRecord) : [])
    parts.push({ ...emptyPart(callHeadOf(call)), text: argumentsOf(call) })
  return parts
}

function readBlock(block: Wire, cited: readonly Wire[]): AnswerPart {
  if (block['type'] === 'thinking')
    return { ...emptyPart(thoughtHead), text: filledTextOrNull(block['thinking']) ?? '' }
  if (block['type'] !== 'text') return emptyPart({ type: 'opaque', format: 'cohere', value: block })
  return {
    ...emptyPart({ type: 'text' }),
    text: filledTextOrNull(block['text']) ?? '',
    annotations: cited.map(readCitation),
  }
}

/** The head of a call of a tool. */
export function callHeadOf(call: Wire): PartHead {
  return {
    type: 'tool_call',
    id: filledTextOrNull(call['id']) ?? '',
    name: filledTextOrNull(functionOf(call)['name']) ?? '',
    kind: 'function',
  }
}

/** The arguments of a call, as far as they are here. */
export function argumentsOf(call: Wire): string {
  const given = functionOf(call)['arguments']
  return typeof given === 'string' ? given : ''
}

function functionOf(call: Wire): Wire {
  return isRecord(call['function']) ? call['function'] : {}
}

function contentIndexOf(citation: Wire): number {
  return tokenCountOrNull(citation['content_index']) ?? 0
}

/** A citation of the result of a tool, or of a document. */
export function readCitation(wire: Wire): Annotation {
  const sources = Array.isArray(wire['sources']) ? wire['sources'].filter(isRecord) : []
  const [source = {}] = sources
  const document = isRecord(source['document']) ? source['document'] : {}
  return {
    url: filledTextOrNull(document['url']),
    title: filledTextOrNull(document['title']) ?? filledTextOrNull(source['id']),
    citedText: filledTextOrNull(wire['text']),
    start: tokenCountOrNull(wire['start']),
    end: tokenCountOrNull(wire['end']),
    extras: { cohere: wire },
  }
}

/** Why the model stopped; null while it goes on. */
export function readFinish(wire: Wire, sawToolCalls: boolean): Finish | null {
  const native = filledTextOrNull(wire['finish_reason'])
  if (native === null) return null
  return { reason: toFinishReason(native, sawToolCalls), native, stopSequence: null, refusal: null }
}
