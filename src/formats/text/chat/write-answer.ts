import type { Answer, AnswerChoice, AnswerPart } from '../../../canonical/text/answer.ts'
import type { Annotation } from '../../../canonical/text/conversation.ts'
import type { PartHead } from '../../../canonical/text/events.ts'
import type { Asked, Settled } from '../halves.ts'
import { writeMediaUrl } from '../media/media-source.ts'
import { noArguments } from '../tools/tool-input.ts'
import { openAiTierOf } from '../../service-tier.ts'
import { explanationOf, hasRefusal } from '../finish-reason.ts'
import { isOlderCall, spokenOf } from './own-parts.ts'
import { writeDetails } from './reasoning.ts'
import { showMetadata } from '../shown-charge.ts'
import { writeLogprob } from '../logprobs.ts'

type Wire = Readonly<Record<string, unknown>>

/** A whole answer in the contract's form, whatever the provider's format. */
export function writeChatAnswer(answer: Answer, { context }: Asked, settled: Settled): string {
  const tier = openAiTierOf(settled.serviceTier)
  return JSON.stringify({
    id: context.generationId,
    object: 'chat.completion',
    created: context.created,
    model: context.model,
    provider: context.provider,
    system_fingerprint: null,
    ...(tier === null ? {} : { service_tier: tier }),
    choices: answer.choices.map(writeChoice),
    usage: settled.usage,
    ...showMetadata(settled.charge),
  })
}

function writeChoice({ parts, finish }: AnswerChoice, index: number): Record<string, unknown> {
  const logprobs = parts.flatMap((part) => (part.head.type === 'text' ? (part.logprobs ?? []) : []))
  return {
    index,
    message: writeMessage(parts, explanationOf(finish, hasRefusal(parts))),
    finish_reason: finish?.reason ?? null,
    native_finish_reason: finish?.native ?? null,
    logprobs: logprobs.length === 0 ? null : { content: logprobs.map(writeLogprob), refusal: null },
  }
}

function writeMessage(parts: readonly AnswerPart[], explanation: string | null): Record<string, unknown> {
  const texts = parts.filter(({ head }) => head.type === 'text' && spokenOf(head) === null)
  const spoken = parts.find(({ head }) => spokenOf(head) !== null)
  const refusal = joinedText(parts.filter(({ head }) => head.type === 'refusal'))
  const thoughts = parts.filter(({ head }) => head.type === 'reasoning')
  const calls = parts.filter(({ head }) => head.type === 'tool_call' && !isOlderCall(head))
  const older = parts.find(({ head }) => isOlderCall(head))
  const annotations = writeAnnotations(parts)
  const reasoning = thoughts.map(reasoningText).filter((text) => text !== '')
  const images = parts.flatMap(({ head }) => (head.type === 'image' ? [head] : []))
  return {
    role: 'assistant',
    content: texts.length === 0 ? null : joinedText(texts),
    refusal: refusal === '' ? explanation : refusal,
    ...(reasoning.length === 0 ? {} : { reasoning: reasoning.join('\n\n') }),
    ...(thoughts.length === 0 ? {} : { reasoning_details: thoughts.flatMap(writeDetails) }),
    ...(annotations.length === 0 ? {} : { annotations }),
    ...(images.length === 0
      ? {}
      : { images: images.map((image, index) => ({ index, ...writeImage(image) })) }),
    ...(calls.length === 0 ? {} : { tool_calls: calls.map(writeCall) }),
    ...(older === undefined ? {} : { function_call: calledOf(older) }),
    ...(spoken === undefined ? {} : { audio: { ...spokenOf(spoken.head), transcript: spoken.text } }),
  }
}

function joinedText(parts: readonly AnswerPart[]): string {
  return parts.map(({ text }) => text).join('')
}

/** The text of a thought, or its summary when it has no text. */
function reasoningText(part: AnswerPart): string {
  return part.text === '' ? part.summary.join('\n\n') : part.text
}

/** An image that a model made. */
export function writeImage({ mediaType, base64, extras }: Extract<PartHead, { type: 'image' }>): Wire {
  const url = writeMediaUrl({ kind: 'data', mediaType, base64 })
  return { type: 'image_url', image_url: { url }, ...extras?.chat }
}

function writeCall(part: AnswerPart, index: number): Wire {
  const { head, text } = part
  if (head.type !== 'tool_call') return {}
  const { id, name, kind, extras } = head
  const called = kind === 'custom' ? { custom: { name, input: text } } : { function: calledOf(part) }
  return { index, id, type: kind, ...called, ...extras?.chat }
}

function calledOf({ head, text }: AnswerPart): Wire {
  return { name: head.type === 'tool_call' ? head.name : '', arguments: text === '' ? noArguments : text }
}

/** Places count in the text of the message, which joins the texts of all its parts. */
function writeAnnotations(parts: readonly AnswerPart[]): Wire[] {
  let offset = 0
  return parts.flatMap(({ head, text, annotations }) => {
    if (head.type !== 'text') return []
    const before = offset
    offset += text.length
    return annotations.flatMap((annotation) => writeAnnotation(annotation, before))
  })
}

/** A citation, with `offset` characters before its text. The format cannot cite a source without a URL. */
export function writeAnnotation(annotation: Annotation, offset = 0): Wire[] {
  const { url, title, citedText, start, end } = annotation
  if (url === null) return []
  return [
    {
      type: 'url_citation',
      url_citation: {
        url,
        title: title ?? url,
        start_index: start === null ? 0 : start + offset,
        end_index: end === null ? 0 : end + offset,
        ...(citedText === null ? {} : { content: citedText }),
      },
    },
  ]
}
