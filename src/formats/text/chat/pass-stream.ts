import type {
  AnswerContext,
  MeterReading,
  ShownCharge,
  StreamRewriter,
  StreamStage,
} from '../../../canonical/upstream.ts'
import type { GatewayError } from '../../../core/errors.ts'
import { streamChoicesMax, streamHeldBytesMax } from '../../../core/limits/text.ts'
import { type ByteText, encodeFrame, readFrameData, toBytes, toUtf8 } from '../../sse.ts'
import { readReportedError } from '../../upstream-errors.ts'
import { showError } from './pass-answer.ts'
import { startReading, tierOf } from '../usage-readers.ts'
import { filledTextOrNull, isRecord, tokenCountOrNull } from '../../../json/values.ts'
import { ChatEnd } from './pass-stream-end.ts'
import { ChoiceState, findTextSlot, membersBeside, toShownChoice, toShownChunk } from './pass-stream-chunk.ts'
import { outputBytesOf, readNativeReason, shownNativeReason } from './choice.ts'
import { toFinishReason } from '../finish-reason.ts'
import type { ChatQuirks } from './quirks.ts'
import { readChatUsage, type ReadUsage, showChatUsage } from './usage.ts'
import { showMetadata } from '../shown-charge.ts'
import { learnRewritten, type TextSlot } from '../streams/frame-template.ts'
import { type FrameWire, StreamPassage } from '../streams/stream-passage.ts'
import { completeCalls, endingChunks, endOf, moveEnding } from './pass-stream-end.ts'

/** Rewrites a chat completions stream into the contract's form, as canonical/upstream.ts describes. */
export function createChatStream(context: AnswerContext, quirks: ChatQuirks): StreamRewriter {
  return new ChatPassage(context, quirks)
}

type Chunk = Record<string, unknown>

/** Keeps chunks back from the first finish reason on. */
class ChatPassage extends StreamPassage<Chunk> {
  readonly #context: AnswerContext
  readonly #quirks: ChatQuirks
  readonly #choices = new Map<number, ChoiceState>()
  readonly #reading: MeterReading = startReading({})
  #read: ReadUsage | null = null
  readonly #end = new ChatEnd()
  /** Members of frames without choices; the next frame that is shown carries them. */
  #beside: Record<string, unknown> | null = null
  #besideBytes = 0

  constructor(context: AnswerContext, quirks: ChatQuirks) {
    super()
    this.#context = context
    this.#quirks = quirks
  }

  get choicesFinished(): number {
    return this.#end.finished
  }

  protected get progress(): StreamStage {
    return this.#end.stage
  }

  protected readDone(): void {
    this.#end.tell('terminator')
  }

  /**
   * A complete last frame may lack its empty line. Once the answer is complete, the rest of a frame does not matter.
   */
  protected takesRest(rest: ByteText): boolean {
    return this.choicesFinished === 0 || isWholeFrame(rest)
  }

  protected finish(): void {
    // A provider that sent usage and the terminator has answered, with or without a finish reason.
    if (this.#end.state === 'terminated') this.#finishAll()
    for (const choice of this.#choices.values()) completeCalls(choice)
    const reason = this.#end.whyBroken()
    if (reason !== null) throw new Error(reason)
  }

  #finishAll(): void {
    for (const [index, state] of this.#choices) {
      if (state.isFinished) continue
      const { choice, reason } = endOf(index, state)
      this.#end.tell('finish')
      // A choice with neither output nor a finish reason is not billed as an answer.
      if (this.meter.outputPieces > 0) this.#reading.finishReason ??= reason
      this.keepBack({ ...this.#identity(), choices: [choice] }, 0)
    }
  }

  reading(): MeterReading {
    const { outputBytes, outputPieces } = this.meter
    return {
      ...this.#reading,
      outputBytes,
      outputPieces,
      usage: this.#read?.usage ?? null,
      source: this.#read ? 'provider' : 'estimated',
      reportedCostNanocredits: this.#read?.reportedCostNanocredits ?? null,
      ...((this.#read?.providerCalls ?? 0) > 0 ? { providerCalls: this.#read?.providerCalls ?? 0 } : {}),
    }
  }

  encodeEnding(charge: ShownCharge): Uint8Array {
    const last = { ...this.#beside, usage: showChatUsage(this.#read, charge), ...showMetadata(charge) }
    const chunks = endingChunks(this.kept, this.#identity(), last)
    return toBytes(`${this.takeUnshown()}${chunks.map(encodeFrame).join('')}data: [DONE]\n\n`)
  }

  encodeError(error: GatewayError): Uint8Array {
    return toBytes(
      encodeFrame({
        ...this.#identity(),
        error: showError(error),
        choices: [{ index: 0, delta: { content: '' }, finish_reason: 'error' }],
      }),
    )
  }

  #identity(): Record<string, unknown> {
    return toShownChunk({ id: '', object: '', created: 0, model: '' }, this.#context)
  }

  protected read(wire: FrameWire, frame: ByteText): ByteText {
    if (wire['error'] !== undefined && wire['error'] !== null)
      throw readReportedError(wire['error'], this.#context)
    this.#readAlong(wire)
    const choices = Array.isArray(wire['choices']) ? wire['choices'].filter(isRecord) : []
    const shownChoices: Record<string, unknown>[] = []
    const keptChoices: Record<string, unknown>[] = []
    if (Array.isArray(wire['choices']) && choices.length === 0) this.#keepBeside(wire, frame.length)
    let mayLearn = choices.length === 1 && this.#beside === null
    let slot: TextSlot | null = null
    for (const wireChoice of choices) {
      if (isRecord(wireChoice['error'])) throw readReportedError(wireChoice['error'], this.#context)
      const index = tokenCountOrNull(wireChoice['index']) ?? 0
      const state = this.#choiceAt(index)
      const { choice, delta, beganMessage, beganToolCall } = toShownChoice(wireChoice, index, state)
      // A new call may shift the indexes in templates learned earlier.
      if (beganToolCall) this.forgetTemplates()
      const wasFinished = state.isFinished
      const isFinished = wasFinished || this.#finish(wireChoice, choice, state)
      const bytes = outputBytesOf(delta)
      if (bytes > 0) this.meter.addPiece(bytes)
      // A second, empty finish frame would end the choice twice.
      if (wasFinished && bytes === 0) continue
      if (isFinished) moveEnding(state, choice)
      mayLearn &&= !isFinished && !beganMessage && !beganToolCall
      slot = isRecord(wireChoice['delta']) ? findTextSlot(wireChoice['delta'], delta) : null
      // Each choice separately: a choice that continues must not come after its own next piece.
      if (isFinished) keptChoices.push(choice)
      else {
        shownChoices.push(choice)
        this.hasShownOutput ||= bytes > 0
      }
    }
    if (keptChoices.length > 0) {
      const kept = toShownChunk(wire, this.#context)
      kept['choices'] = keptChoices
      this.keepBack(kept, frame.length)
    }
    // OpenAI's last frame has usage alone. A provider that writes its choices one after the other sends usage with the
    // end of each.
    this.#end.tell(choices.length === 0 && hasUsage(wire) ? 'usage_alone' : 'chunk')
    if (shownChoices.length === 0) {
      this.readsEach = this.#end.finished > 0 || this.#beside !== null
      return ''
    }
    const shown = toShownChunk(wire, this.#context)
    shown['choices'] = shownChoices
    const chunk = this.#beside === null ? shown : { ...this.#beside, ...shown }
    this.#beside = null
    // After the first finish reason, which choices have ended decides what is shown.
    this.readsEach = this.#end.finished > 0
    if (!mayLearn || slot === null || hasUsage(wire)) return encodeFrame(chunk)
    return this.#learnFrom(frame, chunk, slot) ?? encodeFrame(chunk)
  }

  #keepBeside(wire: FrameWire, bytes: number): void {
    this.#beside = membersBeside(wire, this.#beside)
    if (this.#beside !== null) this.#besideBytes += bytes
    if (this.#besideBytes > streamHeldBytesMax) throw new RangeError('too much was said without an answer')
  }

  #readAlong(wire: FrameWire): void {
    this.#reading.upstreamId ??= filledTextOrNull(wire['id'])
    this.#reading.upstreamModel ??= filledTextOrNull(wire['model'])
    this.#reading.serviceTier ??= tierOf(wire)
    const groq = isRecord(wire['x_groq']) ? wire['x_groq'] : null
    const usage = wire['usage'] ?? groq?.['usage'] ?? null
    if (usage === null) return
    this.#end.tell('usage')
    const breakdown = wire['usage_breakdown'] ?? groq?.['usage_breakdown']
    this.#read = readChatUsage(usage, this.#quirks, breakdown) ?? this.#read
  }

  #choiceAt(index: number): ChoiceState {
    let state = this.#choices.get(index)
    if (state === undefined) {
      if (this.#choices.size >= streamChoicesMax) throw new RangeError('too many choices')
      state = new ChoiceState(`${this.#context.generationId}_${index}`)
      this.#choices.set(index, state)
      this.#end.tell('begin')
    }
    return state
  }

  /** Whether the choice ends here. */
  #finish(wire: FrameWire, choice: Record<string, unknown>, state: ChoiceState): boolean {
    const native = readNativeReason(wire)
    if (native === null) return false
    this.#end.tell('finish')
    const reason = toFinishReason(native, state.sawToolCalls)
    const shownNative = shownNativeReason(wire)
    choice['finish_reason'] = reason
    choice['native_finish_reason'] = shownNative
    this.#reading.finishReason ??= reason
    this.#reading.nativeFinishReason ??= shownNative
    return true
  }

  /** The frame as its template shows it; null when no template was learned. */
  #learnFrom(frame: ByteText, chunk: Chunk, slot: TextSlot): ByteText | null {
    if (!this.mayLearn) return null
    const template = learnRewritten(frame, chunk, slot)
    this.learn(template)
    return template && this.showBy(template, frame)
  }
}

function hasUsage(wire: FrameWire): boolean {
  return (wire['usage'] !== undefined && wire['usage'] !== null) || wire['x_groq'] !== undefined
}

function isWholeFrame(text: ByteText): boolean {
  const data = readFrameData(text)
  if (data === null) return false
  try {
    JSON.parse(toUtf8(data))
    return true
  } catch {
    return false
  }
}
