import type { TextEvent } from '../../../canonical/text/events.ts'
import { GatewayError } from '../../../core/errors.ts'
import {
  answerPartsMax,
  framePartsMax,
  jsonDepthMax,
  streamFrameBytesMax,
  streamPictureFrameBytesMax,
} from '../../../core/limits/text.ts'
import { isRecord, parsePlainly } from '../../../json/values.ts'
import type { StreamReader } from '../halves.ts'
import { isNestedWithin } from '../../../json/scan.ts'
import { unreadable } from '../../upstream-json.ts'
import { type ByteText, createFrameSplitter, readFrameData, toUtf8 } from '../../sse.ts'

/** Takes the events of one answer, in their order. */
export type Emit = (event: TextEvent) => void

/** What one format makes of the objects in a provider's event stream. */
export interface StreamHandler {
  /** One object. What it throws breaks the stream. */
  read(wire: Readonly<Record<string, unknown>>): void
  /** The provider said that nothing follows, by `[DONE]` or by ending its body; what is open may be closed. */
  end(): void
  /** Everything that was begun has ended. */
  readonly isWhole: boolean
  /** The format's own last event was seen. */
  readonly isTerminated: boolean
}

/** Reads server-sent events of JSON objects; `createHandler` gets where the events go, and `parse` makes their values. */
export function createStreamReader(
  createHandler: (emit: Emit) => StreamHandler,
  parse = parsePlainly,
): StreamReader {
  return new EventReader(createHandler, parse)
}

class EventReader implements StreamReader {
  readonly #splitter = createFrameSplitter(streamFrameBytesMax, streamPictureFrameBytesMax)
  readonly #handler: StreamHandler
  #events: TextEvent[] = []
  /** `done`: `[DONE]` was read, though more may follow it. */
  #state: 'reading' | 'done' | 'failed' = 'reading'
  readonly #parse: (json: string) => unknown
  /** Parts and citations of the frame that is read. */
  #parts = 0

  constructor(createHandler: (emit: Emit) => StreamHandler, parse: (json: string) => unknown) {
    this.#parse = parse
    this.#handler = createHandler((event) => this.#add(event))
  }

  get isTerminated(): boolean {
    return this.#state === 'done' || this.#handler.isTerminated
  }

  push(chunk: Uint8Array): readonly TextEvent[] {
    return this.#collect(() => {
      const frames = this.#splitter.push(chunk)
      if (frames !== null) this.#readFrames(frames)
    })
  }

  end(): readonly TextEvent[] {
    return this.#collect(() => {
      const rest = this.#splitter.end()
      // A whole last frame may lack its empty line; half a frame behind a whole answer is of no interest.
      if (rest !== null && !this.#handler.isWhole) this.#readFrame(rest)
      // The provider that sends the terminator has sent everything.
      if (this.isTerminated) this.#handler.end()
      if (!this.#handler.isWhole) throw new Error('the body ended before the answer did')
    })
  }

  #collect(work: () => void): readonly TextEvent[] {
    this.#events = []
    if (this.#state === 'failed') return this.#events
    try {
      work()
    } catch (cause) {
      this.#state = 'failed'
      this.#events.push({ type: 'failure', error: toStreamFailure(cause) })
    }
    return this.#events
  }

  #add(event: TextEvent): void {
    if (isCounted(event) && ++this.#parts > framePartsMax)
      throw new RangeError(`a frame has more than ${framePartsMax} parts`)
    this.#events.push(event)
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
    // Some hosts refuse a stream with a success status and a JSON body, which has no events at all.
    const data = readFrameData(frame) ?? (frame.trimStart().startsWith('{') ? frame : null)
    if (data === null || data.trim() === '') return
    if (data.trim() === '[DONE]') {
      this.#state = 'done'
      return
    }
    if (!isNestedWithin(data, jsonDepthMax)) throw new RangeError('a frame is nested too deep')
    const wire = this.#parse(toUtf8(data))
    if (!isRecord(wire)) throw new Error('a frame is not an object')
    this.#parts = 0
    this.#handler.read(wire)
  }
}

/** What one object may tell a great many of. */
function isCounted(event: TextEvent): boolean {
  return event.type === 'part_begin' || (event.type === 'piece' && event.piece.type === 'annotation')
}

/** The events of one whole answer, as its reader tells them. Throws `provider_failed` where they are too many. */
export class AnswerEvents {
  readonly list: TextEvent[] = []
  #parts = 0

  readonly add = (event: TextEvent): void => {
    if (isCounted(event) && ++this.#parts > answerPartsMax)
      throw unreadable(`it has more than ${answerPartsMax} parts`)
    this.list.push(event)
  }
}

/** Why a stream cannot go on; what is no error of the provider's own is its broken format. */
export function toStreamFailure(cause: unknown): GatewayError {
  if (cause instanceof GatewayError) return cause
  return new GatewayError(
    'provider_failed',
    'The provider broke off the stream or sent what could not be read.',
    { cause },
  )
}
