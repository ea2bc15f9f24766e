import { joinEvents, type Answer } from '../../canonical/text/answer.ts'
import type { AnswerContext } from '../../canonical/upstream.ts'
import { GatewayError } from '../../core/errors.ts'
import { streamChoicesMax } from '../../core/limits/text.ts'
import { stringOrNull } from '../chat/chat-answer.ts'
import { isRecord } from '../chat/chat-media.ts'
import { readCount } from '../chat/chat-usage.ts'
import type { StreamReader } from '../halves.ts'
import { AnswerEvents, createStreamReader, type Emit, type StreamHandler } from '../stream-reader.ts'
import { readReportedError } from '../upstream-errors.ts'
import { parseAnswer, unreadable } from '../upstream-json.ts'
import { GeminiCandidate } from './gemini-candidate.ts'
import { readBlock } from './gemini-finish.ts'
import { readGeminiUsage } from './gemini-usage.ts'

type Wire = Readonly<Record<string, unknown>>

/** A whole answer. Throws `provider_failed` for what is none, and the error that came with a success status. */
export function readGeminiAnswer(bytes: Uint8Array, context: AnswerContext): Answer {
  const events = new AnswerEvents()
  const handler = new GeminiHandler(context, events.add)
  try {
    handler.read(parseAnswer(bytes))
  } catch (thrown) {
    if (thrown instanceof GatewayError) throw thrown
    throw unreadable('it is not in its format', thrown)
  }
  if (!handler.hasAnswer) throw unreadable('it has no candidates')
  return joinEvents(events.list)
}

/** Reads a stream of `streamGenerateContent`, which ends without a word. */
export function createGeminiReader(context: AnswerContext): StreamReader {
  return createStreamReader((emit) => new GeminiHandler(context, emit))
}

/** Every frame is an answer of its own, with what is new of the candidates and the counts so far. */
class GeminiHandler implements StreamHandler {
  /** The format has no terminator. */
  readonly isTerminated = false
  readonly #context: AnswerContext
  readonly #emit: Emit
  readonly #candidates = new Map<number, GeminiCandidate>()
  #hasBegun = false

  constructor(context: AnswerContext, emit: Emit) {
    this.#context = context
    this.#emit = emit
  }

  get hasAnswer(): boolean {
    return this.#candidates.size > 0
  }

  get isWhole(): boolean {
    for (const { state } of this.#candidates.values()) if (state === 'running') return false
    return this.hasAnswer
  }

  read(wire: Wire): void {
    if (isRecord(wire['error'])) throw readReportedError(wire['error'], this.#context)
    if (!this.#hasBegun) {
      this.#hasBegun = true
      const [upstreamId, upstreamModel] = [
        stringOrNull(wire['responseId']),
        stringOrNull(wire['modelVersion']),
      ]
      this.#emit({ type: 'begin', upstreamId, upstreamModel })
    }
    const { candidates, promptFeedback } = wire
    if (Array.isArray(candidates))
      for (const each of candidates.filter(isRecord))
        this.#candidateAt(readCount(each['index']) ?? 0).read(each)
    if (isRecord(promptFeedback)) this.#readFeedback(promptFeedback)
    const usage = readGeminiUsage(wire['usageMetadata'])
    if (usage !== null) this.#emit({ type: 'usage', usage })
  }

  /** What has no end is broken off, whatever a proxy writes behind it. */
  end(): void {}

  /** A prompt that is blocked has no candidates; one may also be blocked while it is answered. */
  #readFeedback(feedback: Wire): void {
    const finish = readBlock(feedback, this.#context)
    if (finish === null) return
    if (this.#candidates.size === 0) this.#candidateAt(0)
    for (const candidate of this.#candidates.values()) candidate.finish(finish)
  }

  #candidateAt(index: number): GeminiCandidate {
    let candidate = this.#candidates.get(index)
    if (candidate === undefined) {
      if (index >= streamChoicesMax) throw new RangeError('too many candidates')
      candidate = new GeminiCandidate(index, this.#context, this.#emit)
      this.#candidates.set(index, candidate)
    }
    return candidate
  }
}
