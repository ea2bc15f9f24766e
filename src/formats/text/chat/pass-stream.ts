import type { BodyPiece } from '../../../core/body.ts'
import type {
  AnswerContext,
  MeterReading,
  ShownCharge,
  StreamRewriter,
  StreamStage,
} from '../../../canonical/upstream.ts'
import { GatewayError } from '../../../core/errors.ts'
import {
  jsonDepthMax,
  streamChoicesMax,
  streamFrameBytesMax,
  streamHeldBytesMax,
  streamPictureFrameBytesMax,
  streamTemplatesMax,
  streamTemplatesUnusedMax,
} from '../../../core/limits/text.ts'
import {
  type ByteText,
  createFrameSplitter,
  encodeFrame,
  readFrameData,
  toBytes,
  toPiece,
  toUtf8,
} from '../../sse.ts'
import { isNestedWithin } from '../../../json/depth.ts'
import { toStreamFailure } from '../streams/stream-reader.ts'
import { readReportedError } from '../../upstream-errors.ts'
import { showError } from './pass.ts'
import { startReading, tierOf } from '../usage-readers.ts'
import { filledTextOrNull, isRecord, tokenCountOrNull } from '../../../json/values.ts'
import { ChatEnd } from './pass-end.ts'
import { ChoiceState, findTextSlot, membersBeside, toShownChoice, toShownChunk } from './pass-chunk.ts'
import { outputBytesOf, readNativeReason, shownNativeReason } from './choice.ts'
import { toFinishReason } from '../finish-reason.ts'
import type { ChatQuirks } from './quirks.ts'
import { readChatUsage, type ReadUsage, showChatUsage } from './usage.ts'
import { showMetadata } from '../shown-charge.ts'
import { fitFrame, type FrameTemplate, learnTemplate, type TextSlot } from '../streams/frame-template.ts'
import { completeCalls, endOf, moveEnding, StreamEnding } from './pass-ending.ts'

/** Rewrites a chat completions stream into the contract's, as canonical/upstream.ts describes. */
export function createChatStream(context: AnswerContext, quirks: ChatQuirks): StreamRewriter {
  return new ChatStream(context, quirks)
}

type Wire = Readonly<Record<string, unknown>>

class ChatStream implements StreamRewriter {
  hasShownOutput = false
  readonly #context: AnswerContext
  readonly #quirks: ChatQuirks
  readonly #splitter = createFrameSplitter(streamFrameBytesMax, streamPictureFrameBytesMax)
  readonly #choices = new Map<number, ChoiceState>()
  readonly #reading: MeterReading = startReading({})
  #read: ReadUsage | null = null
  /** Most recently used first. */
  #templates: FrameTemplate[] = []
  #unusedTemplates = 0
  readonly #end = new ChatEnd()
  readonly #ending = new StreamEnding()
  /** Members of frames without choices, on their way to the next frame that is shown. */
  #beside: Record<string, unknown> | null = null
  #besideBytes = 0
  /** Shown frames that only the end of the body made whole. */
  #late: ByteText = ''

  constructor(context: AnswerContext, quirks: ChatQuirks) {
    this.#context = context
    this.#quirks = quirks
  }

  get failure(): GatewayError | null {
    return this.#end.failure
  }

  get choicesFinished(): number {
    return this.#end.finished
  }

  get stage(): StreamStage {
    return this.#end.stage
  }

  push(chunk: Uint8Array): BodyPiece | null {
    if (this.failure) return null
    let block: ByteText | null
    try {
      block = this.#splitter.push(chunk)
    } catch (cause) {
      this.#fail(cause)
      return null
    }
    const shown = block === null ? '' : this.#rewrite(block)
    return shown === '' ? null : toPiece(shown)
  }

  end(): void {
    if (this.failure) return
    const rest = this.#splitter.end()
    // A whole last frame may lack its empty line; half a frame after the answer is complete is of no interest.
    const { hasShownOutput } = this
    if (rest !== null && !(this.choicesFinished > 0 && !isWholeFrame(rest)))
      this.#late = this.#rewrite(`${rest}\n\n`)
    this.hasShownOutput = hasShownOutput
    if (this.failure) return
    // A provider that has counted and said that this is all has answered, with or without a reason.
    if (this.#end.state.is === 'terminated') this.#finishAll()
    for (const choice of this.#choices.values()) completeCalls(choice)
    const reason = this.#end.whyBroken()
    if (reason !== null) this.#fail(new Error(reason))
  }

  #finishAll(): void {
    for (const [index, state] of this.#choices) {
      if (state.isFinished) continue
      const { choice, reason } = endOf(index, state)
      this.#end.tell('finish')
      // Without a word and without a reason there is no answer that anybody would pay for.
      if (this.#reading.outputBytes > 0 || this.#reading.outputPieces > 0)
        this.#reading.finishReason ??= reason
      this.#keepBack({ ...this.#identity(), choices: [choice] }, 0)
    }
  }

  reading(): MeterReading {
    return {
      ...this.#reading,
      usage: this.#read?.usage ?? null,
      source: this.#read ? 'provider' : 'estimated',
      reportedCostNanocredits: this.#read?.reportedCostNanocredits ?? null,
      ...((this.#read?.providerCalls ?? 0) > 0 ? { providerCalls: this.#read?.providerCalls ?? 0 } : {}),
    }
  }

  encodeEnding(charge: ShownCharge): Uint8Array {
    const chunks = this.#ending.chunks(this.#identity(), {
      ...this.#beside,
      usage: showChatUsage(this.#read, charge),
      ...showMetadata(charge),
    })
    return toBytes(`${this.#late}${chunks.map(encodeFrame).join('')}data: [DONE]\n\n`)
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

  #fail(cause: unknown): void {
    this.#end.fail(toStreamFailure(cause))
  }

  /** What may be shown of whole frames; stops at the first that breaks the stream. */
  #rewrite(block: ByteText): ByteText {
    let shown = ''
    let position = 0
    while (position < block.length && !this.failure) {
      const fitted = this.#fit(block, position)
      if (fitted !== null) {
        shown += fitted.shown
        position = fitted.next
        continue
      }
      const end = block.indexOf('\n\n', position)
      if (end === -1) break
      shown += this.#rewriteFrame(block.slice(position, end))
      position = end + 2
      while (block.charCodeAt(position) === 0x0a) position += 1
    }
    return shown
  }

  /** The common case: the frame differs from an earlier one only in the text. */
  #fit(block: ByteText, position: number) {
    // Past the first finish reason, who is finished decides what is shown, so every frame is looked at.
    if (this.#end.finished > 0 || this.#beside !== null) return null
    const templates = this.#templates
    for (let at = 0; at < templates.length; at += 1) {
      const template = templates[at]
      const fitted = template ? fitFrame(template, block, position) : null
      if (fitted === null || template === undefined) continue
      if (at > 0) {
        templates.splice(at, 1)
        templates.unshift(template)
      }
      this.#unusedTemplates = 0
      this.#reading.outputBytes += fitted.textBytes
      if (fitted.textBytes > 0) {
        this.#reading.outputPieces += 1
        this.hasShownOutput = true
      }
      return fitted
    }
    return null
  }

  #rewriteFrame(frame: ByteText): ByteText {
    const data = readFrameData(frame)
    if (data === null) return this.#rewriteBare(frame)
    if (data.trim() === '') return ''
    if (data.trim() === '[DONE]') {
      this.#end.tell('terminator')
      return ''
    }
    return this.#rewriteData(data, frame)
  }

  /** Some hosts answer a stream with JSON, which has no events at all: an error behind a success status, or a whole answer. */
  #rewriteBare(text: ByteText): ByteText {
    return text.trimStart().startsWith('{') ? this.#rewriteData(text, text) : ''
  }

  #rewriteData(data: ByteText, frame: ByteText): ByteText {
    if (!isNestedWithin(data, jsonDepthMax)) {
      this.#fail(new RangeError('a frame is nested too deep'))
      return ''
    }
    let wire: unknown
    try {
      wire = JSON.parse(toUtf8(data))
    } catch (cause) {
      this.#fail(cause)
      return ''
    }
    if (!isRecord(wire)) {
      this.#fail(new Error('a frame is not an object'))
      return ''
    }
    if (wire['error'] !== undefined && wire['error'] !== null) {
      this.#fail(readReportedError(wire['error'], this.#context))
      return ''
    }
    try {
      return this.#rewriteChunk(wire, frame)
    } catch (cause) {
      if (!(cause instanceof GatewayError)) throw cause
      this.#fail(cause)
      return ''
    }
  }

  #rewriteChunk(wire: Wire, frame: ByteText): ByteText {
    this.#readAlong(wire)
    const choices = Array.isArray(wire['choices']) ? wire['choices'].filter(isRecord) : []
    const shownChoices: Record<string, unknown>[] = []
    const keptChoices: Record<string, unknown>[] = []
    if (Array.isArray(wire['choices']) && choices.length === 0) this.#keepBeside(wire, frame.length)
    let mayLearn = choices.length === 1 && this.#beside === null
    let slot: TextSlot | null = null
    for (const wireChoice of choices) {
      if (isRecord(wireChoice['error'])) {
        this.#fail(readReportedError(wireChoice['error'], this.#context))
        return ''
      }
      const index = tokenCountOrNull(wireChoice['index']) ?? 0
      const state = this.#choiceAt(index)
      const { choice, delta, beganMessage, beganToolCall } = toShownChoice(wireChoice, index, state)
      // A new call may move the indexes that earlier templates have learned.
      if (beganToolCall) this.#templates = []
      const wasFinished = state.isFinished
      const isFinished = wasFinished || this.#finish(wireChoice, choice, state)
      const bytes = outputBytesOf(delta)
      this.#reading.outputBytes += bytes
      if (bytes > 0) this.#reading.outputPieces += 1
      // A second finish frame with nothing to say would end the answer twice.
      if (wasFinished && bytes === 0) continue
      if (isFinished) moveEnding(state, choice)
      mayLearn &&= !isFinished && !beganMessage && !beganToolCall
      slot = isRecord(wireChoice['delta']) ? findTextSlot(wireChoice['delta'], delta) : null
      // Each choice for itself: one that goes on must not come after what it says next.
      if (isFinished) keptChoices.push(choice)
      else {
        shownChoices.push(choice)
        this.hasShownOutput ||= bytes > 0
      }
    }
    if (keptChoices.length > 0) {
      this.#keepBack({ ...toShownChunk(wire, this.#context), choices: keptChoices }, frame.length)
    }
    // OpenAI's last frame; a provider that writes its answers one after the other gives usage with their ends.
    this.#end.tell(choices.length === 0 && hasUsage(wire) ? 'usage_alone' : 'chunk')
    if (shownChoices.length === 0) return ''
    const chunk = { ...this.#beside, ...toShownChunk(wire, this.#context), choices: shownChoices }
    this.#beside = null
    const template = mayLearn && slot !== null && !hasUsage(wire) ? this.#learn(frame, chunk, slot) : null
    const fitted = template && fitFrame(template, `${frame}\n\n`, 0)
    return fitted?.shown ?? encodeFrame(chunk)
  }

  #keepBeside(wire: Wire, bytes: number): void {
    this.#beside = membersBeside(wire, this.#beside)
    if (this.#beside !== null) this.#besideBytes += bytes
    if (this.#besideBytes > streamHeldBytesMax)
      this.#fail(new RangeError('too much was said without an answer'))
  }

  #readAlong(wire: Wire): void {
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
      if (this.#choices.size >= streamChoicesMax) this.#fail(new RangeError('too many choices'))
      state = new ChoiceState(`${this.#context.generationId}_${index}`)
      this.#choices.set(index, state)
      this.#end.tell('begin')
    }
    return state
  }

  /** Whether the choice ends here. */
  #finish(wire: Wire, choice: Record<string, unknown>, state: ChoiceState): boolean {
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

  #learn(frame: ByteText, chunk: Record<string, unknown>, slot: TextSlot): FrameTemplate | null {
    if (this.#unusedTemplates >= streamTemplatesUnusedMax) return null
    this.#unusedTemplates += 1
    const template = learnTemplate(frame, chunk, slot)
    if (template === null) return null
    this.#templates.unshift(template)
    if (this.#templates.length > streamTemplatesMax) this.#templates.pop()
    return template
  }

  #keepBack(chunk: Record<string, unknown>, bytes: number): void {
    try {
      this.#ending.keepBack(chunk, bytes)
    } catch (cause) {
      this.#fail(cause)
    }
  }
}

function hasUsage(wire: Wire): boolean {
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
