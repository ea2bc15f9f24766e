import type { Finish } from '../../../canonical/text/events.ts'
import type { AnswerContext } from '../../../canonical/upstream.ts'
import { streamToolCallsMax } from '../../../core/limits/text.ts'
import { filledTextOrNull, isRecord, tokenCountOrNull } from '../../../json/values.ts'
import type { StreamReader } from '../halves.ts'
import { createStreamReader, type Emit, type StreamHandler } from '../streams/stream-reader.ts'
import { unreadable } from '../../upstream-json.ts'
import { PartLanes } from './part-lanes.ts'
import { callHeadOf, readEnd, readResponsesError } from './read-items.ts'
import {
  CallReader,
  type ItemReader,
  MessageReader,
  ThoughtReader,
  WholeReader,
} from './read-stream-items.ts'
import type { ResponsesQuirks } from './quirks.ts'
import { readResponsesUsage } from './usage.ts'

type Wire = Readonly<Record<string, unknown>>

/** Reads a stream of typed events. */
export function createResponsesReader(quirks: ResponsesQuirks, context: AnswerContext): StreamReader {
  return createStreamReader((emit) => new ResponsesHandler({ quirks, context }, emit))
}

/** The quirks and the context of the answer that is read. */
export interface Reading {
  quirks: ResponsesQuirks
  context: AnswerContext
}

interface OpenItem {
  /** The item as its first event announced it. */
  item: Wire
  reader: ItemReader
  isFinished: boolean
}

/** Reads the format's events. It matches items by their place, because some hosts change their ids. */
export class ResponsesHandler implements StreamHandler {
  readonly #reading: Reading
  readonly #emit: Emit
  readonly #lanes: PartLanes
  readonly #items = new Map<number, OpenItem>()
  /** Of several items with one id, the first. */
  readonly #byId = new Map<string, OpenItem>()
  #hasBegun = false
  #sawToolCalls = false
  #finish: Finish | null = null

  constructor(reading: Reading, emit: Emit) {
    this.#reading = reading
    this.#emit = emit
    this.#lanes = new PartLanes(emit)
  }

  get isWhole(): boolean {
    return this.#finish !== null
  }

  /** Nothing follows the last event, which has the whole response. */
  get isTerminated(): boolean {
    return this.isWhole
  }

  /** Events that are not in the table repeat what the items say. */
  read(wire: Wire): void {
    if (this.isWhole) return
    const handlers: Readonly<Record<string, (event: Wire) => void>> = this.#handlers
    const { type } = wire
    if (typeof type === 'string' && Object.hasOwn(handlers, type)) handlers[type]?.(wire)
    else if (type === undefined) this.#readUntyped(wire)
  }

  /**
   * Only the last event says that the answer is complete, so the end of the body, or another format's terminator,
   * changes nothing.
   */
  end(): void {
    // Nothing is open that could be closed.
  }

  /** Reads a whole response: emits what its events left out, and ends the answer. */
  readWhole(response: Wire): void {
    this.#begin(response)
    const output = Array.isArray(response['output']) ? response['output'] : []
    for (const [index, item] of output.entries())
      if (isRecord(item)) this.#complete(index, item, output.length)
    for (const opened of this.#items.values()) this.#finishItem(opened, opened.item)
    const { context } = this.#reading
    const finish = readEnd(response, this.#sawToolCalls, context)
    this.#finish = finish
    this.#emit({ type: 'finish', choice: 0, ...finish })
    const usage = readResponsesUsage(response['usage'], filledTextOrNull(response['service_tier']))
    if (usage !== null) this.#emit({ type: 'usage', usage })
  }

  readonly #handlers = {
    'response.created': (event: Wire) => this.#begin(responseOf(event)),
    'response.queued': (event: Wire) => this.#begin(responseOf(event)),
    'response.in_progress': (event: Wire) => this.#begin(responseOf(event)),
    'response.output_item.added': (event: Wire) => this.#open(event),
    'response.output_item.done': (event: Wire) => this.#itemDone(event),
    'response.content_part.done': (event: Wire) => this.#at(event, 'message')?.partDone?.(event),
    'response.output_text.delta': (event: Wire) => this.#at(event, 'message')?.text?.(event, 'text'),
    'response.refusal.delta': (event: Wire) => this.#at(event, 'message')?.text?.(event, 'refusal'),
    'response.output_text.annotation.added': (event: Wire) => this.#at(event, 'message')?.annotate?.(event),
    'response.reasoning_text.delta': (event: Wire) => this.#at(event, 'reasoning')?.think?.(event),
    'response.reasoning_summary_text.delta': (event: Wire) =>
      this.#at(event, 'reasoning')?.summarize?.(event),
    'response.function_call_arguments.delta': (event: Wire) => this.#at(event, 'call')?.addArguments?.(event),
    'response.custom_tool_call_input.delta': (event: Wire) => this.#at(event, 'call')?.addArguments?.(event),
    'response.completed': (event: Wire) => this.readWhole(responseOf(event)),
    'response.incomplete': (event: Wire) => this.readWhole({ status: 'incomplete', ...responseOf(event) }),
    'response.failed': (event: Wire) => this.#fail(responseOf(event)['error']),
    'response.cancelled': () => this.#fail({ code: 'server_error' }),
    error: (event: Wire) => this.#fail(isRecord(event['error']) ? event['error'] : event),
  }

  /** A host may answer a streamed call with a whole response, or refuse it with a success status. */
  #readUntyped(wire: Wire): void {
    if (Array.isArray(wire['output'])) this.readWhole(wire)
    else if (isRecord(wire['error'])) this.#fail(wire['error'])
  }

  #fail(error: unknown): never {
    throw readResponsesError(error, this.#reading.context)
  }

  #begin(response: Wire): void {
    if (this.#hasBegun) return
    this.#hasBegun = true
    this.#emit({
      type: 'begin',
      upstreamId: filledTextOrNull(response['id']),
      upstreamModel: filledTextOrNull(response['model']),
    })
  }

  #open(event: Wire): OpenItem | null {
    const { item } = event
    if (!isRecord(item)) return null
    const index = tokenCountOrNull(event['output_index']) ?? this.#items.size
    const known = this.#items.get(index)
    return known ?? this.#openAt(index, item)
  }

  #openAt(index: number, item: Wire): OpenItem {
    if (!this.#hasBegun) this.#begin({})
    if (this.#items.size >= streamToolCallsMax) throw unreadable('too many items')
    const reader = this.#readerFor(item, index)
    const opened = { item, reader, isFinished: false }
    this.#items.set(index, opened)
    const id = filledTextOrNull(item['id'])
    if (id !== null && !this.#byId.has(id)) this.#byId.set(id, opened)
    return opened
  }

  #readerFor(item: Wire, index: number): ItemReader {
    const lane = this.#lanes.open()
    const { context, quirks } = this.#reading
    if (item['type'] === 'message') return new MessageReader(lane)
    if (item['type'] === 'reasoning') return new ThoughtReader(lane, item)
    if (quirks.runsItself(item)) return new WholeReader(lane, null)
    const callId = `call_${context.generationId}_${index}`
    const isCall = item['type'] === 'function_call' || item['type'] === 'custom_tool_call'
    this.#sawToolCalls ||= isCall
    const head = callHeadOf(item, callId)
    if (head !== null) return new CallReader(lane, head)
    return new WholeReader(lane, isCall ? callId : null)
  }

  /** The item that a piece belongs to. A host may send a text or a thought without announcing its item. */
  #at(event: Wire, kind: 'message' | 'reasoning' | 'call'): ItemReader | null {
    const found = this.#find(event)
    if (found?.isFinished) return null
    if (found !== null) return found.reader
    if (kind === 'call') throw new Error('arguments came for a tool call that is not open')
    const index = tokenCountOrNull(event['output_index']) ?? this.#items.size
    return this.#openAt(index, { type: kind, id: event['item_id'] }).reader
  }

  #find(event: Wire): OpenItem | null {
    const index = tokenCountOrNull(event['output_index'])
    if (index !== null) return this.#items.get(index) ?? null
    return this.#withId(event['item_id'])
  }

  #withId(id: unknown): OpenItem | null {
    return typeof id === 'string' ? (this.#byId.get(id) ?? null) : null
  }

  #itemDone(event: Wire): void {
    const { item } = event
    const opened = this.#find({ ...event, item_id: isRecord(item) ? item['id'] : null }) ?? this.#open(event)
    if (opened !== null && isRecord(item)) this.#finishItem(opened, item)
  }

  #finishItem(opened: OpenItem, item: Wire): void {
    if (opened.isFinished) return
    opened.isFinished = true
    opened.reader.finish(item)
  }

  /**
   * Reads an item of the whole response. Its place may differ from the stream's, so the item is new only when the
   * response has more items than the stream had.
   */
  #complete(index: number, item: Wire, count: number): void {
    const known = this.#withId(item['id']) ?? this.#items.get(index) ?? null
    if (known !== null) this.#finishItem(known, item)
    else if (this.#items.size < count) this.#finishItem(this.#openAt(index, item), item)
  }
}

function responseOf(event: Wire): Wire {
  const { response } = event
  return isRecord(response) ? response : {}
}
