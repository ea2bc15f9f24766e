import type { TextEvent } from '../../../canonical/text/events.ts'
import { GatewayError } from '../../../core/errors.ts'
import {
  answerPartsMax,
  jsonDepthMax,
  streamFrameBytesMax,
  streamPictureFrameBytesMax,
} from '../../../core/limits/text.ts'
import { isRecord, parsePlainly } from '../../../json/values.ts'
import type { StreamReader } from '../halves.ts'
import { isNestedWithin } from '../../../json/scan.ts'
import { unreadable } from '../../upstream-json.ts'
import { type ByteText, createFrameSplitter, readFrameData, toUtf8 } from '../../sse.ts'

/** Parts and citations of one translated frame: more would block the event loop. */
const framePartsMax = 2_000

/** Receives the events of one answer, in order. */
export type Emit = (event: TextEvent) => void

/** How one format reads the objects in a provider's event stream. */
export interface StreamHandler {
  /** Reads one object. An error that it throws breaks the stream. */
  read(wire: Readonly<Record<string, unknown>>): void
  /** The provider said that nothing follows, by `[DONE]` or by the end of the body; open parts may be closed. */
  end(): void
  /** Whether everything that began has ended. */
  readonly isWhole: boolean
  /** Whether the format's own last event came. */
  readonly isTerminated: boolean
}

/**
 * Reads server-sent events of JSON objects, for an answer that is translated into another format; a stream that passes in
 * its own format goes through `stream-passage.ts`. `createHandler` receives the target of the events; `parse` parses the JSON.
 */
export function createStreamReader(
  createHandler: (emit: Emit) => StreamHandler,
  parse = parsePlainly,
): StreamReader {
  return new EventReader(createHandler, parse)
}

/** Collects the events of each read, whatever frames them. */
export class EventCollector {
  readonly handler: StreamHandler
  #events: TextEvent[] = []
  #hasFailed = false
  readonly #parse: (json: string) => unknown
  /** The number of parts and citations in the current frame. */
  #parts = 0
  /** Events of this read before the present frame. */
  #eventsBefore = 0

  constructor(createHandler: (emit: Emit) => StreamHandler, parse: (json: string) => unknown) {
    this.#parse = parse
    this.handler = createHandler((event) => this.#add(event))
  }

  /** The events of one read. After a failure there are none. */
  collect(work: () => void): readonly TextEvent[] {
    this.#events = []
    if (this.#hasFailed) return this.#events
    try {
      work()
    } catch (cause) {
      this.#hasFailed = true
      this.#events.push({ type: 'failure', error: toStreamFailure(cause) })
    }
    return this.#events
  }

  /** Reads the JSON of one frame; `name`, where the frame says it beside the JSON, becomes the object's only member. */
  read(json: string, name?: string): void {
    if (!isNestedWithin(json, jsonDepthMax)) throw new RangeError('a frame is nested too deep')
    const wire = this.#parse(json)
    if (!isRecord(wire)) throw new Error('a frame is not an object')
    this.#parts = 0
    this.#eventsBefore = this.#events.length
    this.handler.read(name === undefined ? wire : { [name]: wire })
  }

  #add(event: TextEvent): void {
    if (isCounted(event) && ++this.#parts > framePartsMax) {
      // Nothing of such a frame is shown, whether or not its caller has been shown something before.
      this.#events.length = this.#eventsBefore
      throw new RangeError(`a frame has more than ${framePartsMax} parts`)
    }
    this.#events.push(event)
  }
}

class EventReader implements StreamReader {
  readonly #splitter = createFrameSplitter(streamFrameBytesMax, streamPictureFrameBytesMax)
  readonly #collector: EventCollector
  /** `[DONE]` came; more may follow it. */
  #isDone = false

  constructor(createHandler: (emit: Emit) => StreamHandler, parse: (json: string) => unknown) {
    this.#collector = new EventCollector(createHandler, parse)
  }

  get isTerminated(): boolean {
    return this.#isDone || this.#collector.handler.isTerminated
  }

  push(chunk: Uint8Array): readonly TextEvent[] {
    return this.#collector.collect(() => {
      const frames = this.#splitter.push(chunk)
      if (frames !== null) this.#readFrames(frames)
    })
  }

  end(): readonly TextEvent[] {
    const { handler } = this.#collector
    return this.#collector.collect(() => {
      const rest = this.#splitter.end()
      // A complete last frame may lack its empty line. Once the answer is complete, the rest of a frame does not
      // matter.
      if (rest !== null && !handler.isWhole) this.#readFrame(rest)
      // A provider that sends the terminator has sent everything.
      if (this.isTerminated) handler.end()
      if (!handler.isWhole) throw new Error('the body ended before the answer did')
    })
  }

  #readFrames(frames: ByteText): void {
    let position = 0
    while (position < frames.length) {
      const end = frames.indexOf('\n\n', position)
      if (end === -1) return
      this.#readFrame(frames.slice(position, end))
      position = end + 2
    }
  }

  #readFrame(frame: ByteText): void {
    // Some hosts refuse a stream with a success status and a plain JSON body.
    const data = readFrameData(frame) ?? (frame.trimStart().startsWith('{') ? frame : null)
    if (data === null || data.trim() === '') return
    if (data.trim() === '[DONE]') {
      this.#isDone = true
      return
    }
    this.#collector.read(toUtf8(data))
  }
}

/** Whether the event counts towards the bound: one object may hold very many of these. */
function isCounted(event: TextEvent): boolean {
  return event.type === 'part_begin' || (event.type === 'piece' && event.piece.type === 'annotation')
}

/** Collects the events of one whole answer. Throws `provider_failed` when there are too many. */
export class AnswerEvents {
  readonly list: TextEvent[] = []
  #parts = 0

  readonly add = (event: TextEvent): void => {
    if (isCounted(event) && ++this.#parts > answerPartsMax)
      throw unreadable(`it has more than ${answerPartsMax} parts`)
    this.list.push(event)
  }
}

/** Why a stream cannot continue. Any cause except the provider's own error means a broken format. */
export function toStreamFailure(cause: unknown): GatewayError {
  if (cause instanceof GatewayError) return cause
  return new GatewayError(
    'provider_failed',
    'The provider broke off the stream or sent what could not be read.',
    { cause },
  )
}
