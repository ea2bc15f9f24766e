import type { BodyPiece } from '../../../core/body.ts'
import type { TextCall } from '../../../canonical/call.ts'
import type { TextEvent } from '../../../canonical/text/events.ts'
import type {
  AnswerContext,
  MeterReading,
  ShownCharge,
  StreamRewriter,
  StreamStage,
} from '../../../canonical/upstream.ts'
import type { GatewayError } from '../../../core/errors.ts'
import { streamHeldBytesMax } from '../../../core/limits/text.ts'
import { filledTextOrNull, isRecord } from '../../../json/values.ts'
import { showMetadata } from '../shown-charge.ts'
import { editDocument, memberBytes } from '../../../json/document.ts'
import { toBuffer } from '../../../json/bytes.ts'
import { toJson, wireDocument } from '../wire-document.ts'
import { type ByteText, fromUtf8, toBytes, toUtf8 } from '../../sse.ts'
import { sealerOf } from '../thoughts/seals.ts'
import { type FrameTemplate, learnPassed } from '../streams/frame-template.ts'
import { type FrameWire, StreamPassage, WrappedStream, toTypedFrame } from '../streams/stream-passage.ts'
import { writeResponsesError } from './errors.ts'
import { editOutput, editsOf, passUsage, shownMembers } from './pass-answer.ts'
import type { ResponsesQuirks } from './quirks.ts'
import { type MemberEdits, missingOfEvent } from './pass-answer-required.ts'
import { ResponsesHandler } from './read-stream.ts'
import { emptyResponse } from './write-answer.ts'

type Wire = Record<string, unknown>

/**
 * The text of an unfinished item that is kept in case its stream breaks off: some 65,000 tokens. It is held for every caller,
 * also for hundreds who do not read.
 */
const streamShownBytesMax = 262_144

/** Events that come by the thousand and differ only in the model's text. */
const deltas: ReadonlySet<unknown> = new Set([
  'response.output_text.delta',
  'response.refusal.delta',
  'response.reasoning_text.delta',
  'response.reasoning_summary_text.delta',
  'response.function_call_arguments.delta',
  'response.custom_tool_call_input.delta',
])

/** The provider's side and the caller's side of a passing stream. */
export interface Passing {
  context: AnswerContext
  quirks: ResponsesQuirks
  call: TextCall
}

/**
 * Passes on a stream of a provider of the same format; the meter reads along. The first frame shows whether the host
 * keeps to the format; if not, `createOther` makes a stream that reads and rewrites it.
 */
export function createResponsesPassage(passing: Passing, createOther: () => StreamRewriter): StreamRewriter {
  // The chunks for `debug` would have to stand between the frames.
  if (passing.context.debug !== undefined) return createOther()
  return new FirstFrame(new ResponsesPassage(passing), createOther)
}

/** Passes a stream until its first frame shows that another reader must read it from the beginning. */
class FirstFrame extends WrappedStream {
  readonly #createOther: () => StreamRewriter
  /** Null once the reader is decided. */
  #passage: ResponsesPassage | null
  /** The chunks before the first frame was complete. */
  #first: Uint8Array[] = []

  constructor(passage: ResponsesPassage, createOther: () => StreamRewriter) {
    super(passage)
    this.#passage = passage
    this.#createOther = createOther
  }

  override push(chunk: Uint8Array): BodyPiece | null {
    if (this.#passage === null) return super.push(chunk)
    this.#first.push(chunk)
    const shown = super.push(chunk)
    return this.#replaces(this.#passage) ? super.push(this.#takeFirst()) : shown
  }

  /** The first frame may lack its end; the other stream then shows at its own end what it has. */
  override end(): void {
    super.end()
    if (this.#passage === null || !this.#replaces(this.#passage)) return
    super.push(this.#takeFirst())
    super.end()
  }

  #replaces({ keepsToFormat }: ResponsesPassage): boolean {
    if (keepsToFormat === null) return false
    this.#passage = null
    if (keepsToFormat) this.#first = []
    else this.stream = this.#createOther()
    return !keepsToFormat
  }

  #takeFirst(): Uint8Array {
    const first = Buffer.concat(this.#first)
    this.#first = []
    return first
  }
}

class ResponsesPassage extends StreamPassage<EndingEvent> {
  /** Known from the first frame; null before it. */
  keepsToFormat: boolean | null = null
  readonly #passing: Passing
  /** The name that marks the seals; undefined when they need no mark. */
  readonly #sealer: string | undefined
  readonly #handler: ResponsesHandler
  #hasOutput = false
  readonly #items = new ShownItems()
  /** Whether the current frame has a piece of the answer. */
  #hasSaid = false

  constructor(passing: Passing) {
    super()
    this.#passing = passing
    this.#sealer = sealerOf(passing.quirks, passing.context.providerSlug)
    this.#handler = new ResponsesHandler(passing, (event) => this.#take(event))
  }

  get choicesFinished(): number {
    return this.meter.finishes.length
  }

  protected get progress(): StreamStage {
    return this.#handler.isTerminated ? 'terminated' : 'running'
  }

  protected override get isOver(): boolean {
    return this.#handler.isWhole
  }

  /** Some hosts end a stream like chat does, after the format's own end. */
  protected readDone(): void {}

  protected takesRest(): boolean {
    return !this.#handler.isWhole
  }

  protected finish(): void {
    if (!this.#handler.isWhole) throw new Error('the body ended before the answer did')
  }

  protected override noteText(inside: ByteText): void {
    this.#items.add(inside)
  }

  reading(): MeterReading {
    return this.meter.reading()
  }

  encodeEnding(charge: ShownCharge): Uint8Array {
    const [ending] = this.kept
    if (ending === undefined) return toBytes(this.takeUnshown())
    const { type, wire, response, bytes } = ending
    const { context, call } = this.#passing
    const output = response['output']
    const set = {
      ...shownMembers(response, context, call),
      // Some hosts send an empty list, although clients read it.
      ...(Array.isArray(output) && output.length > 0 ? {} : { output: this.#items.all }),
      completed_at: response['completed_at'] ?? context.created,
      usage: passUsage(response['usage'], charge),
      ...showMetadata(charge),
    }
    const inner = wireDocument(bytes, response)
    const edited = editDocument(inner, {
      set: { ...toJson(set), ...editOutput(inner, response, this.#sealer) },
    })
    return toBytes(this.takeUnshown() + this.#frame(type, wire, edited))
  }

  encodeError(error: GatewayError): Uint8Array {
    const { context, call } = this.#passing
    const told = writeResponsesError(error)
    const output = [...this.#items.all, ...this.#items.unfinished()]
    const response = { ...emptyResponse({ context, call }), status: 'failed', error: told, output }
    const sequence = this.nextNumber
    const raised = { type: 'error', sequence_number: sequence, ...told, param: error.param }
    const failed = {
      type: 'response.failed',
      sequence_number: sequence + 1,
      response,
      error_type: error.contractType,
    }
    return toBytes(this.takeUnshown() + toTypedFrame(raised) + toTypedFrame(failed))
  }

  #take(event: TextEvent): void {
    this.meter.read(event)
    this.#items.read(event)
    this.#hasSaid ||= event.type === 'piece'
    this.#hasOutput ||= event.type === 'piece' || (event.type === 'part_begin' && event.head.type !== 'text')
  }

  /** Learned only from a delta with text of the open item: one for another item, or after its end, has no effect. */
  #learnFrom(frame: ByteText, wire: Wire): void {
    this.forgetTemplates()
    if (this.#hasSaid && deltas.has(wire['type']) && this.mayLearn) this.learn(learnDelta(frame, wire))
  }

  protected read(wire: FrameWire, frame: ByteText, data: ByteText): ByteText {
    this.keepsToFormat ??= isBeginning(wire)
    if (!this.keepsToFormat) throw new Error('the first frame is not as the format has it')
    const edited = this.#editItem(wire, frame, data)
    this.#items.note(wire)
    this.#hasSaid = false
    this.#handler.read(wire)
    this.#learnFrom(frame, wire)
    const shown = this.#show(this.#complete(wire, edited, data), data, wire)
    if (shown === '') return ''
    if (this.#hasOutput) {
      this.hasShownOutput = true
      return this.takeUnshown() + shown
    }
    this.unshown += shown
    if (this.unshown.length > streamHeldBytesMax) throw new RangeError('too much came before any output')
    return ''
  }

  /**
   * The frame of an item with a mark on its seal and the members that clients require; changes `wire` in the same way.
   */
  #editItem(wire: Wire, frame: ByteText, data: ByteText): ByteText {
    const { item } = wire
    const edits = isRecord(item) ? editsOf(item, this.#sealer) : null
    if (edits === null || !isRecord(item)) return frame
    const shown = spliceItem(wire, data, edits)
    const kept = Object.entries(item).filter(([name]) => !edits.remove.includes(name))
    wire['item'] = { ...Object.fromEntries(kept), ...edits.set }
    return shown
  }

  /** The frame of another event with the members that clients require; changes `wire` in the same way. */
  #complete(wire: Wire, frame: ByteText, data: ByteText): ByteText {
    const missing = missingOfEvent(wire, this.#items.calledName)
    if (missing === null) return frame
    const shown = editDocument(wireDocument(toBytes(data), wire), { set: toJson(missing) })
    Object.assign(wire, missing)
    return toDataLine(shown)
  }

  #show(frame: ByteText, data: ByteText, wire: Wire): ByteText {
    const { response, sequence_number: given } = wire
    const type = filledTextOrNull(wire['type']) ?? ''
    if (isRecord(response)) {
      const document = wireDocument(toBytes(data), wire)
      const bytes = toBuffer(memberBytes(document, 'response') ?? Buffer.from('{}'))
      if (this.#handler.isWhole) {
        this.keepBack({ type, wire, response, bytes }, data.length)
        return ''
      }
      const { context, call } = this.#passing
      const inner = wireDocument(bytes, response)
      const output = editOutput(inner, response, this.#sealer)
      const set = { ...toJson(shownMembers(response, context, call)), ...output }
      return this.#frame(type, wire, editDocument(inner, { set }))
    }
    const number = this.takeNumber()
    if (given !== number) return toTypedFrame({ ...wire, type, sequence_number: number })
    return frame.startsWith('event:') ? `${frame}\n\n` : `event: ${type}\n${frame}\n\n`
  }

  /** A frame in which only the response was edited. */
  #frame(type: string, wire: Wire, response: Uint8Array): ByteText {
    const { response: _edited, ...others } = wire
    const lead = JSON.stringify({ ...others, type, sequence_number: this.takeNumber() })
    const json = `${fromUtf8(lead.slice(0, -1))},"response":${toBuffer(response).toString('latin1')}}`
    // The JSON may span several lines, but the data of a frame must not.
    return `event: ${type}\ndata: ${json.replaceAll('\n', ' ')}\n\n`
  }
}

/** The last event, and its response as bytes. */
interface EndingEvent {
  type: string
  wire: Wire
  response: Wire
  bytes: Uint8Array
}

/** A stream begins with its response, with the sequence number 0. */
function isBeginning({ type, response, sequence_number: number }: Wire): boolean {
  return type === 'response.created' && isRecord(response) && number === 0
}

/** A template of the deltas of one part. Null when it is uncertain where the variable parts lie. */
function learnDelta(frame: ByteText, wire: Wire): FrameTemplate | null {
  const { type, delta, obfuscation, sequence_number: number, logprobs } = wire
  const isPlain = logprobs === undefined || (Array.isArray(logprobs) && logprobs.length === 0)
  if (!isPlain || typeof delta !== 'string' || typeof number !== 'number') return null
  const padding = typeof obfuscation === 'string' ? obfuscation : undefined
  const lead = frame.startsWith('event:') ? '' : `event: ${String(type)}\n`
  const template = learnPassed(frame, { text: { name: 'delta', value: delta }, padding, number }, lead)
  const isBare = type === 'response.output_text.delta' && logprobs === undefined
  return template && isBare ? { ...template, shownRest: withLogprobs(template.rest) } : template
}

/** Adds the list that clients require and this host leaves out. */
function withLogprobs(rest: ByteText): ByteText {
  const end = rest.lastIndexOf('}')
  return `${rest.slice(0, end)},"logprobs":[]${rest.slice(end)}`
}

/** The items that the client has seen, for the end of a stream that breaks off. */
class ShownItems {
  /** The complete items. */
  readonly all: Wire[] = []
  #open: Wire | null = null
  /** The shown text of the open item, as the inside of a JSON string, because it is rarely read; null when it is too long to keep. */
  #inside: ByteText | null = ''

  /** The name of the tool that is being called. */
  get calledName(): string | null {
    return filledTextOrNull(this.#open?.['name'])
  }

  note({ type, item }: Wire): void {
    if (!isRecord(item)) return
    if (type === 'response.output_item.added') {
      this.#open = item
      this.#inside = ''
    } else if (type === 'response.output_item.done') {
      this.all.push(item)
      this.#open = null
      this.#inside = ''
    }
  }

  /** Inside of a JSON string that was shown. */
  add(text: ByteText): void {
    if (this.#inside === null) return
    this.#inside += text
    if (this.#inside.length > streamShownBytesMax) this.#inside = null
  }

  read(event: TextEvent): void {
    if (event.type === 'piece' && (event.piece.type === 'text' || event.piece.type === 'arguments'))
      this.add(fromUtf8(JSON.stringify(event.piece.text).slice(1, -1)))
  }

  /** The item that was open when the stream broke off, with its shown text; without it, it would seem empty. */
  unfinished(): Wire[] {
    const item = this.#open
    if (item === null || this.#inside === null) return []
    const told = { ...item, status: 'incomplete' }
    const text = JSON.parse(`"${toUtf8(this.#inside)}"`) as string
    switch (item['type']) {
      case 'message':
        return [{ ...told, content: [{ type: 'output_text', text, annotations: [], logprobs: [] }] }]
      case 'function_call':
        return [{ ...told, arguments: text }]
      case 'custom_tool_call':
        return [{ ...told, input: text }]
      default:
        return [told]
    }
  }
}

/** The frame of an item with some of its members set or removed. */
function spliceItem(wire: Wire, data: ByteText, { set, remove }: MemberEdits): ByteText {
  const document = wireDocument(toBytes(data), wire)
  const item = wireDocument(memberBytes(document, 'item') ?? toBytes('{}'), wire['item'] as Wire)
  const edited = editDocument(item, { set: toJson(set), remove })
  return toDataLine(editDocument(document, { set: { item: edited } }))
}

/** The JSON may span several lines, but the data of a frame must not. */
function toDataLine(json: Uint8Array): ByteText {
  return `data: ${toBuffer(json).toString('latin1').replaceAll('\n', ' ')}`
}
