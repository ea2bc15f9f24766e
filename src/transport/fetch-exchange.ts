import type { GatewayError } from '../core/errors.ts'
import type { UpstreamTarget } from '../canonical/credential.ts'
import type { ResponseHeaders, StreamedBody, UpstreamRequest } from '../canonical/upstream.ts'
import { assert } from '../core/assert.ts'
import type { Clock } from '../core/clock.ts'
import { addressOf, withoutSecrets } from './credentials.ts'
import type { Descriptors } from './descriptors.ts'
import { abandoned, redirected, toFailure, unsent } from './exchange-errors.ts'
import type { FetchBodies } from './fetch-body.ts'
import { streamPieces } from './fetch-body.ts'
import type { SendOptions, UpstreamResponse } from './exchange.ts'
import { isWholeBody, requestHeaders } from './request-headers.ts'
import { TimeLimits } from './time-limits.ts'
import { readWhole, type BodyRead, type UpstreamBody } from './upstream-body.ts'

/** The largest answer of known length that is read at once, when a stall is not noticed: 13 kB a second within the idle time. */
const readAtOnceBytesMax = 4_000_000

/** What all exchanges by `fetch` share. */
export interface FetchParts {
  clock: Clock
  bodies: FetchBodies
  descriptors: Pick<Descriptors, 'areUsedUp'> | null
}

interface BodyReader {
  read(): Promise<BodyRead>
  cancel(): Promise<void>
}

/** One request and its response, by the runtime's `fetch`. */
export class FetchExchange implements UpstreamBody {
  readonly #options: SendOptions
  readonly #parts: FetchParts
  readonly #controller = new AbortController()
  readonly #onAbort = () => this.#controller.abort(abandoned())
  readonly #limits: TimeLimits
  #response: Response | null = null
  #target: UpstreamTarget | null = null
  #reader: BodyReader | null = null
  #isOver = false

  constructor(options: SendOptions, parts: FetchParts) {
    this.#options = options
    this.#parts = parts
    this.#limits = new TimeLimits(options, parts.clock, this)
  }

  onTimeOver(error: GatewayError): void {
    this.#controller.abort(error)
  }

  async send(request: UpstreamRequest, target: UpstreamTarget): Promise<UpstreamResponse> {
    const { signal } = this.#options
    if (signal.aborted) {
      this.#end()
      throw abandoned()
    }
    signal.addEventListener('abort', this.#onAbort, { once: true })
    try {
      this.#target = target
      const url = addressOf(request, target)
      const options = toFetchOptions(request, target, this.#controller.signal)
      const { body } = request
      if (body !== null)
        setBody(options, isWholeBody(body) ? (this.#parts.bodies.take(body) ?? streamPieces(body)) : body)
      const response = await fetch(url, options)
      this.#response = response
      this.#limits.onHead()
      const isRedirect = response.status >= 300 && response.status < 400
      if (isRedirect && !this.#options.takesRedirect) throw redirected(response.status)
      return this.#toResponse(response)
    } catch (thrown) {
      this.#end()
      this.#controller.abort()
      throw unsent(thrown, this.#parts.descriptors)
    }
  }

  #toResponse({ status, headers }: Response): UpstreamResponse {
    const readAll = (limitBytes: number) =>
      status < 400 ? this.#readAll(limitBytes) : this.#readRefusal(limitBytes)
    return { status, headers, body: this, readAll }
  }

  async #readRefusal(limitBytes: number): Promise<Uint8Array> {
    const bytes = await this.#readAll(limitBytes)
    return this.#target ? withoutSecrets(bytes, this.#target.credential) : bytes
  }

  #readAll(limitBytes: number): Promise<Uint8Array> {
    const response = this.#response
    assert(response, 'a body is read after its headers')
    const { status, headers } = response
    const atOnceBytes = Math.min(limitBytes, readAtOnceBytesMax)
    if (isKnownToFit(headers, atOnceBytes) && this.#reader === null && !this.#isOver)
      return this.#readAtOnce(response)
    return readWhole(this, { limitBytes, cutOff: status < 200 || status >= 300, headers })
  }

  /**
   * Reads a small body of known length in one native read, which is cheaper than a reader. The whole read counts as one
   * silence; a large body that flows steadily would exceed that limit.
   */
  async #readAtOnce(response: Response): Promise<Uint8Array> {
    this.#limits.onWait()
    try {
      return await response.bytes()
    } catch (thrown) {
      throw toFailure(thrown)
    } finally {
      this.#end()
    }
  }

  read(): Promise<BodyRead> {
    if (this.#isOver) return Promise.resolve({ done: true, value: undefined })
    this.#reader ??= this.#response?.body?.getReader() ?? null
    if (this.#reader === null) {
      this.#end()
      return Promise.resolve({ done: true, value: undefined })
    }
    this.#limits.onWait()
    return this.#reader.read().then(this.#onRead, this.#onReadError)
  }

  // Bound once, because they run for every piece of every stream.
  readonly #onRead = (read: BodyRead): BodyRead => {
    this.#limits.onRead()
    if (read.done) this.#end()
    return read
  }

  readonly #onReadError = (thrown: unknown): never => {
    this.#end()
    throw toFailure(thrown)
  }

  cancel(): void {
    if (this.#isOver) return
    this.#end()
    // Cancel and abort: an abort alone was seen to leave the body's buffers allocated.
    this.#reader?.cancel().catch(() => undefined)
    this.#controller.abort(abandoned())
  }

  #end(): void {
    this.#isOver = true
    this.#limits.stop()
    this.#options.signal.removeEventListener('abort', this.#onAbort)
  }
}

function isKnownToFit(headers: ResponseHeaders, limitBytes: number): boolean {
  const length = headers.get('content-length')
  // A compressed body is longer than its `content-length`.
  return length !== null && Number(length) <= limitBytes && headers.get('content-encoding') === null
}

type FetchOptions = BunFetchRequestInit & { headers: Record<string, string> }

function toFetchOptions(request: UpstreamRequest, target: UpstreamTarget, signal: AbortSignal): FetchOptions {
  const headers = requestHeaders(request, target)
  // Following a redirect would send the credential to any host that an upstream names.
  return { method: request.method, headers, signal, redirect: 'manual', timeout: false }
}

function setBody(options: FetchOptions, body: Uint8Array<ArrayBuffer> | StreamedBody): void {
  if (body instanceof Uint8Array) options.body = body
  else {
    options.headers['content-length'] = String(body.contentLength)
    options.body = body.open()
  }
}
