import type { TextCall } from '../../canonical/call.ts'
import type { Endpoint } from '../../canonical/endpoint.ts'
import type {
  AnswerContext,
  DecodedAnswer,
  MeterReading,
  ShownCharge,
  StreamRewriter,
  StreamStage,
} from '../../canonical/upstream.ts'
import { noUsage } from '../../canonical/usage.ts'
import type { BodyPiece } from '../../core/body.ts'
import { fieldError, type GatewayError } from '../../core/errors.ts'
import {
  jsonDepthMax,
  streamFrameBytesMax,
  streamHeldBytesMax,
  streamHeldFramesMax,
} from '../../core/limits/text.ts'
import { editPieces, hasMember, memberValue } from '../../json/document.ts'
import {
  filledTextOrNull,
  isRecord,
  parsePlainly,
  recordOrNull,
  recordsOrEmpty,
  textOrEmpty,
  textOrNull,
  tokenCountOrNull,
} from '../../json/values.ts'
import { isNestedWithin } from '../../json/scan.ts'
import { createFrameSplitter, fromUtf8, readFrameData, toBytes, toPiece, toUtf8 } from '../sse.ts'
import type { AskedInterface } from '../text/text-interface.ts'
import type { TextCodec } from '../text/codec.ts'
import type { EncodedRequest } from '../text/halves.ts'
import { showCharge, showMetadata } from '../text/shown-charge.ts'
import { toStreamFailure } from '../text/streams/stream-reader.ts'
import { startReading } from '../text/usage-readers.ts'
import { readReportedError, readUpstreamFailure } from '../upstream-errors.ts'
import { parseAnswer, unreadable } from '../upstream-json.ts'
import { answersMax, completionsRequestShape } from './request-schema.ts'
import { identityOf, shownError, writeCompletionsUsage } from './write-answer.ts'

/** Where a provider differs from OpenAI's legacy completions, as data. */
export interface CompletionsOptions {
  /**
   * Members that the provider lacks and that change the answer: a call that sets one goes to another provider. Default
   * none.
   */
  refuses?: readonly string[]
  /** What happens to members that no format knows. Default `drop`. */
  unknownMembers?: 'forward' | 'drop'
  /** Which models have this format. Default all. */
  serves?: (asked: AskedInterface) => boolean
}

type Options = Required<Omit<CompletionsOptions, 'serves'>>

/** A provider's answer passes unchanged, except for the provider's name and the cost. */
export function completionsCodec(options: Options): TextCodec {
  return {
    encodeRequest: (call, endpoint) => encodeRequest(call, endpoint, options),
    decodeAnswer,
    createStream: (context) => new CompletionsPassage(context),
    readError: readUpstreamFailure,
  }
}

const gatewayMembers: ReadonlySet<string> = new Set([
  'provider',
  'session_id',
  'trace',
  'models',
  'headrace',
  'usage',
])

function encodeRequest(
  call: TextCall,
  endpoint: Endpoint,
  { refuses, unknownMembers }: Options,
): EncodedRequest {
  const { document } = call
  for (const name of refuses) {
    const value = memberValue(document, name) ?? null
    if (value !== null && value !== '' && value !== false)
      throw fieldError(name, `cannot be had of ${call.model}: its provider does not know it.`)
  }
  const set: Record<string, string> = { model: JSON.stringify(endpoint.upstreamModel) }
  if (call.stream) set['stream_options'] = '{"include_usage":true}'
  const remove: string[] = []
  const dropped: string[] = []
  for (const name of document.members.keys()) {
    if (gatewayMembers.has(name)) remove.push(name)
    else if (!Object.hasOwn(completionsRequestShape, name) && unknownMembers === 'drop') {
      remove.push(name)
      if (hasMember(document, name)) dropped.push(name)
    }
  }
  return { body: editPieces(document, { set, remove }), dropped }
}

type Wire = Readonly<Record<string, unknown>>

function decodeAnswer(bytes: Uint8Array, context: AnswerContext): DecodedAnswer {
  const wire = parseAnswer(bytes)
  if (hasError(wire)) throw readReportedError(wire['error'], context)
  const choices = recordsOrEmpty(wire['choices'])
  if (choices.length === 0 || choices.some(({ text }) => typeof text !== 'string'))
    throw unreadable('it has no choices with a text')
  const meter = new CompletionsMeter()
  meter.read(wire)
  const reading = meter.reading()
  return {
    reading,
    encode: (charge) => [
      JSON.stringify({
        ...wire,
        ...identityOf(context),
        choices: choices.map((choice, index) => ({ index, logprobs: null, finish_reason: null, ...choice })),
        usage: usageOf(wire['usage'], charge),
        ...showMetadata(charge),
      }),
    ],
  }
}

/** Some servers report a failure with a success status, as an object or as a text. */
function hasError(wire: Wire): boolean {
  return wire['error'] !== undefined && wire['error'] !== null
}

/** A choice as clients of the format read it: `index` a number, `text` a text. Throws where the provider sent others. */
function toStreamedChoice(choice: Wire): Wire {
  const { index = 0, text } = choice
  if (!Number.isInteger(index)) throw unreadable('a choice has no number')
  if (text !== undefined && text !== null && typeof text !== 'string')
    throw unreadable('a choice has no text')
  return { ...choice, index, text: text ?? '' }
}

/** The provider's own counts, when they are what was charged. */
function usageOf(wire: unknown, charge: ShownCharge): Wire {
  const told = recordOrNull(wire)
  if (told === null || charge.isEstimated) return writeCompletionsUsage(charge)
  const { inputTokens, outputTokens } = charge.usage
  return { total_tokens: inputTokens + outputTokens, ...told, ...showCharge(charge) }
}

/** Reads the usage of a whole answer, or of a stream's frames. */
class CompletionsMeter {
  readonly #reading: MeterReading = startReading({})
  usage: Wire | null = null

  read(wire: Wire): void {
    this.#reading.upstreamId ??= filledTextOrNull(wire['id'])
    this.#reading.upstreamModel ??= filledTextOrNull(wire['model'])
    for (const choice of recordsOrEmpty(wire['choices'])) {
      const text = textOrEmpty(choice['text'])
      if (text !== '') {
        this.#reading.outputBytes += Buffer.byteLength(text)
        this.#reading.outputPieces += 1
      }
      const reason = textOrNull(choice['finish_reason'])
      this.#reading.finishReason ??= reason
      this.#reading.nativeFinishReason ??= reason
    }
    this.usage = recordOrNull(wire['usage']) ?? this.usage
  }

  reading(): MeterReading {
    const input = tokenCountOrNull(this.usage?.['prompt_tokens'])
    const output = tokenCountOrNull(this.usage?.['completion_tokens'])
    if (input === null || output === null) return this.#reading
    const cached = tokenCountOrNull(recordOrNull(this.usage?.['prompt_tokens_details'])?.['cached_tokens'])
    const usage = { ...noUsage, inputTokens: input, outputTokens: output, cachedInputTokens: cached ?? 0 }
    return { ...this.#reading, usage, source: 'provider' }
  }
}

/**
 * Passes a stream on. The frame that first ends a choice, and all frames after it, wait until the charge is captured.
 */
class CompletionsPassage implements StreamRewriter {
  failure: GatewayError | null = null
  hasShownOutput = false
  readonly #context: AnswerContext
  readonly #splitter = createFrameSplitter(streamFrameBytesMax)
  readonly #meter = new CompletionsMeter()
  readonly #kept: Wire[] = []
  #keptBytes = 0
  #isTerminated = false
  /** Indexes of choices that began, and of those among them that have ended. */
  readonly #begun = new Set<unknown>()
  readonly #ended = new Set<unknown>()

  constructor(context: AnswerContext) {
    this.#context = context
  }

  get choicesFinished(): number {
    return this.#ended.size
  }

  get stage(): StreamStage {
    if (this.failure !== null) return 'failed'
    if (this.#isTerminated) return 'terminated'
    const isAccounted = this.#meter.usage !== null && this.choicesFinished > 0 && this.#open().length === 0
    return isAccounted ? 'accounted' : 'running'
  }

  push(chunk: Uint8Array): BodyPiece | null {
    if (this.failure !== null) return null
    let shown = ''
    try {
      const frames = this.#splitter.push(chunk)
      for (const frame of frames?.split('\n\n') ?? []) shown += this.#take(frame)
    } catch (cause) {
      this.failure = toStreamFailure(cause)
    }
    if (shown === '') return null
    this.hasShownOutput = true
    return toPiece(fromUtf8(shown))
  }

  end(): void {
    if (this.failure !== null) return
    try {
      const rest = this.#splitter.end()
      if (rest !== null && this.choicesFinished === 0) this.#take(rest)
      // As in chat: a provider that sent usage, or an end, and the terminator has answered.
      if (this.#isTerminated && (this.#meter.usage !== null || this.choicesFinished > 0)) this.#finishAll()
      if (this.choicesFinished === 0) throw new Error('the body ended before a finish reason')
      if (this.#open().length > 0) throw new Error('the body ended before every choice had a finish reason')
    } catch (cause) {
      this.failure = toStreamFailure(cause)
    }
  }

  /** The choices that began and have not ended. */
  #open(): unknown[] {
    return [...this.#begun].filter((index) => !this.#ended.has(index))
  }

  #finishAll(): void {
    for (const index of this.#open()) {
      const wire = { choices: [{ index, text: '', logprobs: null, finish_reason: 'stop' }] }
      this.#meter.read(wire)
      this.#ended.add(index)
      this.#kept.push(wire)
    }
  }

  encodeEnding(charge: ShownCharge): Uint8Array {
    const usage = usageOf(this.#meter.usage, charge)
    const told = { usage, ...showMetadata(charge) }
    const kept = this.#kept.length === 0 ? [{ choices: [] }] : this.#kept
    const frames = kept.map((wire, index) => this.#frame(wire, index === kept.length - 1 ? told : {}))
    return toBytes(fromUtf8(`${frames.join('')}data: [DONE]\n\n`))
  }

  encodeError(error: GatewayError): Uint8Array {
    const choices = [{ text: '', index: 0, logprobs: null, finish_reason: 'error' }]
    return toBytes(fromUtf8(this.#frame({ choices }, { error: shownError(error) })))
  }

  reading(): MeterReading {
    return this.#meter.reading()
  }

  /** The part of a frame that the caller may have at once. */
  #take(frame: string): string {
    const data = readFrameData(frame) ?? (frame.trimStart().startsWith('{') ? frame : null)
    if (data === null || data.trim() === '') return ''
    if (data.trim() === '[DONE]') {
      this.#isTerminated = true
      return ''
    }
    if (!isNestedWithin(data, jsonDepthMax)) throw new RangeError('a frame is nested too deep')
    const wire = parsePlainly(toUtf8(data))
    if (!isRecord(wire)) throw new Error('a frame is not an object')
    if (hasError(wire)) throw readReportedError(wire['error'], this.#context)
    const choices = recordsOrEmpty(wire['choices']).map(toStreamedChoice)
    const told = { ...wire, choices }
    this.#meter.read(told)
    let isEnd = this.choicesFinished > 0
    for (const choice of choices) {
      if (this.#begun.size >= answersMax) throw new RangeError('too many choices')
      this.#begun.add(choice['index'])
      if (textOrNull(choice['finish_reason']) === null) continue
      isEnd = true
      this.#ended.add(choice['index'])
    }
    if (choices.length === 0) return ''
    if (!isEnd) return this.#frame(told, {})
    this.#keptBytes += data.length
    if (this.#keptBytes > streamHeldBytesMax || this.#kept.length >= streamHeldFramesMax)
      throw new RangeError('too much follows the end of a choice')
    this.#kept.push(told)
    return ''
  }

  /** Shows `usage`, with the cost, only at the end. */
  #frame(wire: Wire, told: Wire): string {
    return `data: ${JSON.stringify({ ...wire, usage: undefined, ...identityOf(this.#context), ...told })}\n\n`
  }
}
