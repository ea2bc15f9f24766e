import { EventStreamCodec } from '@smithy/eventstream-codec'
import { streamFrameBytesMax } from '../../../core/limits/text.ts'
import { parsePlainly } from '../../../json/values.ts'

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

/** A frame of Amazon's binary event stream: an event with its JSON, or the error that ends the stream. */
export type AmazonFrame =
  | { type: 'event'; name: string; json: string }
  | { type: 'error'; error: { message: string; type: string; code: string } }

/** Cuts Amazon's binary event stream (`application/vnd.amazon.eventstream`) into frames, whatever its chunks. */
export class AmazonFrames {
  readonly #codec = new EventStreamCodec(
    (bytes) => toText(bytes as Uint8Array),
    (text) => Buffer.from(text),
  )
  /** The beginning of a frame that is not whole yet, and its length. */
  #pieces: Uint8Array[] = []
  #length = 0
  /** The length of the frame that is being gathered; 0 while it is not known. */
  #wanted = 0

  #joined(): Uint8Array {
    const [only] = this.#pieces
    if (only !== undefined && this.#pieces.length === 1) return only
    const bytes = Buffer.concat(this.#pieces)
    this.#pieces = [bytes]
    return bytes
  }

  /**
   * The frames that are whole now. Pieces of a frame are joined once, when it is whole. A wrong checksum, and a length that
   * no frame has, throw after the frames before them.
   */
  *push(chunk: Uint8Array): Generator<AmazonFrame> {
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
      yield this.#read(frame)
    }
  }

  #read(frame: Uint8Array): AmazonFrame {
    const { headers, body } = this.#codec.decode(frame)
    const named = (name: string): string => String(headers[name]?.value ?? '')
    const kind = named(':message-type')
    if (kind === 'event') return { type: 'event', name: named(':event-type'), json: toText(body) }
    const type = kind === 'exception' ? named(':exception-type') : named(':error-code')
    const message = kind === 'exception' ? messageOf(body) : named(':error-message')
    const code = String((Object.hasOwn(statusOfException, type) && statusOfException[type]) || 500)
    return { type: 'error', error: { message, type, code } }
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
