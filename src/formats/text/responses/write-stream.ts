import { type AnswerPart, emptyPart } from '../../../canonical/text/answer.ts'
import type { Finish, PartHead, Piece, TextEvent } from '../../../canonical/text/events.ts'
import type { GatewayError } from '../../../core/errors.ts'
import { writeDebug } from '../../debug-options.ts'
import { noArguments } from '../tools/tool-input.ts'
import { showMetadata } from '../shown-charge.ts'
import type { Asked, StreamEnd, StreamWriter } from '../halves.ts'
import { explanationOf } from '../finish-reason.ts'
import { StreamBeginning } from '../streams/stream-beginning.ts'
import { writeResponsesError } from './errors.ts'
import {
  callItem,
  emptyResponse,
  itemId,
  type ItemsOf,
  messageItem,
  reasoningItem,
  writeAnnotation,
  writeContent,
  writeItem,
  writeLogprobs,
  writeStatus,
} from './write-answer.ts'
import { openAiTierOf } from '../../service-tier.ts'
import { readNamespacedNames } from './tool-namespaces.ts'

type Wire = Record<string, unknown>

/** Writes a stream of typed events, whatever the provider's format. */
export function createResponsesWriter(asked: Asked): StreamWriter {
  return new ResponsesWriter(asked)
}

/** The open part with all its pieces: the event of its end has it whole. */
interface OpenPart {
  part: AnswerPart
  id: string
  /** The open paragraph of the item's summary; -1 for none. */
  summaryIndex: number
  hasText: boolean
}

class ResponsesWriter implements StreamWriter {
  readonly #asked: Asked
  readonly #response: Wire
  readonly #itemsOf: ItemsOf
  /** Complete items; the last event repeats all of them. */
  readonly #output: Wire[] = []
  #sequence = 0
  readonly #beginning = new StreamBeginning(() => this.#start())
  #hasRefusal = false
  #message: { id: string; content: Wire[] } | null = null
  #open: OpenPart | null = null
  #part = 0
  /** Members that came too late for the format; the metadata names them. */
  readonly #lost = new Set<string>()

  constructor(asked: Asked) {
    this.#asked = asked
    this.#response = emptyResponse(asked)
    const names = readNamespacedNames(this.#response['tools'])
    this.#itemsOf = { generationId: asked.context.generationId, names }
  }

  write(event: TextEvent): string {
    if (event.type === 'begin') return ''
    this.#beginning.prepare()
    return this.#beginning.before(this.#show(event))
  }

  writeEnd({ finishes, usage, charge, serviceTier }: StreamEnd): string {
    const finish = finishes.find(({ choice }) => choice === 0) ?? null
    const rest = `${this.#beginning.take()}${this.#end()}${this.#explain(finish)}${this.#closeMessage()}`
    const status = writeStatus(finish)
    const response = {
      ...this.#response,
      ...status,
      completed_at: this.#asked.context.created,
      output: this.#output,
      service_tier: openAiTierOf(serviceTier) ?? 'default',
      usage,
      ...showMetadata(charge, [...this.#lost]),
    }
    return `${rest}${this.#event(`response.${String(status['status'])}`, { response })}`
  }

  writeError(error: GatewayError): string {
    const begun = this.#beginning.take()
    const told = writeResponsesError(error)
    // Some clients raise the error of this event, others the error of the failed response.
    const raised = this.#event('error', { ...told, param: error.param })
    const output = [...this.#output, ...this.#unfinished()]
    const response = { ...this.#response, status: 'failed', error: told, output }
    return `${begun}${raised}${this.#event('response.failed', { response, error_type: error.contractType })}`
  }

  /** The item that was open when the stream broke off, with its shown text. */
  #unfinished(): Wire[] {
    const open = this.#open
    if (this.#message !== null) {
      const begun = open === null ? null : writeContent(open.part)
      const content = [...this.#message.content, ...(begun === null ? [] : [begun])]
      return [messageItem(this.#message.id, 'incomplete', content)]
    }
    if (open === null) return []
    const { head, text } = open.part
    const index = this.#output.length
    if (head.type === 'tool_call')
      return [callItem(head, { ...this.#itemsOf, index, text, status: 'incomplete' })]
    const item = reasoningItem(open.part, this.#asked.context.generationId, index)
    return item === null ? [] : [{ ...item, status: 'incomplete' }]
  }

  /** Shows the explanation of a refusal when no part has it. */
  #explain(finish: Finish | null): string {
    const text = explanationOf(finish, this.#hasRefusal)
    if (text === null) return ''
    return this.#begin({ type: 'refusal' }) + this.#piece({ type: 'text', text }) + this.#end()
  }

  #show(event: TextEvent): string {
    // The format has only one choice.
    if (!('choice' in event) || event.choice !== 0) return ''
    if (event.type === 'part_begin') {
      this.#part = event.part
      return this.#begin(event.head)
    }
    if (event.type === 'piece') {
      const isOpen = this.#open !== null && event.part === this.#part
      return isOpen ? this.#piece(event.piece) : this.#lose(event.piece)
    }
    return event.type === 'part_end' ? this.#end() : ''
  }

  #start(): string {
    const response = this.#response
    const begun =
      this.#event('response.created', { response }) + this.#event('response.in_progress', { response })
    const debug = this.#asked.context.debug?.() ?? []
    return begun + debug.map((shown) => this.#event('response.debug', { debug: writeDebug(shown) })).join('')
  }

  #begin(head: PartHead): string {
    const ended = this.#end()
    this.#hasRefusal ||= head.type === 'refusal'
    if (head.type === 'text' || head.type === 'refusal') return ended + this.#beginContent(head)
    const closed = ended + this.#closeMessage()
    const index = this.#output.length
    const { generationId } = this.#asked.context
    const part = emptyPart(head)
    switch (head.type) {
      case 'tool_call': {
        const item = callItem(head, { ...this.#itemsOf, index, text: '', status: 'in_progress' })
        this.#open = { part, id: String(item['id']), summaryIndex: -1, hasText: false }
        return closed + this.#event('response.output_item.added', { output_index: index, item })
      }
      case 'reasoning': {
        const id = head.id ?? itemId('rs', generationId, index)
        this.#open = { part, id, summaryIndex: -1, hasText: false }
        const item = { id, type: 'reasoning', summary: [] }
        return closed + this.#event('response.output_item.added', { output_index: index, item })
      }
      default:
        return closed + this.#whole(part)
    }
  }

  #beginContent(head: PartHead): string {
    let added = ''
    if (this.#message === null) {
      const id = itemId('msg', this.#asked.context.generationId, this.#output.length)
      this.#message = { id, content: [] }
      const item = messageItem(id, 'in_progress', [])
      added = this.#event('response.output_item.added', { output_index: this.#output.length, item })
    }
    const part = emptyPart(head)
    this.#open = { part, id: this.#message.id, summaryIndex: -1, hasText: false }
    return added + this.#event('response.content_part.added', { ...this.#place(), part: writeContent(part) })
  }

  /** A text that has ended takes no more citations. */
  #lose(piece: Piece): string {
    if (piece.type === 'annotation') this.#lost.add('output[].content[].annotations')
    return ''
  }

  /** Shows an item that comes whole. */
  #whole(part: AnswerPart): string {
    const item = writeItem(part, this.#itemsOf, this.#output.length)
    if (item === null) return ''
    const place = { output_index: this.#output.length }
    // The first event omits the data of a picture, which may be megabytes; the last one has it.
    const added = part.head.type === 'image' ? { ...item, status: 'in_progress', result: null } : item
    this.#output.push(item)
    return (
      this.#event('response.output_item.added', { ...place, item: added }) +
      this.#event('response.output_item.done', { ...place, item })
    )
  }

  #piece(piece: Piece): string {
    const open = this.#open
    if (open === null) return ''
    const { part } = open
    switch (piece.type) {
      case 'text':
        part.text += piece.text
        return this.#text(open, piece.text)
      case 'arguments': {
        part.text += piece.text
        const isCustom = part.head.type === 'tool_call' && part.head.kind === 'custom'
        const name = isCustom ? 'custom_tool_call_input' : 'function_call_arguments'
        return this.#event(`response.${name}.delta`, { ...this.#item(open), delta: piece.text })
      }
      case 'summary':
        return this.#summary(open, piece)
      case 'annotation': {
        const written = writeAnnotation(piece.annotation)
        part.annotations.push(piece.annotation)
        const annotationIndex = part.annotations.length - 1
        return written
          .map((annotation) =>
            this.#event('response.output_text.annotation.added', {
              ...this.#place(),
              annotation_index: annotationIndex,
              annotation,
            }),
          )
          .join('')
      }
      case 'logprobs':
        part.logprobs ??= []
        for (const token of piece.tokens) part.logprobs.push(token)
        return this.#event('response.output_text.delta', {
          ...this.#place(),
          delta: '',
          logprobs: piece.tokens.map(writeLogprobs),
        })
      case 'signature':
        part.signature = piece.signature
        return ''
      case 'sealed':
        part.sealed = piece.data
        return ''
    }
  }

  #text(open: OpenPart, text: string): string {
    const { head } = open.part
    if (head.type === 'refusal')
      return this.#event('response.refusal.delta', { ...this.#place(), delta: text })
    if (head.type === 'text')
      return this.#event('response.output_text.delta', { ...this.#place(), delta: text, logprobs: [] })
    if (head.type !== 'reasoning') return ''
    const place = { ...this.#item(open), content_index: 0 }
    const added = open.hasText
      ? ''
      : this.#event('response.content_part.added', { ...place, part: { type: 'reasoning_text', text: '' } })
    open.hasText = true
    return added + this.#event('response.reasoning_text.delta', { ...place, delta: text })
  }

  #summary(open: OpenPart, { index, text }: Extract<Piece, { type: 'summary' }>): string {
    let opened = ''
    if (open.summaryIndex !== index) {
      opened = this.#endSummary(open)
      open.summaryIndex = index
      opened += this.#event('response.reasoning_summary_part.added', {
        ...this.#item(open),
        summary_index: index,
        part: { type: 'summary_text', text: '' },
      })
    }
    open.part.summary[index] = `${open.part.summary[index] ?? ''}${text}`
    return (
      opened +
      this.#event('response.reasoning_summary_text.delta', {
        ...this.#item(open),
        summary_index: index,
        delta: text,
      })
    )
  }

  #endSummary(open: OpenPart): string {
    const { summaryIndex: index } = open
    if (index < 0) return ''
    const text = open.part.summary[index] ?? ''
    const place = { ...this.#item(open), summary_index: index }
    return (
      this.#event('response.reasoning_summary_text.done', { ...place, text }) +
      this.#event('response.reasoning_summary_part.done', { ...place, part: { type: 'summary_text', text } })
    )
  }

  #end(): string {
    const open = this.#open
    if (open === null) return ''
    const { head } = open.part
    if (head.type === 'text' || head.type === 'refusal') return this.#endContent(open)
    const ended = head.type === 'reasoning' ? this.#endThought(open) : this.#endCall(open)
    this.#open = null
    return ended
  }

  #endContent({ part }: OpenPart): string {
    const content = writeContent(part) ?? {}
    const place = this.#place()
    const done =
      part.head.type === 'refusal'
        ? this.#event('response.refusal.done', { ...place, refusal: part.text })
        : this.#event('response.output_text.done', {
            ...place,
            text: part.text,
            logprobs: content['logprobs'],
          })
    const whole = this.#event('response.content_part.done', { ...place, part: content })
    this.#message?.content.push(content)
    this.#open = null
    return done + whole
  }

  #endThought(open: OpenPart): string {
    const index = this.#output.length
    const text = open.part.text
    const place = { ...this.#item(open), content_index: 0 }
    const written = open.hasText
      ? this.#event('response.reasoning_text.done', { ...place, text }) +
        this.#event('response.content_part.done', { ...place, part: { type: 'reasoning_text', text } })
      : ''
    const item = reasoningItem(open.part, this.#asked.context.generationId, index) ?? {}
    const ended = this.#endSummary(open) + written
    this.#output.push(item)
    return ended + this.#event('response.output_item.done', { output_index: index, item })
  }

  #endCall(open: OpenPart): string {
    const { part } = open
    if (part.head.type !== 'tool_call') return ''
    const index = this.#output.length
    // Clients parse the joined arguments, so they must equal those of the last event.
    const added =
      part.head.kind === 'function' && part.text === ''
        ? this.#piece({ type: 'arguments', text: noArguments })
        : ''
    const item = callItem(part.head, { ...this.#itemsOf, index, text: part.text, status: 'completed' })
    const place = this.#item(open)
    const done =
      part.head.kind === 'custom'
        ? this.#event('response.custom_tool_call_input.done', { ...place, input: item['input'] })
        : this.#event('response.function_call_arguments.done', {
            ...place,
            name: item['name'],
            arguments: item['arguments'],
          })
    this.#output.push(item)
    return added + done + this.#event('response.output_item.done', { output_index: index, item })
  }

  #closeMessage(): string {
    if (this.#message === null) return ''
    const { id, content } = this.#message
    this.#message = null
    const item = messageItem(id, 'completed', content)
    const index = this.#output.length
    this.#output.push(item)
    return this.#event('response.output_item.done', { output_index: index, item })
  }

  /** The place of the open item in the answer. */
  #item({ id }: OpenPart): Wire {
    return { item_id: id, output_index: this.#output.length }
  }

  /** The place of the open part of the message. */
  #place(): Wire {
    return {
      item_id: this.#message?.id ?? '',
      output_index: this.#output.length,
      content_index: this.#message?.content.length ?? 0,
    }
  }

  #event(type: string, members: Wire): string {
    const sequence = this.#sequence
    this.#sequence += 1
    return `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: sequence, ...members })}\n\n`
  }
}
