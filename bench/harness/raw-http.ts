/** Bytes of one request, as a client with one header line per header would write them. */
export function requestBytes(options: {
  port: number
  path: string
  headers: Readonly<Record<string, string>>
  body: string
}): Uint8Array {
  const body = new TextEncoder().encode(options.body)
  const lines = [
    `POST ${options.path} HTTP/1.1`,
    `Host: 127.0.0.1:${options.port}`,
    'Content-Type: application/json',
    `Content-Length: ${body.byteLength}`,
    ...Object.entries(options.headers).map(([name, value]) => `${name}: ${value}`),
  ]
  return Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`), body])
}

/** What `ResponseReader.push` has seen so far. */
export type Progress = 'headers' | 'body' | 'ended'

/**
 * Finds out where one HTTP response begins and ends, without keeping it. Cheaper and more exact than an HTTP client,
 * whose own queues would be part of what is measured.
 */
export class ResponseReader {
  status = 0
  #head = ''
  #isInBody = false
  #isChunked = false
  /** Bytes left of the body or of the chunk. */
  #left = 0
  /** The end of a chunked body as far as it has been seen. */
  #tail = ''

  /** Reads what came; says how far the response is. */
  push(bytes: Uint8Array): Progress {
    let rest = bytes
    if (!this.#isInBody) {
      this.#head += Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
      const end = this.#head.indexOf('\r\n\r\n')
      if (end === -1) return 'headers'
      rest = bytes.subarray(bytes.byteLength - (this.#head.length - end - 4))
      this.#begin(this.#head.slice(0, end))
    }
    if (this.#isChunked) return this.#pushChunked(rest)
    this.#left -= rest.byteLength
    return this.#left <= 0 ? 'ended' : 'body'
  }

  /** Ready for the next response on the same connection. */
  reset(): void {
    this.status = 0
    this.#head = ''
    this.#isInBody = false
    this.#tail = ''
  }

  #begin(head: string): void {
    this.#isInBody = true
    this.status = Number(head.slice(9, 12))
    this.#isChunked = /\r\ntransfer-encoding: *chunked/i.test(head)
    this.#left = Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0)
  }

  // The last chunk is looked for at the end of what came: none of the bench's bodies contain it.
  #pushChunked(bytes: Uint8Array): Progress {
    const last = Buffer.from(bytes.subarray(-7)).toString('latin1')
    this.#tail = (this.#tail + last).slice(-7)
    return this.#tail.endsWith('0\r\n\r\n') ? 'ended' : 'body'
  }
}
