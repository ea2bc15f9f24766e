import { type BodyPiece, joinPieces } from '../../../core/body.ts'
import {
  type DocumentEdits,
  editDocument,
  editPieces,
  type JsonDocument,
  memberBytes,
  memberValue,
} from '../../../json/document.ts'
import type {
  AnswerContext,
  MeterReading,
  ShownCharge,
  StreamRewriter,
  StreamStage,
} from '../../../canonical/upstream.ts'
import type { GatewayError } from '../../../core/errors.ts'
import {
  jsonDepthMax,
  streamFrameBytesMax,
  streamHeldBytesMax,
  streamHeldFramesMax,
  streamPictureFrameBytesMax,
  streamTemplatesUnusedMax,
} from '../../../core/limits/text.ts'
import { isRecord } from '../../../json/values.ts'
import { showMetadata } from '../shown-charge.ts'
import {
  fitFrame,
  type FittedFrame,
  type FrameTemplate,
  learnPassage,
  type TextSlot,
} from '../streams/frame-template.ts'
import { isNestedWithin } from '../../../json/depth.ts'
import {
  type ByteText,
  createFrameSplitter,
  fromUtf8,
  readFrameData,
  toBytes,
  toPiece,
  toUtf8,
} from '../../sse.ts'
import { sealerOf } from '../seals.ts'
import { StreamMeter } from '../streams/stream-meter.ts'
import { toStreamFailure } from '../streams/stream-reader.ts'
import { writeMessagesError } from './errors.ts'
import { asTold, editContent, editsOf, passUsage, sealedMembers, shownMembers } from './pass.ts'
import { toJson, wireDocument } from '../wire-document.ts'
import type { MessagesQuirks } from './quirks.ts'
import { MessagesHandler } from './read-stream.ts'
import { emptyUsage, missingOfDelta, withoutNulls } from './pass-required.ts'
import { writeStop } from './write-answer.ts'

type Wire = Record<string, unknown>

/** A stream of a provider of the same format: its frames as they come, read along by the meter. */
export function createMessagesPassage(context: AnswerContext, quirks: MessagesQuirks): StreamRewriter {
  return new MessagesPassage(context, sealerOf(quirks, context.providerSlug))
}

class MessagesPassage implements StreamRewriter {
  failure: GatewayError | null = null
  hasShownOutput = false
  readonly #context: AnswerContext
  /** Whose mark the seals get; undefined where they need none. */
  readonly #sealer: string | undefined
  readonly #splitter = createFrameSplitter(streamFrameBytesMax, streamPictureFrameBytesMax)
  readonly #meter = new StreamMeter()
  readonly #handler: MessagesHandler
  /** The beginning, until something follows: till then another endpoint may still answer. */
  #unshown: ByteText = ''
  /** From the reason of the end on, kept back until the charge is durable: frames, and as documents those that get it. */
  readonly #kept: (ByteText | JsonDocument)[] = []
  #keptBytes = 0
  /** Counts are cumulative; what the end leaves out stays as the beginning told it. */
  readonly #usage: Wire = {}
  #sawDone = false
  /** What the deltas of the block under way share. */
  #template: FrameTemplate | null = null
  #unusedTemplates = 0

  constructor(context: AnswerContext, sealer: string | undefined) {
    this.#context = context
    this.#sealer = sealer
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
      const block = this.#splitter.push(chunk) ?? ''
      for (let position = 0; position < block.length;) {
        const fitted = this.#fit(block, position)
        const end = fitted === null ? block.indexOf('\n\n', position) : -1
        shown += fitted?.shown ?? this.#pass(block.slice(position, end))
        position = fitted?.next ?? end + 2
      }
    } catch (cause) {
      this.failure = toStreamFailure(cause)
    }
    return shown === '' ? null : toPiece(shown)
  }

  end(): void {
    if (this.failure) return
    const { hasShownOutput } = this
    try {
      const rest = this.#splitter.end()
      // What it shows begins with what was unshown so far.
      if (rest !== null && !this.#handler.isWhole) this.#unshown = this.#pass(rest) || this.#unshown
      if (this.#isTerminated) this.#handler.end()
      if (!this.#handler.isWhole) throw new Error('the body ended before a stop reason')
    } catch (cause) {
      this.failure = toStreamFailure(cause)
    }
    this.hasShownOutput = hasShownOutput
  }

  reading(): MeterReading {
    return asTold(this.#meter.reading())
  }

  encodeEnding(charge: ShownCharge): Uint8Array {
    const usage = passUsage(this.#usage, charge, this.#meter.usage?.serviceTier ?? null)
    const [finish = null] = this.#meter.finishes
    const frames = this.#kept.map((kept) =>
      typeof kept === 'string' ? `${kept}\n\n` : spliceFrame('message_delta', kept, endingOf(kept, usage)),
    )
    // Some servers end without having said why.
    if (this.#kept.every((kept) => typeof kept === 'string'))
      frames.push(toFrame({ type: 'message_delta', delta: { ...writeStop(finish), container: null }, usage }))
    const stop = toFrame({ type: 'message_stop', ...showMetadata(charge) })
    return toBytes(`${this.#unshown}${frames.join('')}${stop}`)
  }

  encodeError(error: GatewayError): Uint8Array {
    const unshown = this.#unshown
    this.#unshown = ''
    return toBytes(unshown + fromUtf8(writeMessagesError(error, this.#context.generationId)))
  }

  /** The common case: the frame differs from an earlier one of its block only in the text. */
  #fit(block: ByteText, position: number): FittedFrame | null {
    const fitted = this.#template && fitFrame(this.#template, block, position)
    if (fitted === null) return null
    this.#unusedTemplates = 0
    if (fitted.textBytes > 0) this.#meter.addPiece(fitted.textBytes)
    return fitted
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
    // A block may begin or end; then another may have its index.
    if (type !== 'ping') this.#template = null
    if (type === 'message_start' && isRecord(message)) return this.#begin(wire, message, data)
    if (isRecord(usage)) Object.assign(this.#usage, withoutNulls(usage))
    if (this.choicesFinished > 0) {
      if (type === 'message_delta') this.#keepBack(wireDocument(toBytes(data), wire), data.length)
      else if (type !== 'message_stop') this.#keepBack(frame, frame.length)
      return ''
    }
    if (type === 'ping') return ''
    if (type === 'content_block_delta') {
      this.hasShownOutput = true
      this.#learn(wire, frame)
    }
    const shown = this.#unshown + (this.#edit(wire, data) ?? `${frame}\n\n`)
    this.#unshown = ''
    return shown
  }

  /** The frame with a mark at the seal that it has, and with what clients want of a block; null where it stays. */
  #edit(wire: Wire, data: ByteText): ByteText | null {
    const { type, delta, content_block: block } = wire
    const name = type === 'content_block_delta' ? 'delta' : 'content_block'
    const inner = name === 'delta' ? delta : block
    if (!isRecord(inner)) return null
    const set = name === 'delta' ? sealedDelta(inner, this.#sealer) : editsOf(inner, this.#sealer)
    if (set === null) return null
    const appended = appendTo(wire, data, set)
    if (appended !== null) return appended
    const document = wireDocument(toBytes(data), wire)
    const innerDocument = wireDocument(memberBytes(document, name) ?? toBytes('{}'), inner)
    return spliceFrame(String(type), document, { [name]: editPieces(innerDocument, { set: toJson(set) }) })
  }

  #learn({ delta, usage }: Wire, frame: ByteText): void {
    const slot = isRecord(delta) && usage === undefined ? slotOf(delta) : null
    if (slot === null || this.#unusedTemplates >= streamTemplatesUnusedMax) return
    this.#unusedTemplates += 1
    this.#template = learnPassage(frame, slot)
  }

  #keepBack(kept: ByteText | JsonDocument, bytes: number): void {
    this.#kept.push(kept)
    this.#keptBytes += bytes
    if (this.#keptBytes > streamHeldBytesMax || this.#kept.length > streamHeldFramesMax)
      throw new RangeError('too much followed a stop reason')
  }

  /** Some compatible servers begin twice; clients take one beginning. */
  #begin(wire: Wire, message: Wire, data: ByteText): ByteText {
    const { usage } = message
    const isFirst = Object.keys(this.#usage).length === 0 && this.#unshown === '' && !this.hasShownOutput
    if (isRecord(usage)) Object.assign(this.#usage, withoutNulls(usage))
    if (!isFirst) return ''
    const document = wireDocument(toBytes(data), wire)
    const inner = wireDocument(memberBytes(document, 'message') ?? toBytes(''), message)
    const content = editContent(inner, message, this.#sealer)
    const counts = { ...emptyUsage, ...this.#usage }
    const members = { ...shownMembers(message, this.#context), usage: counts }
    const shown = editPieces(inner, { set: { ...toJson(members), ...content } })
    this.#unshown = spliceFrame('message_start', document, { message: shown })
    return ''
  }
}

/** Where a delta has the model's text, when it is one of those that come by the thousand. */
function slotOf(delta: Wire): Pick<TextSlot, 'name' | 'value'> | null {
  const name = slotNames[String(delta['type'])]
  const value = name === undefined ? null : delta[name]
  return name !== undefined && typeof value === 'string' ? { name, value } : null
}

const slotNames: Readonly<Partial<Record<string, TextSlot['name']>>> = {
  text_delta: 'text',
  thinking_delta: 'thinking',
  input_json_delta: 'partial_json',
}

function spliceFrame(type: string, document: JsonDocument, set: NonNullable<DocumentEdits['set']>): ByteText {
  const json = Buffer.from(joinPieces(editPieces(document, { set }))).toString('latin1')
  // Data may stand on several lines, and its line ends on none.
  return `event: ${type}\ndata: ${json.replaceAll('\n', ' ')}\n\n`
}

/** The frame of a block with members behind its own, where these end the frame; null where that is not plain. */
function appendTo(wire: Wire, data: ByteText, set: Wire): ByteText | null {
  const { type, content_block: block } = wire
  const isLast = Object.keys(wire).at(-1) === 'content_block' && data.endsWith('}}') && !data.includes('\n')
  if (!isLast || !isRecord(block) || Object.keys(set).some((name) => Object.hasOwn(block, name))) return null
  return `event: ${String(type)}\ndata: ${data.slice(0, -2)},${JSON.stringify(set).slice(1, -1)}}}\n\n`
}

/** A seal comes in a piece of its own. */
function sealedDelta(delta: Wire, sealer: string | undefined): Wire | null {
  if (sealer === undefined || delta['type'] !== 'signature_delta') return null
  return sealedMembers({ ...delta, type: 'thinking' }, sealer)
}

/** The counts, and how the message ended with every member that a client may look for. */
function endingOf(document: JsonDocument, usage: Wire): Record<string, string | Uint8Array> {
  const set = toJson({ usage })
  const delta = memberValue(document, 'delta')
  if (!isRecord(delta)) return set
  const missing = missingOfDelta(delta)
  if (Object.keys(missing).length === 0) return set
  const inner = wireDocument(memberBytes(document, 'delta') ?? toBytes('{}'), delta)
  return { ...set, delta: editDocument(inner, { set: toJson(missing) }) }
}

function toFrame(wire: Wire): ByteText {
  return fromUtf8(`event: ${String(wire['type'])}\ndata: ${JSON.stringify(wire)}\n\n`)
}
