import type { Annotation } from '../../../canonical/text/conversation.ts'
import type {
  FinishEvent,
  PartBeginEvent,
  PartHead,
  Piece,
  PieceEvent,
  TextEvent,
} from '../../../canonical/text/events.ts'
import type { AnswerContext } from '../../../canonical/upstream.ts'
import { assert } from '../../../core/assert.ts'
import type { GatewayError } from '../../../core/errors.ts'
import type { Asked, StreamEnd, StreamWriter } from '../halves.ts'
import { explanationOf } from '../finish-reason.ts'
import { SummaryParagraphs } from '../thoughts/reasoning-envelope.ts'
import { showError } from './pass-answer.ts'
import { noArguments } from '../tools/tool-input.ts'
import { isOlderCall, spokenOf } from './own-parts.ts'
import { detailBase, showDetailSeal } from './reasoning.ts'
import { showMetadata } from '../shown-charge.ts'
import { writeAnnotation, writeImage } from './write-answer.ts'
import { writeLogprob } from '../logprobs.ts'

/** Writes a chat completions stream, whatever the provider's format. */
export function createChatWriter({ context }: Asked): StreamWriter {
  return new ChatWriter(context)
}

/** The open part; `index` counts the calls, or the thoughts, of the choice. */
interface OpenPart {
  head: PartHead
  index: number
  hasArguments: boolean
  /** For thoughts only. */
  summary: SummaryParagraphs | null
}

/** What a choice has shown so far; later pieces depend on it. */
class WrittenChoice {
  hasRole = false
  hasRefusal = false
  calls = 0
  thoughts = 0
  textLength = 0
  /** Characters before each text, by part; the first text has no entry. */
  readonly offsets = new Map<number, number>()
  open: OpenPart | null = null
}

class ChatWriter implements StreamWriter {
  /** The common beginning of all chunks; in the most frequent kind the text follows right after it. */
  readonly #lead: string
  readonly #choices = new Map<number, WrittenChoice>()

  constructor(context: AnswerContext) {
    const identity = {
      id: context.generationId,
      object: 'chat.completion.chunk',
      created: context.created,
      model: context.model,
      provider: context.provider,
    }
    this.#lead = `data: ${JSON.stringify(identity).slice(0, -1)}`
  }

  write(event: TextEvent): string {
    if (event.type === 'part_begin') return this.#begin(event)
    if (event.type === 'piece') {
      return event.piece.type === 'annotation'
        ? this.#annotate(event, event.piece.annotation)
        : this.#piece(event.choice, event.piece)
    }
    if (event.type === 'part_end') return this.#end(event.choice)
    return ''
  }

  /** Usage goes with the last finish reason, so that clients that read one choice find both. */
  writeEnd({ finishes, usage, charge }: StreamEnd): string {
    const told = { usage, ...showMetadata(charge) }
    const ends = finishes.map((finish, index) =>
      this.#writeFinish(finish, index === finishes.length - 1 ? told : {}),
    )
    const rest = this.#chunk({ choices: [{ index: 0, delta: {}, finish_reason: null }], ...told })
    return `${ends.length === 0 ? rest : ends.join('')}data: [DONE]\n\n`
  }

  writeError(error: GatewayError): string {
    return this.#chunk({
      error: showError(error),
      choices: [{ index: 0, delta: { content: '' }, finish_reason: 'error' }],
    })
  }

  #writeFinish(finish: FinishEvent, told: Record<string, unknown>): string {
    const { choice, reason, native } = finish
    const { hasRole, hasRefusal } = this.#choiceAt(choice)
    const refusal = explanationOf(finish, hasRefusal)
    const delta = {
      ...(hasRole ? {} : { role: 'assistant', content: '' }),
      ...(refusal === null ? {} : { refusal }),
    }
    return this.#chunk({
      choices: [
        { index: choice, delta, finish_reason: reason, native_finish_reason: native, logprobs: null },
      ],
      ...told,
    })
  }

  #begin({ choice: index, part, head }: PartBeginEvent): string {
    const choice = this.#choiceAt(index)
    if (head.type === 'text' && choice.textLength > 0) choice.offsets.set(part, choice.textLength)
    if (head.type === 'reasoning') {
      choice.open = { head, index: choice.thoughts, hasArguments: false, summary: new SummaryParagraphs() }
      choice.thoughts += 1
      return ''
    }
    if (head.type === 'image') return this.#delta(index, { images: [writeImage(head)] })
    if (head.type === 'refusal') choice.hasRefusal = true
    choice.open = { head, index: choice.calls, hasArguments: false, summary: null }
    const spoken = spokenOf(head)
    if (spoken !== null) return this.#delta(index, { audio: spoken })
    if (head.type !== 'tool_call') return ''
    if (isOlderCall(head)) return this.#delta(index, { function_call: { name: head.name, arguments: '' } })
    choice.calls += 1
    const { id, name, kind, extras } = head
    const called = kind === 'custom' ? { custom: { name, input: '' } } : { function: { name, arguments: '' } }
    return this.#delta(index, {
      tool_calls: [{ index: choice.open.index, id, type: kind, ...called, ...extras?.chat }],
    })
  }

  /** A call that never received arguments gets empty ones, because clients parse the joined arguments. */
  #end(index: number): string {
    const choice = this.#choiceAt(index)
    const { open } = choice
    choice.open = null
    if (open?.head.type !== 'tool_call' || open.head.kind !== 'function' || open.hasArguments) return ''
    return this.#arguments(index, open, noArguments)
  }

  #piece(index: number, piece: Piece): string {
    const { open } = this.#choiceAt(index)
    assert(open, 'a piece follows the beginning of its part')
    const { head } = open
    if (head.type === 'reasoning') return this.#thought(index, piece, open.index)
    // A part that only another format has, such as the input of a tool that the provider runs, is not shown.
    if (head.type === 'opaque') return ''
    switch (piece.type) {
      case 'text':
        if (head.type === 'refusal') return this.#delta(index, { refusal: piece.text })
        this.#choiceAt(index).textLength += piece.text.length
        if (spokenOf(head) !== null) return this.#delta(index, { audio: { transcript: piece.text } })
        return this.#content(index, piece.text)
      case 'arguments':
        open.hasArguments ||= piece.text !== ''
        return this.#arguments(index, open, piece.text)
      case 'logprobs':
        return this.#chunk({
          choices: [
            {
              index,
              delta: this.#withRole(index, {}),
              finish_reason: null,
              logprobs: { content: piece.tokens.map(writeLogprob), refusal: null },
            },
          ],
        })
      default:
        return ''
    }
  }

  /** Citations count in the whole message, so one may come after its text. */
  #annotate({ choice, part }: PieceEvent, annotation: Annotation): string {
    const annotations = writeAnnotation(annotation, this.#choiceAt(choice).offsets.get(part))
    return annotations.length === 0 ? '' : this.#delta(choice, { annotations })
  }

  #arguments(index: number, { head, index: call }: OpenPart, text: string): string {
    if (isOlderCall(head)) return this.#delta(index, { function_call: { arguments: text } })
    const isCustom = head.type === 'tool_call' && head.kind === 'custom'
    const part = isCustom ? { custom: { input: text } } : { function: { arguments: text } }
    return this.#delta(index, { tool_calls: [{ index: call, ...part }] })
  }

  #thought(index: number, piece: Piece, thought: number): string {
    const { open } = this.#choiceAt(index)
    assert(open?.head.type === 'reasoning', 'the open part is a thought')
    const base = detailBase(open.head.id, open.head.origin, thought)
    switch (piece.type) {
      case 'text':
        return this.#delta(index, {
          reasoning: piece.text,
          reasoning_details: [{ type: 'reasoning.text', text: piece.text, ...base }],
        })
      case 'summary': {
        const summary = open.summary?.next(piece) ?? piece.text
        return this.#delta(index, {
          reasoning: summary,
          reasoning_details: [{ type: 'reasoning.summary', summary, ...base }],
        })
      }
      case 'signature': {
        const signature = showDetailSeal(open.head, { signature: piece.signature, sealed: null })
        return this.#delta(index, {
          reasoning_details: [{ type: 'reasoning.text', text: '', signature, ...base }],
        })
      }
      case 'sealed': {
        const data = showDetailSeal(open.head, { signature: null, sealed: piece.data })
        return this.#delta(index, { reasoning_details: [{ type: 'reasoning.encrypted', data, ...base }] })
      }
      default:
        return ''
    }
  }

  /** The chunk of nearly all events, which is written without an object in between once the role was told. */
  #content(index: number, text: string): string {
    if (!this.#choiceAt(index).hasRole) return this.#delta(index, { content: text })
    return `${this.#lead},"choices":[{"index":${index},"delta":{"content":${JSON.stringify(text)}},"finish_reason":null}]}\n\n`
  }

  #delta(index: number, delta: Record<string, unknown>): string {
    return this.#chunk({ choices: [{ index, delta: this.#withRole(index, delta), finish_reason: null }] })
  }

  /**
   * The role is sent once: clients that concatenate the strings of all deltas would read a repeated role as
   * `assistantassistant`.
   */
  #withRole(index: number, delta: Record<string, unknown>): Record<string, unknown> {
    const choice = this.#choiceAt(index)
    if (choice.hasRole) return delta
    choice.hasRole = true
    return { role: 'assistant', ...delta }
  }

  #chunk(members: Record<string, unknown>): string {
    return `${this.#lead},${JSON.stringify(members).slice(1)}\n\n`
  }

  #choiceAt(index: number): WrittenChoice {
    let choice = this.#choices.get(index)
    if (choice === undefined) {
      choice = new WrittenChoice()
      this.#choices.set(index, choice)
    }
    return choice
  }
}
