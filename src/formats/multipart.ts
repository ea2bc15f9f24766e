import { GatewayError } from '../core/errors.ts'

/** Parts of a multipart form: a hundred key terms, granularities and every other field, with room. */
const multipartPartsMax = 256
/** Headers of one multipart part; a long file name fits. */
const multipartHeaderBytesMax = 16_384
/** RFC 2046's bound for a multipart boundary. */
const multipartBoundaryLengthMax = 70

/** The headers of a part that matter. */
export interface MultipartHead {
  name: string
  fileName: string | null
  contentType: string | null
}

/** The events of a form, in order: a part begins, has data in any number of pieces, and ends. */
export type MultipartEvent =
  | { type: 'begin'; head: MultipartHead }
  | { type: 'data'; bytes: Uint8Array }
  | { type: 'end' }

type State = 'preamble' | 'afterBoundary' | 'headers' | 'data' | 'epilogue'

/** The boundary in a `multipart/form-data` content type. Throws `invalid_request` when there is no valid one. */
export function parseBoundary(contentType: string): string {
  const match = /;\s*boundary=(?:"([^"]+)"|([^;\s"]+))/i.exec(contentType)
  const boundary = match?.[1] ?? match?.[2] ?? ''
  if (boundary === '' || boundary.length > multipartBoundaryLengthMax) {
    throw broken('its content type names no usable boundary')
  }
  return boundary
}

/**
 * Reads a form as it arrives, cut anywhere. Holds at most one header block or the length of a delimiter. Data events
 * are views of the chunk or of a small buffer and must be used before the next push.
 */
export class MultipartReader {
  readonly #delimiter: Buffer
  #state: State = 'preamble'
  #rest: Buffer
  #parts = 0

  constructor(boundary: string) {
    this.#delimiter = Buffer.from(`\r\n--${boundary}`)
    // The first boundary may stand at the very beginning, without a line break before it.
    this.#rest = Buffer.from('\r\n')
  }

  push(chunk: Uint8Array): MultipartEvent[] {
    const view = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length)
    const events: MultipartEvent[] = []
    let bytes = this.#withRest(view, events)
    for (;;) {
      const used = this.#step(bytes, events)
      if (used === null) break
      bytes = bytes.subarray(used)
    }
    // A copy, because the chunk belongs to the caller of this function.
    this.#rest = Buffer.from(bytes)
    return events
  }

  /** The rest of the last chunk together with this one; inside a large part the chunk is not copied. */
  #withRest(view: Buffer, events: MultipartEvent[]): Buffer {
    const rest = this.#rest
    if (rest.length === 0) return view
    if (this.#state === 'data') {
      // A delimiter that begins in the rest ends within this many bytes.
      const seam = Buffer.concat([rest, view.subarray(0, this.#delimiter.length - 1)])
      if (view.length >= this.#delimiter.length && !seam.includes(this.#delimiter)) {
        events.push({ type: 'data', bytes: rest })
        return view
      }
    }
    return Buffer.concat([rest, view])
  }

  /** Throws `invalid_request` when the form has not ended. */
  end(): void {
    if (this.#state !== 'epilogue') throw broken('it ends before its closing boundary')
  }

  /** Advances by one step and returns the number of bytes used; null when it needs more. */
  #step(bytes: Buffer, events: MultipartEvent[]): number | null {
    if (this.#state === 'epilogue') return bytes.length > 0 ? bytes.length : null
    if (this.#state === 'preamble' || this.#state === 'data') return this.#readData(bytes, events)
    if (this.#state === 'afterBoundary') return this.#readBoundaryEnd(bytes)
    return this.#readHeaders(bytes, events)
  }

  #readData(bytes: Buffer, events: MultipartEvent[]): number | null {
    const isPart = this.#state === 'data'
    const at = bytes.indexOf(this.#delimiter)
    const end = at >= 0 ? at : bytes.length - this.#delimiter.length + 1
    if (isPart && end > 0) events.push({ type: 'data', bytes: bytes.subarray(0, end) })
    if (at < 0) return end > 0 ? end : null
    if (isPart) events.push({ type: 'end' })
    this.#state = 'afterBoundary'
    return at + this.#delimiter.length
  }

  #readBoundaryEnd(bytes: Buffer): number | null {
    const lineEnd = bytes.indexOf('\r\n')
    if (bytes.length >= 2 && bytes[0] === 0x2d && bytes[1] === 0x2d) {
      this.#state = 'epilogue'
      return 2
    }
    if (lineEnd < 0) {
      if (bytes.length > multipartBoundaryLengthMax) throw broken('a boundary line has no end')
      return null
    }
    if (bytes.subarray(0, lineEnd).toString('latin1').trim() !== '')
      throw broken('a boundary line is malformed')
    this.#parts += 1
    if (this.#parts > multipartPartsMax) throw broken(`it has more than ${multipartPartsMax} parts`)
    this.#state = 'headers'
    // The line break stays, so that a part without headers ends its block like any other.
    return lineEnd
  }

  #readHeaders(bytes: Buffer, events: MultipartEvent[]): number | null {
    const end = bytes.indexOf('\r\n\r\n')
    if (end > multipartHeaderBytesMax || (end < 0 && bytes.length > multipartHeaderBytesMax)) {
      throw broken(`the headers of a part are longer than ${multipartHeaderBytesMax} bytes`)
    }
    if (end < 0) return null
    events.push({ type: 'begin', head: parseHead(bytes.subarray(0, end).toString('utf8')) })
    this.#state = 'data'
    return end + 4
  }
}

function parseHead(block: string): MultipartHead {
  let disposition = ''
  let contentType: string | null = null
  for (const line of block.split('\r\n')) {
    const colon = line.indexOf(':')
    const name = line.slice(0, Math.max(colon, 0)).trim().toLowerCase()
    if (name === 'content-disposition') disposition = line.slice(colon + 1)
    if (name === 'content-type') contentType = line.slice(colon + 1).trim()
  }
  const name = dispositionParameter(disposition, 'name')
  if (name === null) throw broken('a part has no name')
  return { name, fileName: dispositionParameter(disposition, 'filename'), contentType }
}

/** Browsers write a quote as `%22`, other clients as `\"`; both are decoded. */
function dispositionParameter(disposition: string, parameter: string): string | null {
  const match = new RegExp(`;\\s*${parameter}=(?:"((?:[^"\\\\]|\\\\.)*)"|([^;\\s]*))`, 'i').exec(disposition)
  if (!match) return null
  const value = match[1]?.replace(/\\(["\\])/g, '$1').replace(/%22/g, '"') ?? match[2]
  return value ?? null
}

function broken(problem: string): GatewayError {
  return new GatewayError(
    'invalid_request',
    `The multipart body cannot be read: ${problem}. Send multipart/form-data as HTTP clients write it.`,
  )
}
