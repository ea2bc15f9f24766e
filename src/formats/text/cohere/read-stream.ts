import type { Finish, PartHead, Piece } from '../../../canonical/text/events.ts'
import type { AnswerContext } from '../../../canonical/upstream.ts'
import { streamToolCallsMax } from '../../../core/limits/text.ts'
import { filledTextOrNull, isRecord, parseExactly, tokenCountOrNull } from '../../../json/values.ts'
import { readReportedError } from '../../upstream-errors.ts'
import type { StreamReader } from '../halves.ts'
import { PartSequence } from '../part-sequence.ts'
import { createStreamReader, type Emit, type StreamHandler } from '../streams/stream-reader.ts'
import { argumentsOf, callHeadOf, readCitation, readFinish, thoughtHead } from './read-answer.ts'
import { readCohereUsage } from './usage.ts'

type Wire = Readonly<Record<string, unknown>>

/** Reads Cohere's event stream. */
export function createCohereReader(context: AnswerContext): StreamReader {
  return createStreamReader((emit) => new CohereHandler(context, emit), parseExactly)
}

/** Reads the format's events. Blocks of content and calls are numbered apart, and the plan has no number. */
class CohereHandler implements StreamHandler {
  isTerminated = false
  readonly #context: AnswerContext
  readonly #emit: Emit
  readonly #parts: PartSequence
  readonly #heads = new Map<string, PartHead>()
  #partCount = 0
  #sawToolCalls = false
  #finish: Finish | null = null

  constructor(context: AnswerContext, emit: Emit) {
    this.#context = context
    this.#emit = emit
    this.#parts = new PartSequence(0, emit)
  }

  get isWhole(): boolean {
    return this.#finish !== null
  }

  /** Events that are not in the table, such as `debug`, are no part of the answer. */
  read(wire: Wire): void {
    const { type } = wire
    const handlers: Readonly<Record<string, (event: Wire, message: Wire) => void>> = this.#handlers
    if (typeof type === 'string' && Object.hasOwn(handlers, type)) handlers[type]?.(wire, messageOf(wire))
    else if (type === undefined && typeof wire['message'] === 'string')
      throw readReportedError(wire, this.#context)
  }

  end(): void {}

  readonly #handlers = {
    'message-start': (event: Wire) =>
      this.#emit({ type: 'begin', upstreamId: filledTextOrNull(event['id']), upstreamModel: null }),
    'content-start': (event: Wire, { content }: Wire) => this.#readContent(event, content),
    'content-delta': (event: Wire, { content }: Wire) => this.#readContent(event, content),
    'content-end': (event: Wire) => this.#parts.end(contentKey(event)),
    'tool-plan-delta': (_event: Wire, { tool_plan: plan }: Wire) =>
      this.#add('plan', thoughtHead, textPiece(plan)),
    'tool-call-start': (event: Wire, { tool_calls: call }: Wire) => {
      if (!isRecord(call)) return
      this.#sawToolCalls = true
      this.#add(callKey(event), callHeadOf(call), argumentsPiece(call))
    },
    'tool-call-delta': (event: Wire, { tool_calls: call }: Wire) => {
      const head = this.#heads.get(callKey(event))
      if (head === undefined) throw new Error('arguments came for a tool call that is not open')
      if (isRecord(call)) this.#add(callKey(event), head, argumentsPiece(call))
    },
    'tool-call-end': (event: Wire) => this.#parts.end(callKey(event)),
    'citation-start': (event: Wire, { citations }: Wire) => {
      if (!isRecord(citations)) return
      const index = tokenCountOrNull(citations['content_index']) ?? 0
      this.#parts.annotate(contentKey({ ...event, index }), readCitation(citations))
    },
    'message-end': (event: Wire) => this.#readEnd(isRecord(event['delta']) ? event['delta'] : {}),
  }

  #readContent(event: Wire, content: unknown): void {
    if (!isRecord(content)) return
    const key = contentKey(event)
    const isThought = content['type'] === 'thinking' || typeof content['thinking'] === 'string'
    const head = this.#heads.get(key) ?? (isThought ? thoughtHead : { type: 'text' as const })
    this.#add(key, head, textPiece(content['thinking'] ?? content['text']))
  }

  #add(key: string, head: PartHead, piece: Piece | null): void {
    if (!this.#heads.has(key)) {
      if (this.#partCount >= streamToolCallsMax) throw new RangeError('too many parts')
      this.#partCount += 1
      this.#heads.set(key, head)
    }
    this.#parts.add(key, head, piece)
  }

  /** An error that comes after the answer has begun ends the stream like an answer, with a reason of its own. */
  #readEnd(delta: Wire): void {
    const reason = delta['finish_reason']
    if (reason === 'ERROR' || reason === 'TIMEOUT') {
      const message = filledTextOrNull(delta['error']) ?? 'The provider broke off its answer.'
      throw readReportedError(
        { message, type: 'server_error', code: reason === 'TIMEOUT' ? '504' : '500' },
        this.#context,
      )
    }
    const usage = readCohereUsage(delta['usage'])
    if (usage !== null) this.#emit({ type: 'usage', usage })
    if (this.#finish !== null) return
    this.#finish = readFinish(delta, this.#sawToolCalls)
    if (this.#finish === null) return
    this.#parts.close()
    this.#emit({ type: 'finish', choice: 0, ...this.#finish })
    this.isTerminated = true
  }
}

function messageOf(event: Wire): Wire {
  const { delta } = event
  const message = isRecord(delta) ? delta['message'] : null
  return isRecord(message) ? message : {}
}

function contentKey(event: Wire): string {
  return `content ${tokenCountOrNull(event['index']) ?? 0}`
}

function callKey(event: Wire): string {
  return `call ${tokenCountOrNull(event['index']) ?? 0}`
}

function textPiece(text: unknown): Piece | null {
  return typeof text === 'string' && text !== '' ? { type: 'text', text } : null
}

function argumentsPiece(call: Wire): Piece | null {
  const text = argumentsOf(call)
  return text === '' ? null : { type: 'arguments', text }
}
