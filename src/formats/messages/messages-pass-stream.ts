import type { BodyPiece } from '../../canonical/body.ts'
import type {
  AnswerContext,
  MeterReading,
  ShownCharge,
  StreamRewriter,
  StreamStage,
} from '../../canonical/upstream.ts'
import type { GatewayError } from '../../core/errors.ts'
import { jsonDepthMax, streamFrameBytesMax, streamHeldFramesMax } from '../../core/limits/text.ts'
import { isRecord } from '../chat/chat-media.ts'
import { showMetadata } from '../chat/chat-usage.ts'
import { isNestedWithin } from '../json-depth.ts'
import {
  createFrameSplitter,
  fromUtf8,
  readFrameData,
  toBytes,
  toPiece,
  toUtf8,
  type ByteText,
} from '../sse.ts'
import { StreamMeter } from '../stream-meter.ts'
import { toStreamFailure } from '../stream-reader.ts'
import { writeMessagesError } from './messages-error.ts'
import { identityOf, passUsage } from './messages-pass.ts'
import { MessagesHandler } from './messages-stream.ts'
import { writeStop } from './messages-write.ts'

type Wire = Record<string, unknown>

/** A stream of a provider of the same format: its frames as they come, read along by the meter. */
export function createMessagesPassage(context: AnswerContext): StreamRewriter {
  return new MessagesPassage(context)
}

class MessagesPassage implements StreamRewriter {
  failure: GatewayError | null = null
  hasShownOutput = false
  readonly #context: AnswerContext
  readonly #splitter = createFrameSplitter(streamFrameBytesMax)
  readonly #meter = new StreamMeter()
  readonly #handler: MessagesHandler
  /** The beginning, until something follows: till then another endpoint may still answer. */
  #unshown: ByteText = ''
  /** What follows the reason of the end, kept back until the charge is durable. */
  readonly #held: Wire[] = []
  /** Counts are cumulative; what the end leaves out stays as the beginning told it. */
  readonly #usage: Wire = {}
  #sawDone = false

  constructor(context: AnswerContext) {
    this.#context = context
    this.#handler = new MessagesHandler(context, (event) => this.#meter.read(event))
  }

  get choicesFinished(): number {
    return this.#meter.finishes.length
  }

  get stage(): StreamStage {
    if (this.failure) return 'failed'
    if (this.#isTerminated) return 'terminated'
    return this.#meter.isAccounted ? 'accounted' : 'running'
  }

  get #isTerminated(): boolean {
    return this.#sawDone || this.#handler.isTerminated
  }

  push(chunk: Uint8Array): BodyPiece | null {
    if (this.failure) return null
    let shown: ByteText = ''
    try {
      const frames = this.#splitter.push(chunk)
      if (frames !== null) for (const frame of frames.split('\n\n')) shown += this.#pass(frame)
    } catch (cause) {
      this.failure = toStreamFailure(cause)
    }
    return shown === '' ? null : toPiece(shown)
  }

  end(): void {
    if (this.failure) return
    try {
      const rest = this.#splitter.end()
      // What it shows begins with what was unshown so far.
      if (rest !== null && !this.#handler.isWhole) this.#unshown = this.#pass(rest) || this.#unshown
      if (this.#isTerminated) this.#handler.end()
      if (!this.#handler.isWhole) throw new Error('the body ended before a stop reason')
    } catch (cause) {
      this.failure = toStreamFailure(cause)
    }
  }

  reading(): MeterReading {
    return this.#meter.reading()
  }

  encodeEnding(charge: ShownCharge): Uint8Array {
    const tier = this.#meter.usage?.serviceTier ?? null
    const frames = this.#held.map((wire) => {
      if (wire['type'] !== 'message_delta') return wire
      return { ...wire, usage: passUsage(this.#usage, charge, tier) }
    })
    const [finish = null] = this.#meter.finishes
    // Some servers end without having said why.
    if (!frames.some(({ type }) => type === 'message_delta')) {
      frames.push({
        type: 'message_delta',
        delta: writeStop(finish),
        usage: passUsage(this.#usage, charge, tier),
      })
    }
    const ended = frames.filter(({ type }) => type !== 'message_stop').map(toFrame)
    const stop = toFrame({ type: 'message_stop', ...showMetadata(charge) })
    return toBytes(`${this.#unshown}${ended.join('')}${stop}`)
  }

  encodeError(error: GatewayError): Uint8Array {
    const unshown = this.#unshown
    this.#unshown = ''
    return toBytes(unshown + fromUtf8(writeMessagesError(error, this.#context.generationId)))
  }

  /** What may be shown of one frame. */
  #pass(frame: ByteText): ByteText {
    const data = readFrameData(frame) ?? (frame.trimStart().startsWith('{') ? frame : null)
    if (data === null || data.trim() === '') return ''
    // Some compatible servers end as a chat stream does, behind the format's own end or in its place.
    if (data.trim() === '[DONE]') {
      this.#sawDone = true
      return ''
    }
    if (!isNestedWithin(data, jsonDepthMax)) throw new RangeError('a frame is nested too deep')
    const wire: unknown = JSON.parse(toUtf8(data))
    if (!isRecord(wire)) throw new Error('a frame is not an object')
    this.#handler.read(wire)
    const { type, message, usage } = wire
    if (type === 'message_start' && isRecord(message)) return this.#begin(wire, message)
    if (isRecord(usage)) Object.assign(this.#usage, withoutNulls(usage))
    if (this.choicesFinished > 0) {
      this.#held.push(wire)
      if (this.#held.length > streamHeldFramesMax) throw new RangeError('too much followed a stop reason')
      return ''
    }
    if (type === 'ping') return ''
    if (type === 'content_block_delta') this.hasShownOutput = true
    const shown = `${this.#unshown}${frame}\n\n`
    this.#unshown = ''
    return shown
  }

  /** Some compatible servers begin twice; clients take one beginning. */
  #begin(wire: Wire, message: Wire): ByteText {
    const { usage } = message
    const isFirst = Object.keys(this.#usage).length === 0 && this.#unshown === '' && !this.hasShownOutput
    if (isRecord(usage)) Object.assign(this.#usage, withoutNulls(usage))
    if (isFirst) {
      this.#unshown = toFrame({ ...wire, message: { ...message, ...identityOf(this.#context) } })
    }
    return ''
  }
}

function withoutNulls(usage: Wire): Wire {
  return Object.fromEntries(Object.entries(usage).filter(([, value]) => value !== null))
}

function toFrame(wire: Wire): ByteText {
  return fromUtf8(`event: ${String(wire['type'])}\ndata: ${JSON.stringify(wire)}\n\n`)
}
