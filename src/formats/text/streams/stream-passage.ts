import type { BodyPiece } from '../../../core/body.ts'
import type { MeterReading, ShownCharge, StreamRewriter, StreamStage } from '../../../canonical/upstream.ts'
import type { GatewayError } from '../../../core/errors.ts'
import {
  jsonDepthMax,
  streamFrameBytesMax,
  streamHeldBytesMax,
  streamHeldFramesMax,
  streamPictureFrameBytesMax,
} from '../../../core/limits/text.ts'
import { isNestedWithin } from '../../../json/scan.ts'
import { isRecord } from '../../../json/values.ts'
import { type ByteText, createFrameSplitter, readFrameData, toPiece, toUtf8, fromUtf8 } from '../../sse.ts'
import { fitFrame, type FrameCursor, type FrameTemplate } from './frame-template.ts'
import { StreamMeter } from './stream-meter.ts'
import { toStreamFailure } from './stream-reader.ts'

/** Templates of a stream's frames kept at once, and learned without use before frames are simply parsed. */
const streamTemplatesMax = 6
export const streamTemplatesUnusedMax = 64

/** The JSON of one frame. */
export type FrameWire = Record<string, unknown>

/** A frame whose event has the name of its `type`. */
export function toTypedFrame(wire: Readonly<FrameWire>): ByteText {
  return fromUtf8(`event: ${String(wire['type'])}\ndata: ${JSON.stringify(wire)}\n\n`)
}

/**
 * A stream of a provider with the caller's own format; `stream-reader.ts` reads a provider of another format, and
 * `translated-stream.ts` writes its stream. Each frame is either parsed and shown with the smallest edit, or
 * recognised by a template and copied. The last frames are kept back until the charge is known. A subclass has the
 * rules of its format: which frames are deltas, what is counted, and how the stream ends. `Kept` is the form in which
 * the format keeps back a frame.
 */
export abstract class StreamPassage<Kept> implements StreamRewriter {
  failure: GatewayError | null = null
  hasShownOutput = false
  protected readonly meter = new StreamMeter()
  /** Frames that wait for the next one; until then another endpoint may still answer. */
  protected unshown: ByteText = ''
  /** Frames that wait until the charge is durable. */
  protected readonly kept: Kept[] = []
  /** Whether every frame is parsed, even one that fits a template. */
  protected readsEach = false
  readonly #splitter = createFrameSplitter(streamFrameBytesMax, streamPictureFrameBytesMax)
  readonly #cursor: FrameCursor = { position: 0, number: 0, shown: '', text: '' }
  #keptBytes = 0
  /** The most recently used first. */
  readonly #templates: FrameTemplate[] = []
  #unusedTemplates = 0

  abstract readonly choicesFinished: number
  /** The stage of a stream that has not failed. */
  protected abstract readonly progress: StreamStage
  abstract reading(): MeterReading
  abstract encodeEnding(charge: ShownCharge): Uint8Array
  abstract encodeError(error: GatewayError): Uint8Array

  /** The text to show for one frame. An error that it throws breaks the stream. */
  protected abstract read(wire: FrameWire, frame: ByteText, data: ByteText): ByteText
  /** `[DONE]` came. */
  protected abstract readDone(): void
  /** Whether the rest at the end of the body, which lacks its empty line, is read as a frame. */
  protected abstract takesRest(rest: ByteText): boolean
  /** The body has ended. Throws when the answer is incomplete. */
  protected abstract finish(): void

  /** Whether the answer is complete, so that later frames are ignored. */
  protected get isOver(): boolean {
    return false
  }

  /** A frame that fitted a template has this text, which is the inside of a JSON string. */
  protected noteText(_inside: ByteText): void {}

  get stage(): StreamStage {
    return this.failure === null ? this.progress : 'failed'
  }

  push(chunk: Uint8Array): BodyPiece | null {
    if (this.failure !== null) return null
    let block: ByteText | null = null
    try {
      block = this.#splitter.push(chunk)
    } catch (cause) {
      this.failure = toStreamFailure(cause)
    }
    const shown = block === null ? '' : this.#rewrite(block)
    return shown === '' ? null : toPiece(shown)
  }

  end(): void {
    if (this.failure !== null) return
    const { hasShownOutput } = this
    const rest = this.#splitter.end()
    // Its output begins with the frames that were still unshown.
    if (rest !== null && this.takesRest(rest)) this.unshown = this.#rewrite(`${rest}\n\n`) || this.unshown
    this.hasShownOutput = hasShownOutput
    if (this.failure !== null) return
    try {
      this.finish()
    } catch (cause) {
      this.failure = toStreamFailure(cause)
    }
  }

  /** The text to show for complete frames; stops at the first frame that breaks the stream. */
  #rewrite(block: ByteText): ByteText {
    const cursor = this.#cursor
    cursor.position = 0
    let shown = ''
    try {
      while (cursor.position < block.length) {
        if (this.#fits(block)) {
          shown += cursor.shown
        } else if (block.charCodeAt(cursor.position) === 0x0a) {
          // Some servers write more than one empty line.
          cursor.position += 1
        } else {
          const end = block.indexOf('\n\n', cursor.position)
          const frame = block.slice(cursor.position, end)
          cursor.position = end + 2
          shown += this.#readFrame(frame)
        }
      }
    } catch (cause) {
      this.failure = toStreamFailure(cause)
    }
    return shown
  }

  /** The common case: the frame differs from an earlier one only in its text. */
  #fits(block: ByteText): boolean {
    if (this.readsEach) return false
    const templates = this.#templates
    const cursor = this.#cursor
    for (let at = 0; at < templates.length; at += 1) {
      const template = templates[at]
      if (template === undefined || !fitFrame(template, block, cursor)) continue
      if (at > 0) {
        templates.splice(at, 1)
        templates.unshift(template)
      }
      this.#unusedTemplates = 0
      cursor.number += 1
      if (cursor.text !== '') {
        this.meter.addPiece(cursor.text.length)
        this.hasShownOutput = true
        this.noteText(cursor.text)
      }
      return true
    }
    return false
  }

  #readFrame(frame: ByteText): ByteText {
    // Some hosts answer a stream with plain JSON: an error with a success status, or a whole answer.
    const data = readFrameData(frame) ?? (frame.trimStart().startsWith('{') ? frame : null)
    if (data === null || this.isOver) return ''
    const trimmed = data.trim()
    if (trimmed === '') return ''
    if (trimmed === '[DONE]') {
      this.readDone()
      return ''
    }
    if (!isNestedWithin(data, jsonDepthMax)) throw new RangeError('a frame is nested too deep')
    const wire: unknown = JSON.parse(toUtf8(data))
    if (!isRecord(wire)) throw new Error('a frame is not an object')
    return this.read(wire, frame, data)
  }

  /** Drops all templates, because frames that fit them may now mean something else. */
  protected forgetTemplates(): void {
    this.#templates.length = 0
  }

  /** The number of the next shown frame, in a format with numbers. */
  protected get nextNumber(): number {
    return this.#cursor.number
  }

  protected takeNumber(): number {
    const { number } = this.#cursor
    this.#cursor.number += 1
    return number
  }

  /** Whether learning is worthwhile. If frames never fit, the stream is simply read. */
  protected get mayLearn(): boolean {
    return this.#unusedTemplates < streamTemplatesUnusedMax
  }

  /** Adds a template. Null is a failed attempt, which makes further attempts less likely. */
  protected learn(template: FrameTemplate | null): void {
    this.#unusedTemplates += 1
    if (template === null) return
    this.#templates.unshift(template)
    if (this.#templates.length > streamTemplatesMax) this.#templates.pop()
  }

  /** The frame as its new template shows it: the text keeps its escapes. */
  protected showBy(template: FrameTemplate, frame: ByteText): ByteText | null {
    const cursor = { position: 0, number: 0, shown: '', text: '' }
    return fitFrame(template, `${frame}\n\n`, cursor) ? cursor.shown : null
  }

  /** Keeps a frame back; `bytes` is its size on arrival. Throws a RangeError when too much is kept. */
  protected keepBack(kept: Kept, bytes: number): void {
    this.kept.push(kept)
    this.#keptBytes += bytes
    if (this.#keptBytes > streamHeldBytesMax || this.kept.length > streamHeldFramesMax)
      throw new RangeError('too much followed a finish reason')
  }

  /** Takes out the unshown frames, to show them now. */
  protected takeUnshown(): ByteText {
    const { unshown } = this
    this.unshown = ''
    return unshown
  }
}

/** A stream that contains another one and changes its output. */
export abstract class WrappedStream implements StreamRewriter {
  protected stream: StreamRewriter

  constructor(stream: StreamRewriter) {
    this.stream = stream
  }

  get failure(): GatewayError | null {
    return this.stream.failure
  }

  get hasShownOutput(): boolean {
    return this.stream.hasShownOutput
  }

  get choicesFinished(): number {
    return this.stream.choicesFinished
  }

  get stage(): StreamStage {
    return this.stream.stage
  }

  push(chunk: Uint8Array): BodyPiece | null {
    return this.stream.push(chunk)
  }

  end(): void {
    this.stream.end()
  }

  reading(): MeterReading {
    return this.stream.reading()
  }

  encodeEnding(charge: ShownCharge): Uint8Array {
    return this.stream.encodeEnding(charge)
  }

  encodeError(error: GatewayError): Uint8Array {
    return this.stream.encodeError(error)
  }
}
