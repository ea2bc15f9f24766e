import { joinPieces } from '../../../core/body.ts'
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
import { isRecord } from '../../../json/values.ts'
import { showMetadata } from '../shown-charge.ts'
import { type FrameText, learnPassed } from '../streams/frame-template.ts'
import { type FrameWire, StreamPassage, toTypedFrame } from '../streams/stream-passage.ts'
import { type ByteText, fromUtf8, toBytes } from '../../sse.ts'
import { sealerOf } from '../thoughts/seals.ts'
import { writeMessagesError } from './errors.ts'
import { asTold, editContent, editsOf, passUsage, sealedMembers, shownMembers } from './pass-answer.ts'
import { toJson, wireDocument } from '../wire-document.ts'
import type { MessagesQuirks } from './quirks.ts'
import { MessagesHandler } from './read-stream.ts'
import { emptyUsage, missingOfDelta, withoutNulls } from './pass-answer-required.ts'
import { emptyMessage, writeStop } from './write-answer.ts'

/** Passes on a stream of a provider of the same format; the meter reads along. */
export function createMessagesPassage(context: AnswerContext, quirks: MessagesQuirks): StreamRewriter {
  return new MessagesPassage(context, sealerOf(quirks, context.providerSlug))
}

class MessagesPassage extends StreamPassage<ByteText | JsonDocument> {
  readonly #context: AnswerContext
  /** The name that marks the seals; undefined when they need no mark. */
  readonly #sealer: string | undefined
  readonly #handler: MessagesHandler
  /** Counts are cumulative; a count that the end omits keeps its value from the beginning. */
  readonly #usage: FrameWire = {}
  #hasBegun = false
  #sawDone = false

  constructor(context: AnswerContext, sealer: string | undefined) {
    super()
    this.#context = context
    this.#sealer = sealer
    this.#handler = new MessagesHandler(context, (event) => this.meter.read(event))
  }

  get choicesFinished(): number {
    return this.meter.finishes.length
  }

  protected get progress(): StreamStage {
    if (this.#isTerminated) return 'terminated'
    return this.meter.isAccounted ? 'accounted' : 'running'
  }

  get #isTerminated(): boolean {
    return this.#sawDone || this.#handler.isTerminated
  }

  /** Some compatible servers end a stream like chat does, after the format's own end or in its place. */
  protected readDone(): void {
    this.#sawDone = true
  }

  protected takesRest(): boolean {
    return !this.#handler.isWhole
  }

  protected finish(): void {
    if (this.#isTerminated) this.#handler.end()
    if (!this.#handler.isWhole) throw new Error('the body ended before a stop reason')
  }

  reading(): MeterReading {
    return asTold(this.meter.reading())
  }

  encodeEnding(charge: ShownCharge): Uint8Array {
    const usage = passUsage(this.#usage, charge, this.meter.usage?.serviceTier ?? null)
    const [finish = null] = this.meter.finishes
    const frames = this.kept.map((kept) =>
      typeof kept === 'string' ? `${kept}\n\n` : spliceFrame('message_delta', kept, endingOf(kept, usage)),
    )
    // Some servers end without a stop reason.
    if (this.kept.every((kept) => typeof kept === 'string'))
      frames.push(
        toTypedFrame({ type: 'message_delta', delta: { ...writeStop(finish), container: null }, usage }),
      )
    const stop = toTypedFrame({ type: 'message_stop', ...showMetadata(charge) })
    return toBytes(`${this.takeUnshown()}${frames.join('')}${stop}`)
  }

  encodeError(error: GatewayError): Uint8Array {
    return toBytes(this.takeUnshown() + fromUtf8(writeMessagesError(error, this.#context.generationId)))
  }

  protected read(wire: FrameWire, frame: ByteText, data: ByteText): ByteText {
    this.#handler.read(wire)
    const { type, message, usage } = wire
    // A block may begin or end here, and another block may then have its index.
    if (type !== 'ping') this.forgetTemplates()
    if (type === 'message_start' && isRecord(message)) return this.#begin(wire, message, data)
    if (type === 'ping') return ''
    if (!this.#hasBegun && ofMessage.has(String(type))) this.#beginInstead()
    if (isRecord(usage)) Object.assign(this.#usage, withoutNulls(usage))
    if (this.choicesFinished > 0) {
      // Kept as a document, because the charge is added to this frame.
      if (type === 'message_delta') this.keepBack(wireDocument(toBytes(data), wire), data.length)
      else if (type !== 'message_stop') this.keepBack(frame, frame.length)
      return ''
    }
    if (type === 'content_block_delta') {
      this.hasShownOutput = true
      this.#learnFrom(wire, frame)
    }
    const shown = this.#edit(wire, data) ?? `${frame}\n\n`
    return this.takeUnshown() + shown
  }

  /**
   * The frame with a mark on its seal and with the members that clients require of a block; null when it needs no edit.
   */
  #edit(wire: FrameWire, data: ByteText): ByteText | null {
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

  #learnFrom({ delta, usage }: FrameWire, frame: ByteText): void {
    const text = isRecord(delta) && usage === undefined && this.mayLearn ? textIn(delta) : null
    if (text !== null) this.learn(learnPassed(frame, { text }))
  }

  /** Some compatible servers send the beginning twice; clients accept only one. */
  #begin(wire: FrameWire, message: FrameWire, data: ByteText): ByteText {
    const { usage } = message
    const isFirst = !this.#hasBegun
    this.#hasBegun = true
    if (isRecord(usage)) Object.assign(this.#usage, withoutNulls(usage))
    if (!isFirst) return ''
    const document = wireDocument(toBytes(data), wire)
    const inner = wireDocument(memberBytes(document, 'message') ?? toBytes(''), message)
    const content = editContent(inner, message, this.#sealer)
    const counts = { ...emptyUsage, ...this.#usage }
    const members = { ...shownMembers(message, this.#context), usage: counts }
    const shown = editPieces(inner, { set: { ...toJson(members), ...content } })
    this.unshown = spliceFrame('message_start', document, { message: shown })
    return ''
  }

  /**
   * llama.cpp leaves the beginning out when its first token is a part of a character (seen at its server, 2026-11-28); the
   * official client fails without it.
   */
  #beginInstead(): void {
    this.#hasBegun = true
    const message = { ...emptyMessage(this.#context), usage: emptyUsage }
    this.unshown = toTypedFrame({ type: 'message_start', message })
  }
}

/** Frames that a client takes only in a message that has begun. */
const ofMessage: ReadonlySet<string> = new Set([
  'content_block_start',
  'content_block_delta',
  'message_delta',
])

/** The text of a delta, for the kinds that come by the thousand. */
function textIn(delta: FrameWire): FrameText | null {
  const name = slotNames[String(delta['type'])]
  const value = name === undefined ? null : delta[name]
  return name !== undefined && typeof value === 'string' ? { name, value } : null
}

const slotNames: Readonly<Partial<Record<string, FrameText['name']>>> = {
  text_delta: 'text',
  thinking_delta: 'thinking',
  input_json_delta: 'partial_json',
}

function spliceFrame(type: string, document: JsonDocument, set: NonNullable<DocumentEdits['set']>): ByteText {
  const json = Buffer.from(joinPieces(editPieces(document, { set }))).toString('latin1')
  // The JSON may span several lines, but the data of a frame must not.
  return `event: ${type}\ndata: ${json.replaceAll('\n', ' ')}\n\n`
}

/**
 * The frame of a block with members added at the end of the block, when the block ends the frame; null when it does
 * not, or the frame is unusual.
 */
function appendTo(wire: FrameWire, data: ByteText, set: FrameWire): ByteText | null {
  const { type, content_block: block } = wire
  const isLast = Object.keys(wire).at(-1) === 'content_block' && data.endsWith('}}') && !data.includes('\n')
  if (!isLast || !isRecord(block) || Object.keys(set).some((name) => Object.hasOwn(block, name))) return null
  return `event: ${String(type)}\ndata: ${data.slice(0, -2)},${JSON.stringify(set).slice(1, -1)}}}\n\n`
}

/** A seal comes in its own delta. */
function sealedDelta(delta: FrameWire, sealer: string | undefined): FrameWire | null {
  if (sealer === undefined || delta['type'] !== 'signature_delta') return null
  return sealedMembers({ ...delta, type: 'thinking' }, sealer)
}

/** The counts, and the end of the message with every member that a client may read. */
function endingOf(document: JsonDocument, usage: FrameWire): Record<string, string | Uint8Array> {
  const set = toJson({ usage })
  const delta = memberValue(document, 'delta')
  if (!isRecord(delta)) return set
  const missing = missingOfDelta(delta)
  if (Object.keys(missing).length === 0) return set
  const inner = wireDocument(memberBytes(document, 'delta') ?? toBytes('{}'), delta)
  return { ...set, delta: editDocument(inner, { set: toJson(missing) }) }
}
