import type { ReportedUsage } from '../../../canonical/text/events.ts'
import type { AnswerContext } from '../../../canonical/upstream.ts'
import { streamChoicesMax } from '../../../core/limits/text.ts'
import type { StreamReader } from '../halves.ts'
import { createStreamReader, type Emit, type StreamHandler } from '../streams/stream-reader.ts'
import { readReportedError } from '../../upstream-errors.ts'
import { unreadable } from '../../upstream-json.ts'
import { tierOf } from '../usage-readers.ts'
import { filledTextOrNull, isRecord, tokenCountOrNull } from '../../../json/values.ts'
import { ChatChoiceReader } from './read-choice.ts'
import { ChatEnd } from './pass-stream-end.ts'
import { readNativeReason, shownNativeReason } from './choice.ts'
import { ChoiceState, toShownChoice } from './pass-stream-chunk.ts'
import type { ChatQuirks } from './quirks.ts'
import { mediaTokensOf, readChatUsage } from './usage.ts'

type Wire = Readonly<Record<string, unknown>>

/** Reads a chat completions stream. */
export function createChatReader(quirks: ChatQuirks, context: AnswerContext): StreamReader {
  return createStreamReader((emit) => new ChatHandler({ quirks, context }, emit))
}

/** Reads the frames of a stream. It reads a whole answer as one frame. */
export class ChatHandler implements StreamHandler {
  /** Only `[DONE]` ends a stream of this format. */
  readonly isTerminated = false
  readonly #quirks: ChatQuirks
  readonly #context: AnswerContext
  readonly #emit: Emit
  readonly #choices = new Map<number, { reader: ChatChoiceReader; state: ChoiceState }>()
  readonly #end = new ChatEnd()
  #hasBegun = false
  #tier: string | null = null

  constructor({ quirks, context }: { quirks: ChatQuirks; context: AnswerContext }, emit: Emit) {
    this.#quirks = quirks
    this.#context = context
    this.#emit = emit
  }

  get isWhole(): boolean {
    return this.#end.isWhole
  }

  read(wire: Wire): void {
    if (wire['error'] !== undefined && wire['error'] !== null)
      throw readReportedError(wire['error'], this.#context)
    if (!this.#hasBegun) {
      this.#hasBegun = true
      const [upstreamId, upstreamModel] = [filledTextOrNull(wire['id']), filledTextOrNull(wire['model'])]
      this.#emit({ type: 'begin', upstreamId, upstreamModel })
    }
    this.#tier ??= tierOf(wire)
    const choices = Array.isArray(wire['choices']) ? wire['choices'].filter(isRecord) : []
    for (const choice of choices) this.#readChoice(choice)
    const groq = isRecord(wire['x_groq']) ? wire['x_groq'] : null
    const counted = wire['usage'] ?? groq?.['usage'] ?? null
    if (counted !== null) this.#end.tell('usage')
    const usage = this.#readUsage(counted, wire['usage_breakdown'] ?? groq?.['usage_breakdown'])
    if (usage !== null) this.#emit({ type: 'usage', usage })
  }

  /**
   * Only `[DONE]` makes up for a missing finish reason, once the provider has sent usage or ended a choice: the answer
   * is then complete.
   */
  end(): void {
    this.#end.tell('terminator')
    if (this.#end.state === 'terminated') this.finishAll()
  }

  /** Ends every choice to which the provider gave no finish reason. */
  finishAll(): void {
    for (const { reader } of this.#choices.values()) this.#finish(reader, null, null)
  }

  #finish(reader: ChatChoiceReader, native: string | null, shown: string | null): void {
    if (reader.isFinished) return
    reader.finish(native, shown)
    this.#end.tell('finish')
  }

  #readChoice(wire: Wire): void {
    if (isRecord(wire['error'])) throw readReportedError(wire['error'], this.#context)
    const index = tokenCountOrNull(wire['index']) ?? 0
    const { reader, state } = this.#choiceAt(index)
    const { choice, delta } = toShownChoice(wire, index, state)
    if (!reader.isFinished) reader.read(delta, choice['logprobs'])
    const native = readNativeReason(wire)
    if (native !== null) this.#finish(reader, native, shownNativeReason(wire))
  }

  #readUsage(wire: unknown, breakdown: unknown): ReportedUsage | null {
    const read = readChatUsage(wire, this.#quirks, breakdown)
    if (read === null) return null
    return {
      usage: read.usage,
      mediaTokens: mediaTokensOf(read),
      serviceTier: this.#tier,
      reportedCostNanocredits: read.reportedCostNanocredits,
      ...(read.providerCalls > 0 ? { providerCalls: read.providerCalls } : {}),
    }
  }

  #choiceAt(index: number): { reader: ChatChoiceReader; state: ChoiceState } {
    let choice = this.#choices.get(index)
    if (choice === undefined) {
      if (this.#choices.size >= streamChoicesMax) throw unreadable('too many choices')
      const idSuffix = `${this.#context.generationId}_${index}`
      choice = {
        reader: new ChatChoiceReader({ choice: index, idSuffix }, this.#emit),
        state: new ChoiceState(idSuffix),
      }
      this.#choices.set(index, choice)
      this.#end.tell('begin')
    }
    return choice
  }
}
