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
import {
  jsonDepthMax,
  streamFrameBytesMax,
  streamHeldBytesMax,
  streamPictureFrameBytesMax,
  streamTemplatesUnusedMax,
} from '../../../core/limits/text.ts'
import { filledTextOrNull, isRecord } from '../../../json/values.ts'
import { showMetadata } from '../shown-charge.ts'
import { isNestedWithin } from '../../../json/depth.ts'
import { editDocument, memberBytes, toBuffer } from '../../../json/document.ts'
import { toJson, wireDocument } from '../wire-document.ts'
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
import { writeResponsesError } from './errors.ts'
import { editOutput, editsOf, passUsage, shownMembers } from './pass.ts'
import type { ResponsesQuirks } from './quirks.ts'
import { type MemberEdits, missingOfEvent } from './pass-required.ts'
import { type DeltaTemplate, fitDelta, type FittedDelta, learnDelta } from './delta-template.ts'
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
  return new ResponsesPassage(passing, createOther)
}

class ResponsesPassage implements StreamRewriter {
  #failure: GatewayError | null = null
  #hasShownOutput = false
  readonly #passing: Passing
  /** Whose mark the seals get; undefined where they need none. */
  readonly #sealer: string | undefined
  readonly #createOther: () => StreamRewriter
  /** In place of this one, for a host that does not keep to the format. */
  #other: StreamRewriter | null = null
  /** What came before the first frame was whole; null since. */
  #first: Uint8Array[] | null = []
  readonly #splitter = createFrameSplitter(streamFrameBytesMax, streamPictureFrameBytesMax)
  readonly #meter = new StreamMeter()
  readonly #handler: ResponsesHandler
  /** Frames that only begin an answer, until something follows: till then another endpoint may still answer. */
  #unshown: ByteText = ''
  #hasOutput = false
  /** The number of the next frame. */
  #sequence = 0
  /** The last event, kept back until the charge is durable, and its response as bytes. */
  #ending: { type: string; wire: Wire; response: Wire; bytes: Uint8Array } | null = null
  readonly #items = new ShownItems()
  /** What the deltas of the part under way share. */
  #template: DeltaTemplate | null = null
  #unusedTemplates = 0
  /** The frame that is read told a piece of the answer. */
  #hasSaid = false

  constructor(passing: Passing, createOther: () => StreamRewriter) {
    this.#passing = passing
    this.#sealer = sealerOf(passing.quirks, passing.context.providerSlug)
    this.#createOther = createOther
    this.#handler = new ResponsesHandler(passing, (event) => this.#take(event))
  }

  get failure(): GatewayError | null {
    return this.#other?.failure ?? this.#failure
  }

  get hasShownOutput(): boolean {
    return this.#other?.hasShownOutput ?? this.#hasShownOutput
  }

  get choicesFinished(): number {
    return this.#other?.choicesFinished ?? this.#meter.finishes.length
  }

  get stage(): StreamStage {
    if (this.#other) return this.#other.stage
    if (this.#failure) return 'failed'
    return this.#handler.isTerminated ? 'terminated' : 'running'
  }

  push(chunk: Uint8Array): BodyPiece | null {
    if (this.#other) return this.#other.push(chunk)
    if (this.#failure) return null
    this.#first?.push(chunk)
    let shown: ByteText = ''
    try {
      const block = this.#splitter.push(chunk) ?? ''
      for (let position = 0; position < block.length;) {
        const fitted = this.#fit(block, position)
        const end = fitted === null ? block.indexOf('\n\n', position) : -1
        shown += fitted?.shown ?? this.#pass(block.slice(position, end))
        if (this.#other) return this.#handOver(this.#other)
        position = fitted?.next ?? end + 2
      }
    } catch (cause) {
      this.#failure = toStreamFailure(cause)
    }
    this.#hasShownOutput ||= shown !== ''
    return shown === '' ? null : toPiece(shown)
  }

  end(): void {
    if (this.#other || this.#failure) {
      this.#other?.end()
      return
    }
    try {
      const rest = this.#splitter.end()
      // A whole last frame may lack its empty line.
      if (rest !== null && !this.#handler.isWhole) this.#unshown = this.#pass(rest) || this.#unshown
      if (this.#other !== null) this.#endOther(this.#other)
      else if (!this.#handler.isWhole) throw new Error('the body ended before the answer did')
    } catch (cause) {
      this.#failure = toStreamFailure(cause)
    }
  }

  reading(): MeterReading {
    return this.#other?.reading() ?? this.#meter.reading()
  }

  encodeEnding(charge: ShownCharge): Uint8Array {
    if (this.#other) return this.#other.encodeEnding(charge)
    if (this.#ending === null) return toBytes(this.#unshown)
    const { type, wire, response, bytes } = this.#ending
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
    return toBytes(this.#unshown + this.#frame(type, wire, edited))
  }

  encodeError(error: GatewayError): Uint8Array {
    if (this.#other) return this.#other.encodeError(error)
    const unshown = this.#unshown
    this.#unshown = ''
    const { context, call } = this.#passing
    const told = writeResponsesError(error)
    const output = [...this.#items.all, ...this.#items.unfinished()]
    const response = { ...emptyResponse({ context, call }), status: 'failed', error: told, output }
    const sequence = this.#sequence
    const raised = { type: 'error', sequence_number: sequence, ...told, param: error.param }
    const failed = {
      type: 'response.failed',
      sequence_number: sequence + 1,
      response,
      error_type: error.contractType,
    }
    return toBytes(unshown + toFrame(raised) + toFrame(failed))
  }

  /** The other stream reads everything anew. */
  #handOver(other: StreamRewriter): BodyPiece | null {
    const chunks = this.#first ?? []
    this.#first = null
    return other.push(Buffer.concat(chunks))
  }

  /** The first frame came without its end, so that the other stream shows what it has when it ends. */
  #endOther(other: StreamRewriter): void {
    this.#handOver(other)
    other.end()
  }

  #take(event: TextEvent): void {
    this.#meter.read(event)
    this.#items.read(event)
    this.#hasSaid ||= event.type === 'piece'
    this.#hasOutput ||= event.type === 'piece' || (event.type === 'part_begin' && event.head.type !== 'text')
  }

  /** The common case: the frame differs from an earlier one of its part only in text, number and padding. */
  #fit(block: ByteText, start: number): FittedDelta | null {
    const fitted = this.#template && fitDelta(this.#template, block, { start, number: this.#sequence })
    if (fitted === null) return null
    this.#unusedTemplates = 0
    this.#sequence += 1
    if (fitted.text !== '') this.#meter.addPiece(fitted.text.length)
    this.#items.add(fitted.text)
    return fitted
  }

  /** Only from a delta that said something: what is told of another item or behind its end says nothing. */
  #learn(frame: ByteText, wire: Wire): void {
    this.#template = null
    if (!this.#hasSaid || !deltas.has(wire['type'])) return
    if (this.#unusedTemplates >= streamTemplatesUnusedMax) return
    this.#unusedTemplates += 1
    this.#template = learnDelta(frame, wire)
  }

  /** What may be shown of one frame. */
  #pass(frame: ByteText): ByteText {
    const data = readFrameData(frame) ?? (frame.trimStart().startsWith('{') ? frame : null)
    if (data === null || data.trim() === '' || data.trim() === '[DONE]' || this.#handler.isWhole) return ''
    if (!isNestedWithin(data, jsonDepthMax)) throw new RangeError('a frame is nested too deep')
    const wire: unknown = JSON.parse(toUtf8(data))
    if (!isRecord(wire)) throw new Error('a frame is not an object')
    if (this.#first !== null && !this.#keepsToFormat(wire)) return ''
    this.#first = null
    const edited = this.#editItem(wire, frame, data)
    this.#items.note(wire)
    this.#hasSaid = false
    this.#handler.read(wire)
    this.#learn(frame, wire)
    const shown = this.#show(this.#complete(wire, edited, data), data, wire)
    if (shown === '' || this.#hasOutput) {
      const all = this.#unshown + shown
      if (shown !== '') this.#unshown = ''
      return shown === '' ? '' : all
    }
    this.#unshown += shown
    if (this.#unshown.length > streamHeldBytesMax) throw new RangeError('too much came before any output')
    return ''
  }

  /** A stream begins with its response, under the number 0; what is shown of the exchange would stand between the frames. */
  #keepsToFormat(wire: Wire): boolean {
    const isBegun = wire['type'] === 'response.created' && isRecord(wire['response'])
    if (isBegun && wire['sequence_number'] === 0 && this.#passing.context.debug === undefined) return true
    this.#other = this.#createOther()
    return false
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
        this.#ending = { type, wire, response, bytes }
        return ''
      }
      const { context, call } = this.#passing
      const inner = wireDocument(bytes, response)
      const output = editOutput(inner, response, this.#sealer)
      const set = { ...toJson(shownMembers(response, context, call)), ...output }
      return this.#frame(type, wire, editDocument(inner, { set }))
    }
    if (given !== this.#sequence) return toFrame({ ...wire, type, sequence_number: this.#sequence++ })
    this.#sequence += 1
    return frame.startsWith('event:') ? `${frame}\n\n` : `event: ${type}\n${frame}\n\n`
  }

  /** A frame of which only the response was edited. */
  #frame(type: string, wire: Wire, response: Uint8Array): ByteText {
    const { response: _edited, ...others } = wire
    const lead = JSON.stringify({ ...others, type, sequence_number: this.#sequence++ })
    const json = `${fromUtf8(lead.slice(0, -1))},"response":${toBuffer(response).toString('latin1')}}`
    // Data may stand on several lines, and its line ends on none.
    return `event: ${type}\ndata: ${json.replaceAll('\n', ' ')}\n\n`
  }
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
