import type {
  PartBeginEvent,
  PartHead,
  Piece,
  PieceEvent,
  TextEvent,
} from '../../../canonical/text/events.ts'
import type { AnswerContext } from '../../../canonical/upstream.ts'
import type { GatewayError } from '../../../core/errors.ts'
import { showMetadata } from '../shown-charge.ts'
import { endedInError } from '../finish-reason.ts'
import type { Asked, StreamEnd, StreamWriter } from '../halves.ts'
import { showSeal, SummaryParagraphs } from '../thoughts/reasoning-envelope.ts'
import { StreamBeginning } from '../streams/stream-beginning.ts'
import { writeMessagesError } from './errors.ts'
import { directCaller, emptyUsage } from './pass-answer-required.ts'
import { emptyMessage, lostImages, writeCitation, writeStop } from './write-answer.ts'

type Wire = Record<string, unknown>

/** Writes a stream of messages, whatever the provider's format. */
export function createMessagesWriter({ context }: Asked): StreamWriter {
  return new MessagesWriter(context)
}

class MessagesWriter implements StreamWriter {
  readonly #generationId: string
  readonly #beginning: StreamBeginning
  #blocks = 0
  #hasRefused = false
  /** Members that the format has no place for; the metadata names them. */
  readonly #lost = new Set<string>()
  /** Whether the client has an open block. */
  #isOpen = false
  /** The open part. A thought begins only with its first piece, which tells the type of its block. */
  #head: PartHead | null = null
  #summary = new SummaryParagraphs()
  /** Whether some input of the custom tool was shown. */
  #hasInput = false
  #part = 0

  constructor(context: AnswerContext) {
    this.#generationId = context.generationId
    this.#beginning = new StreamBeginning(() =>
      frame('message_start', { message: { ...emptyMessage(context), usage: emptyUsage } }),
    )
  }

  write(event: TextEvent): string {
    return this.#beginning.before(this.#show(event))
  }

  writeEnd({ finishes, usage, charge }: StreamEnd): string {
    const finish = finishes.find(({ choice }) => choice === 0) ?? null
    if (finish?.reason === 'error')
      return this.#beginning.take() + this.#close() + this.writeError(endedInError(finish))
    const delta = { ...writeStop(finish, this.#hasRefused), container: null }
    const end = frame('message_delta', { delta, usage })
    return `${this.#beginning.take()}${this.#close()}${end}${frame('message_stop', showMetadata(charge, [...this.#lost]))}`
  }

  writeError(error: GatewayError): string {
    return writeMessagesError(error, this.#generationId)
  }

  #show(event: TextEvent): string {
    // The format has only one choice.
    if (!('choice' in event) || event.choice !== 0) return ''
    if (event.type === 'part_begin') return this.#begin(event)
    if (event.type === 'piece') return this.#piece(event)
    return event.type === 'part_end' ? this.#close() : ''
  }

  #begin({ part, head }: PartBeginEvent): string {
    const closed = this.#close()
    this.#head = head
    this.#summary = new SummaryParagraphs()
    this.#part = part
    this.#hasRefused ||= head.type === 'refusal'
    if (head.type === 'image') for (const name of lostImages) this.#lost.add(name)
    switch (head.type) {
      case 'text':
      case 'refusal':
        return closed + this.#open({ type: 'text', text: '', citations: [] })
      case 'tool_call':
        return closed + this.#openCall(head)
      case 'opaque':
        return head.format === 'messages' ? closed + this.#open({ ...head.value }) : closed
      default:
        return closed
    }
  }

  #piece({ part, piece }: PieceEvent): string {
    const head = this.#head
    if (head === null || part !== this.#part) return this.#lose(piece)
    if (head.type === 'reasoning') return this.#thought(piece, head)
    switch (piece.type) {
      case 'text':
        return this.#text(piece.text)
      case 'arguments':
        return this.#arguments(piece.text, head)
      case 'annotation':
        return writeCitation(piece.annotation)
          .map((citation) => this.#delta({ type: 'citations_delta', citation }))
          .join('')
      default:
        return ''
    }
  }

  /** The input of a custom tool is text, not JSON, so it becomes a member of an object, as in a whole message. */
  #arguments(text: string, head: PartHead): string {
    if (head.type !== 'tool_call' || head.kind === 'function')
      return this.#delta({ type: 'input_json_delta', partial_json: text })
    const lead = this.#hasInput ? '' : '{"input":"'
    this.#hasInput = true
    return this.#delta({ type: 'input_json_delta', partial_json: lead + JSON.stringify(text).slice(1, -1) })
  }

  /** A block that has ended takes no more citations. */
  #lose(piece: Piece): string {
    if (piece.type === 'annotation') this.#lost.add('content[].citations')
    return ''
  }

  #thought(piece: Piece, head: Extract<PartHead, { type: 'reasoning' }>): string {
    const bind = (signature: string | null, sealed: string | null) =>
      showSeal({ ...head, signature, sealed }, 'messages')
    switch (piece.type) {
      case 'text':
        return this.#openThinking() + this.#delta({ type: 'thinking_delta', thinking: piece.text })
      case 'summary': {
        const thinking = this.#summary.next(piece)
        return this.#openThinking() + this.#delta({ type: 'thinking_delta', thinking })
      }
      case 'signature': {
        const signature = bind(piece.signature, null)
        if (signature === null) return ''
        return this.#openThinking() + this.#delta({ type: 'signature_delta', signature })
      }
      case 'sealed': {
        const data = bind(null, piece.data)
        if (data === null) return ''
        if (this.#isOpen) return this.#delta({ type: 'signature_delta', signature: data })
        return this.#open({ type: 'redacted_thinking', data })
      }
      default:
        return ''
    }
  }

  #openCall({ id, name }: Extract<PartHead, { type: 'tool_call' }>): string {
    return this.#open({ type: 'tool_use', id, name, input: {}, caller: directCaller })
  }

  #openThinking(): string {
    return this.#isOpen ? '' : this.#open({ type: 'thinking', thinking: '', signature: '' })
  }

  #open(block: Wire): string {
    this.#isOpen = true
    const content = { ...block, ...this.#head?.extras?.messages }
    return frame('content_block_start', { index: this.#blocks, content_block: content })
  }

  /** The frame of nearly all events, which is written without an object in between. */
  #text(text: string): string {
    return `event: content_block_delta\ndata: {"type":"content_block_delta","index":${this.#blocks},"delta":{"type":"text_delta","text":${JSON.stringify(text)}}}\n\n`
  }

  #delta(delta: Wire): string {
    return frame('content_block_delta', { index: this.#blocks, delta })
  }

  #close(): string {
    this.#head = null
    if (!this.#isOpen) return ''
    const rest = this.#hasInput ? this.#delta({ type: 'input_json_delta', partial_json: '"}' }) : ''
    this.#hasInput = false
    this.#isOpen = false
    const index = this.#blocks
    this.#blocks += 1
    return rest + frame('content_block_stop', { index })
  }
}

function frame(type: string, members: Wire): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...members })}\n\n`
}
