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
import { type FrameWire, StreamPassage, WrappedStream } from '../streams/stream-passage.ts'
import { writeResponsesError } from './errors.ts'
import { editOutput, editsOf, passUsage, shownMembers } from './pass.ts'
import type { ResponsesQuirks } from './quirks.ts'
import { type MemberEdits, missingOfEvent } from './pass-required.ts'
import { ResponsesHandler } from './read-stream.ts'
import { emptyResponse } from './write-answer.ts'

type Wire = Record<string, unknown>

/** Events that come by the thousand, and differ in nothing but what the model wrote. */
const deltas: ReadonlySet<unknown> = new Set([
  'response.output_text.delta',
  'response.refusal.delta',
  'response.reasoning_text.delta',
  'response.reasoning_summary_text.delta',
  'response.function_call_arguments.delta',
  'response.custom_tool_call_input.delta',
])

/** Whose stream passes, and to whom. */
export interface Passing {
  context: AnswerContext
  quirks: ResponsesQuirks
  call: TextCall
}

/**
 * A stream of a provider of the same format: its frames as they come, read along by the meter. The first frame tells
 * whether the host keeps to the format; where it does not, `createOther` makes the stream that reads and writes it.
 */
export function createResponsesPassage(passing: Passing, createOther: () => StreamRewriter): StreamRewriter {
  // What is shown of the exchange would stand between the frames.
  if (passing.context.debug !== undefined) return createOther()
  return new FirstFrame(new ResponsesPassage(passing), createOther)
}

/** Passes a stream until its first frame shows that another one must read it, anew. */
class FirstFrame extends WrappedStream {
  readonly #createOther: () => StreamRewriter
  /** Null once it is known who reads the stream. */
  #passage: ResponsesPassage | null
  /** What came before the first frame was whole. */
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

  /** The first frame may come without its end: the other stream then shows what it has when it ends. */
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
  /** As the first frame told; null before it. */
  keepsToFormat: boolean | null = null
  readonly #passing: Passing
  /** Whose mark the seals get; undefined where they need none. */
  readonly #sealer: string | undefined
  readonly #handler: ResponsesHandler
  #hasOutput = false
  readonly #items = new ShownItems()
  /** The frame that is read told a piece of the answer. */
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

  /** Some hosts end as a chat stream does, behind the format's own end. */
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
      // Some hosts leave the list empty that clients read.
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
    return toBytes(this.takeUnshown() + toFrame(raised) + toFrame(failed))
  }

  #take(event: TextEvent): void {
    this.meter.read(event)
    this.#items.read(event)
    this.#hasSaid ||= event.type === 'piece'
    this.#hasOutput ||= event.type === 'piece' || (event.type === 'part_begin' && event.head.type !== 'text')
  }

  /** Only from a delta that said something: what is told of another item or behind its end says nothing. */
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

  /** The frame of an item with a mark at its seal, and as clients want it; changes `wire` likewise. */
  #editItem(wire: Wire, frame: ByteText, data: ByteText): ByteText {
    const { item } = wire
    const edits = isRecord(item) ? editsOf(item, this.#sealer) : null
    if (edits === null || !isRecord(item)) return frame
    const shown = spliceItem(wire, data, edits)
    const kept = Object.entries(item).filter(([name]) => !edits.remove.includes(name))
    wire['item'] = { ...Object.fromEntries(kept), ...edits.set }
    return shown
  }

  /** The frame of another event with what clients require of it; changes `wire` likewise. */
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
    if (given !== number) return toFrame({ ...wire, type, sequence_number: number })
    return frame.startsWith('event:') ? `${frame}\n\n` : `event: ${type}\n${frame}\n\n`
  }

  /** A frame of which only the response was edited. */
  #frame(type: string, wire: Wire, response: Uint8Array): ByteText {
    const { response: _edited, ...others } = wire
    const lead = JSON.stringify({ ...others, type, sequence_number: this.takeNumber() })
    const json = `${fromUtf8(lead.slice(0, -1))},"response":${toBuffer(response).toString('latin1')}}`
    // Data may stand on several lines, and its line ends on none.
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

/** A stream begins with its response, under the number 0. */
function isBeginning({ type, response, sequence_number: number }: Wire): boolean {
  return type === 'response.created' && isRecord(response) && number === 0
}

/** A template of the deltas of one part. Null when its parts cannot be found beyond doubt. */
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

/** With the list that clients require and this host leaves out. */
function withLogprobs(rest: ByteText): ByteText {
  const end = rest.lastIndexOf('}')
  return `${rest.slice(0, end)},"logprobs":[]${rest.slice(end)}`
}

/** The items that a client was shown, for the end of a stream that breaks off. */
class ShownItems {
  /** Those that are whole. */
  readonly all: Wire[] = []
  #open: Wire | null = null
  /** What was shown of the open one, as the inside of a JSON string: nearly nobody asks for it. */
  #inside = ''

  /** Of the tool whose call is under way. */
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
    }
  }

  /** Inside of a JSON string that was shown. */
  add(text: ByteText): void {
    this.#inside += text
  }

  read(event: TextEvent): void {
    if (event.type === 'piece' && (event.piece.type === 'text' || event.piece.type === 'arguments'))
      this.add(fromUtf8(JSON.stringify(event.piece.text).slice(1, -1)))
  }

  /** The one that was under way when the stream broke off, with what was shown of it. */
  unfinished(): Wire[] {
    const item = this.#open
    if (item === null) return []
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

function toFrame(wire: Wire): ByteText {
  return fromUtf8(`event: ${String(wire['type'])}\ndata: ${JSON.stringify(wire)}\n\n`)
}

/** The frame of an item with members of it set and left out. */
function spliceItem(wire: Wire, data: ByteText, { set, remove }: MemberEdits): ByteText {
  const document = wireDocument(toBytes(data), wire)
  const item = wireDocument(memberBytes(document, 'item') ?? toBytes('{}'), wire['item'] as Wire)
  const edited = editDocument(item, { set: toJson(set), remove })
  return toDataLine(editDocument(document, { set: { item: edited } }))
}

/** Data may stand on several lines, and its line ends on none. */
function toDataLine(json: Uint8Array): ByteText {
  return `data: ${toBuffer(json).toString('latin1').replaceAll('\n', ' ')}`
}
