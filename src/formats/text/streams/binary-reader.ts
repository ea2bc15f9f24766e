import { EventStreamCodec } from '@smithy/eventstream-codec'
import type { TextEvent } from '../../../canonical/text/events.ts'
import { streamFrameBytesMax } from '../../../core/limits/text.ts'
import { parseExactly, parsePlainly } from '../../../json/values.ts'
import { readReportedError, type ReportContext } from '../../upstream-errors.ts'
import type { StreamReader } from '../halves.ts'
import { type Emit, EventCollector, type StreamHandler } from './stream-reader.ts'

/** A frame's two lengths and the checksum over them, and the checksum of all at its end. */
const preludeBytes = 12
const frameBytesMin = 16

/** The statuses that errors in a stream would have had as responses: https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ConverseStream.html */
const statusOfException: Readonly<Record<string, number>> = {
  internalServerException: 500,
  modelStreamErrorException: 502,
  modelTimeoutException: 504,
  serviceUnavailableException: 503,
  throttlingException: 429,
  validationException: 400,
}

/**
 * Reads Amazon's binary event stream (`application/vnd.amazon.eventstream`) as objects with one member, named as the event. A
 * wrong checksum, an exception and an error break the stream.
 */
export function createBinaryReader(
  createHandler: (emit: Emit) => StreamHandler,
  context: ReportContext,
): StreamReader {
  return new BinaryReader(createHandler, context)
}

class BinaryReader implements StreamReader {
  readonly #codec = new EventStreamCodec(
    (bytes) => toText(bytes as Uint8Array),
    (text) => Buffer.from(text),
  )
  readonly #collector: EventCollector
  readonly #context: ReportContext
  /** The beginning of a frame that is not whole yet, and its length. */
  #pieces: Uint8Array[] = []
  #length = 0
  /** The length of the frame that is being gathered; 0 while it is not known. */
  #wanted = 0

  constructor(createHandler: (emit: Emit) => StreamHandler, context: ReportContext) {
    this.#collector = new EventCollector(createHandler, parseExactly)
    this.#context = context
  }

  get isTerminated(): boolean {
    return this.#collector.handler.isTerminated
  }

  push(chunk: Uint8Array): readonly TextEvent[] {
    return this.#collector.collect(() => this.#cut(chunk))
  }

  end(): readonly TextEvent[] {
    return this.#collector.collect(() => {
      if (!this.#collector.handler.isWhole) throw new Error('the body ended before the answer did')
    })
  }

  /** Pieces of a frame are joined once, when it is whole. */
  #cut(chunk: Uint8Array): void {
    this.#pieces.push(chunk)
    this.#length += chunk.length
    while (this.#length >= Math.max(preludeBytes, this.#wanted)) {
      const bytes = this.#joined()
      if (this.#wanted === 0) this.#wanted = lengthOf(bytes)
      if (bytes.length < this.#wanted) break
      const frame = bytes.subarray(0, this.#wanted)
      this.#pieces = [bytes.subarray(this.#wanted)]
      this.#length -= this.#wanted
      this.#wanted = 0
      this.#read(frame)
    }
  }

  #joined(): Uint8Array {
    const [only] = this.#pieces
    if (only !== undefined && this.#pieces.length === 1) return only
    const bytes = Buffer.concat(this.#pieces)
    this.#pieces = [bytes]
    return bytes
  }

  #read(frame: Uint8Array): void {
    const { headers, body } = this.#codec.decode(frame)
    const named = (name: string): string => String(headers[name]?.value ?? '')
    const type = named(':message-type')
    if (type === 'event') return this.#collector.read(toText(body), named(':event-type'))
    const name = type === 'exception' ? named(':exception-type') : named(':error-code')
    const message = type === 'exception' ? messageOf(body) : named(':error-message')
    const code = String((Object.hasOwn(statusOfException, name) && statusOfException[name]) || 500)
    throw readReportedError({ message, type: name, code }, this.#context)
  }
}

/** @throws RangeError - for a length that no frame has, or that is beyond the bound */
function lengthOf(prelude: Uint8Array): number {
  const length = new DataView(prelude.buffer, prelude.byteOffset).getUint32(0)
  if (length < frameBytesMin || length > streamFrameBytesMax)
    throw new RangeError(`a frame is to have ${length} bytes`)
  return length
}

function messageOf(body: Uint8Array): string {
  try {
    const { message } = parsePlainly(toText(body)) as { message?: unknown }
    return typeof message === 'string' ? message : ''
  } catch {
    return ''
  }
}

function toText(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8')
}
