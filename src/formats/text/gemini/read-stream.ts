import type { AnswerContext } from '../../../canonical/upstream.ts'
import { streamChoicesMax } from '../../../core/limits/text.ts'
import { filledTextOrNull, isRecord, tokenCountOrNull } from '../../../json/values.ts'
import type { StreamReader } from '../halves.ts'
import { createStreamReader, type Emit, type StreamHandler } from '../streams/stream-reader.ts'
import { readReportedError } from '../../upstream-errors.ts'
import { GeminiCandidate } from './read-candidate.ts'
import { readBlock } from './read-finish.ts'
import { readGeminiUsage } from './usage.ts'

type Wire = Readonly<Record<string, unknown>>

/** Reads a stream of `streamGenerateContent`, which has no terminator. */
export function createGeminiReader(context: AnswerContext): StreamReader {
  return createStreamReader((emit) => new GeminiHandler(context, emit))
}

/** Every frame is an answer of its own, with the new parts of the candidates and the counts so far. */
export class GeminiHandler implements StreamHandler {
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
        filledTextOrNull(wire['responseId']),
        filledTextOrNull(wire['modelVersion']),
      ]
      this.#emit({ type: 'begin', upstreamId, upstreamModel })
    }
    const { candidates, promptFeedback } = wire
    if (Array.isArray(candidates))
      for (const each of candidates.filter(isRecord))
        this.#candidateAt(tokenCountOrNull(each['index']) ?? 0).read(each)
    if (isRecord(promptFeedback)) this.#readFeedback(promptFeedback)
    const usage = readGeminiUsage(wire['usageMetadata'])
    if (usage !== null) this.#emit({ type: 'usage', usage })
  }

  /** A candidate without an end is broken off, whatever a proxy writes after it. */
  end(): void {}

  /** A blocked prompt has no candidates. A prompt may also be blocked during the answer. */
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
