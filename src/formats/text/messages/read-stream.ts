import type { Finish, PartHead, Piece, ReportedUsage } from '../../../canonical/text/events.ts'
import type { AnswerContext } from '../../../canonical/upstream.ts'
import { streamToolCallsMax } from '../../../core/limits/text.ts'
import { filledTextOrNull, isRecord, parseExactly, tokenCountOrNull } from '../../../json/values.ts'
import type { StreamReader } from '../halves.ts'
import { PartSequence } from '../part-sequence.ts'
import { createStreamReader, type Emit, type StreamHandler } from '../streams/stream-reader.ts'
import { readReportedError } from '../../upstream-errors.ts'
import { headOf, readCitation } from './read-blocks.ts'
import { readStop } from './read-stop.ts'
import { readMessagesUsage } from './usage.ts'

type Wire = Readonly<Record<string, unknown>>

/** An open block. */
interface OpenBlock {
  /** The key of its pieces. Not the index, because some hosts give every block the same one. */
  key: string
  head: PartHead
  /** Tool arguments that came at the beginning of the block; kept until it is clear that no pieces follow. */
  wholeArguments: string | null
}

/** Reads Anthropic's event stream. */
export function createMessagesReader(context: AnswerContext): StreamReader {
  return createStreamReader((emit) => new MessagesHandler(context, emit), parseExactly)
}

/** Reads the format's events. */
export class MessagesHandler implements StreamHandler {
  isTerminated = false
  readonly #context: AnswerContext
  readonly #emit: Emit
  readonly #parts: PartSequence
  readonly #blocks = new Map<number, OpenBlock>()
  /** The key of the last ended block at each index. */
  readonly #ended = new Map<number, string>()
  /** The index of the block that began last. */
  #lastIndex = -1
  #blockCount = 0
  #hasBegun = false
  #sawToolCalls = false
  #finish: Finish | null = null
  /** From the beginning of the message; the end corrects it. */
  readonly #usage: Record<string, unknown> = {}

  constructor(context: AnswerContext, emit: Emit) {
    this.#context = context
    this.#emit = emit
    this.#parts = new PartSequence(0, emit)
  }

  get isWhole(): boolean {
    return this.#finish !== null
  }

  /** Events that are not in the table, such as `ping`, are no part of the answer. */
  read(wire: Wire): void {
    const handlers: Readonly<Record<string, (event: Wire) => void>> = this.#handlers
    const { type } = wire
    if (typeof type === 'string' && Object.hasOwn(handlers, type)) handlers[type]?.(wire)
    else if (isRecord(wire['error'])) throw readReportedError(wire['error'], this.#context)
  }

  /** Some servers end without a stop reason; what they began counts as complete. */
  end(): void {
    if (this.#finish === null && this.#hasBegun) this.#readEnd({ delta: { stop_reason: 'end_turn' } })
  }

  readonly #handlers = {
    message_start: (event: Wire) => this.#begin(isRecord(event['message']) ? event['message'] : {}),
    content_block_start: (event: Wire) => this.#openBlock(event),
    content_block_delta: (event: Wire) => this.#readDelta(event),
    content_block_stop: (event: Wire) => this.#closeBlock(tokenCountOrNull(event['index']) ?? 0),
    message_delta: (event: Wire) => this.#readEnd(event),
    message_stop: () => void (this.isTerminated = true),
    error: (event: Wire) => {
      throw readReportedError(event['error'], this.#context)
    },
  }

  /** Some compatible servers send the beginning twice. */
  #begin(message: Wire): void {
    if (isRecord(message['usage'])) Object.assign(this.#usage, message['usage'])
    if (this.#hasBegun) return
    this.#hasBegun = true
    this.#emit({
      type: 'begin',
      upstreamId: filledTextOrNull(message['id']),
      upstreamModel: filledTextOrNull(message['model']),
    })
    this.#readWhole(message)
  }

  /** Calls by the provider's own code execution come whole at the beginning, together with their end. */
  #readWhole(message: Wire): void {
    const { content } = message
    if (!Array.isArray(content)) return
    for (const [index, block] of content.filter(isRecord).entries()) {
      this.#openBlock({ index, content_block: block })
      this.#closeBlock(index)
    }
    if (content.length > 0) this.#readEnd({ delta: message, usage: message['usage'] })
  }

  #openBlock(event: Wire): OpenBlock {
    const block = isRecord(event['content_block']) ? event['content_block'] : {}
    const index = tokenCountOrNull(event['index']) ?? this.#blockCount
    this.#overtake(index)
    const head = headOf(block)
    if (head.type === 'tool_call') this.#sawToolCalls = true
    if (this.#blockCount >= streamToolCallsMax) throw new RangeError('too many blocks')
    const input = block['input']
    const hasInput = head.type === 'tool_call' && isRecord(input) && Object.keys(input).length > 0
    const open: OpenBlock = {
      key: `block ${this.#blockCount}`,
      head,
      wholeArguments: hasInput ? JSON.stringify(input) : null,
    }
    this.#blockCount += 1
    this.#blocks.set(index, open)
    this.#parts.add(open.key, head, null)
    if (block['type'] === 'redacted_thinking' && typeof block['data'] === 'string')
      this.#piece(open, { type: 'sealed', data: block['data'] })
    const text = block['type'] === 'thinking' ? block['thinking'] : block['text']
    if (head.type !== 'opaque' && typeof text === 'string' && text !== '')
      this.#piece(open, { type: 'text', text })
    const { signature } = block
    if (head.type === 'reasoning' && typeof signature === 'string' && signature !== '')
      this.#piece(open, { type: 'signature', signature })
    return open
  }

  /**
   * Another block begins, at index `next`. Some hosts never say that a block has ended, and some have several open at
   * once: a text may continue as its own part, a call waits for its arguments, and a block that only this format knows
   * has ended.
   */
  #overtake(next: number): void {
    this.#closeBlock(next)
    const last = this.#blocks.get(this.#lastIndex)
    // Other open blocks already went through this when the next one began.
    if (last?.head.type === 'opaque') this.#closeBlock(this.#lastIndex)
    else if (last !== undefined) this.#writeWhole(last)
    this.#lastIndex = next
  }

  #readDelta(event: Wire): void {
    const { delta } = event
    if (!isRecord(delta)) return
    const piece = pieceOf(delta)
    if (piece === null) return
    const index = tokenCountOrNull(event['index']) ?? 0
    if (piece.type === 'annotation') {
      // A citation may come after its text has ended. A citation without a text is dropped.
      const key = this.#blocks.get(index)?.key ?? this.#ended.get(index)
      if (key !== undefined) this.#parts.annotate(key, piece.annotation)
      return
    }
    const open = this.#blocks.get(index) ?? this.#reopen(index, delta)
    if (piece.type === 'arguments') open.wholeArguments = null
    this.#piece(open, piece)
  }

  /**
   * Opens a block for a delta whose block never began or has ended. Texts and thoughts continue as their own part.
   * @throws Error - for further arguments of a call, which no other part can take
   */
  #reopen(index: number, delta: Wire): OpenBlock {
    const type = delta['type']
    if (type === 'input_json_delta') throw new Error('arguments came for a tool call that is not open')
    const isThought = type === 'thinking_delta' || type === 'signature_delta'
    return this.#openBlock({ index, content_block: { type: isThought ? 'thinking' : 'text' } })
  }

  #closeBlock(index: number): void {
    const open = this.#blocks.get(index)
    if (open === undefined) return
    this.#blocks.delete(index)
    this.#ended.set(index, open.key)
    this.#writeWhole(open)
    this.#parts.end(open.key)
  }

  #writeWhole(open: OpenBlock): void {
    if (open.wholeArguments !== null) this.#piece(open, { type: 'arguments', text: open.wholeArguments })
    open.wholeArguments = null
  }

  #readEnd(event: Wire): void {
    if (isRecord(event['usage'])) this.#readUsage(event['usage'])
    const { delta } = event
    if (this.#finish !== null || !isRecord(delta)) return
    this.#finish = readStop(delta, this.#sawToolCalls)
    if (this.#finish === null) return
    for (const index of this.#blocks.keys()) this.#closeBlock(index)
    this.#parts.close()
    this.#emit({ type: 'finish', choice: 0, ...this.#finish })
  }

  /** Counts are cumulative; a count that the end omits keeps its value from the beginning. */
  #readUsage(wire: Wire): void {
    for (const [name, value] of Object.entries(wire)) if (value !== null) this.#usage[name] = value
    const usage: ReportedUsage | null = readMessagesUsage(this.#usage)
    if (usage !== null) this.#emit({ type: 'usage', usage })
  }

  #piece({ key, head }: OpenBlock, piece: Piece): void {
    this.#parts.add(key, head, piece)
  }
}

/** Null for an empty piece, and for types that this gateway does not know. */
function pieceOf(delta: Wire): Piece | null {
  switch (delta['type']) {
    case 'text_delta':
      return textPiece(delta['text'], 'text')
    case 'thinking_delta':
      return textPiece(delta['thinking'], 'text')
    case 'input_json_delta':
      return textPiece(delta['partial_json'], 'arguments')
    case 'signature_delta':
      return typeof delta['signature'] === 'string'
        ? { type: 'signature', signature: delta['signature'] }
        : null
    case 'citations_delta':
      return isRecord(delta['citation'])
        ? { type: 'annotation', annotation: readCitation(delta['citation']) }
        : null
    default:
      return null
  }
}

function textPiece(text: unknown, type: 'text' | 'arguments'): Piece | null {
  return typeof text === 'string' && text !== '' ? { type, text } : null
}
