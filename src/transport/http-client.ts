import type { BodyPieces } from '../core/body.ts'
import type { UpstreamTarget } from '../canonical/credential.ts'
import type { StreamedBody, UpstreamRequest } from '../canonical/upstream.ts'
import { Alarms, type Alarm } from '../core/alarms.ts'
import { assert } from '../core/assert.ts'
import type { Clock } from '../core/clock.ts'
import { GatewayError } from '../core/errors.ts'
import { addressOf, authHeaders, withoutSecrets } from './credentials.ts'
import { isOutOfDescriptors, noDescriptors, type Descriptors } from './descriptors.ts'
import { FetchBodies, streamPieces } from './fetch-body.ts'
import { readWhole, type BodyRead, type UpstreamBody } from './upstream-body.ts'

/** Longest silence in the middle of an upstream's body; a model that thinks between two pieces is quiet for minutes. */
const upstreamIdleMs = 300_000
/** The largest answer of known length that is read at once, when a stall is not noticed: 13 kB a second within `upstreamIdleMs`. */
const readAtOnceBytesMax = 4_000_000

/** The time limits of one exchange, and the signal that ends it. */
export interface SendOptions {
  /** Ends the exchange at any point; its upstream connection is closed. */
  signal: AbortSignal
  /** Milliseconds from now until the whole exchange must be over, body included. */
  deadlineMs: number
  /** Longest wait for the response's headers, in milliseconds. */
  firstByteTimeoutMs: number
  /** Longest silence between two reads of the body, in milliseconds. Default `upstreamIdleMs`. */
  idleTimeoutMs?: number
}

/** An upstream's response, whatever its status; redirects never get this far. */
export interface UpstreamResponse {
  status: number
  headers: Headers
  body: UpstreamBody
  /**
   * The whole body. When a successful response is larger than `limitBytes`, it rejects with `provider_failed`, because half
   * an answer is useless. An error's body is cut off there, because its beginning explains enough.
   */
  readAll(limitBytes: number): Promise<Uint8Array>
}

/** The only way to send requests to upstreams. */
export interface Transport {
  /**
   * Sends a request to its target and resolves when the response's headers have arrived. Rejects with a GatewayError:
   * `provider_timeout` when the headers are late; `deadline` when the exchange's time is over or its signal aborted it;
   * `provider_failed` when the upstream cannot be reached, breaks off or redirects. The credential goes to the target's
   * own base URL and nowhere else.
   */
  send(request: UpstreamRequest, target: UpstreamTarget, options: SendOptions): Promise<UpstreamResponse>
}

/** A transport over Bun's `fetch`; outbound proxies and private authorities are the runtime's own settings. */
export function createTransport({ clock, descriptors = null }: TransportOptions): Transport {
  const parts: ExchangeParts = { clock, bodies: new FetchBodies(), descriptors }
  return {
    send: (request, target, options) => new Exchange(options, parts).send(request, target),
  }
}

/** What `createTransport` needs. */
export interface TransportOptions {
  clock: Clock
  /** Tells whether a connection failed because the provider is unreachable or because this process has no descriptors. */
  descriptors?: Pick<Descriptors, 'areUsedUp'> | null
}

interface ExchangeParts {
  clock: Clock
  bodies: FetchBodies
  descriptors: Pick<Descriptors, 'areUsedUp'> | null
}

interface BodyReader {
  read(): Promise<BodyRead>
  cancel(): Promise<void>
}

/** Shared by all exchanges, so that an ordinary exchange sets no timer of its own. */
const alarms = new Alarms()

/** One request and its response. Owns the abort signal and the one alarm that watches all its time limits. */
class Exchange implements UpstreamBody {
  readonly #options: SendOptions
  readonly #clock: Clock
  readonly #parts: ExchangeParts
  readonly #startedAtMs: number
  readonly #deadlineAtMs: number
  readonly #controller = new AbortController()
  readonly #onAbort = () => this.#controller.abort(abandoned())
  #alarm: Alarm | null = null
  #response: Response | null = null
  #target: UpstreamTarget | null = null
  #reader: BodyReader | null = null
  #readSinceMs: number | null = null
  #isOver = false

  constructor(options: SendOptions, parts: ExchangeParts) {
    this.#options = options
    this.#clock = parts.clock
    this.#parts = parts
    this.#startedAtMs = this.#clock.monotonicMs()
    this.#deadlineAtMs = this.#startedAtMs + options.deadlineMs
  }

  async send(request: UpstreamRequest, target: UpstreamTarget): Promise<UpstreamResponse> {
    const { signal } = this.#options
    if (signal.aborted) throw abandoned()
    signal.addEventListener('abort', this.#onAbort, { once: true })
    this.#watch()
    try {
      this.#target = target
      const url = addressOf(request, target)
      const options = toFetchOptions(request, target, this.#controller.signal)
      const { body } = request
      if (body !== null)
        setBody(options, isWhole(body) ? (this.#parts.bodies.take(body) ?? streamPieces(body)) : body)
      const response = await fetch(url, options)
      this.#response = response
      if (response.status >= 300 && response.status < 400) throw redirected(response.status)
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
    this.#readSinceMs = this.#clock.monotonicMs()
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
    this.#readSinceMs = this.#clock.monotonicMs()
    return this.#reader.read().then(this.#onRead, this.#onReadError)
  }

  // Bound once, because they run for every piece of every stream.
  readonly #onRead = (read: BodyRead): BodyRead => {
    this.#readSinceMs = null
    if (read.done) this.#end()
    return read
  }

  readonly #onReadError = (thrown: unknown): never => {
    this.#end()
    throw toFailure(thrown)
  }

  /**
   * Sets one alarm for all time limits, at the earliest time at which one could be exceeded; then it checks what has
   * happened since. So an ordinary exchange sets it once and never moves it.
   */
  #watch(): void {
    const { firstByteTimeoutMs, idleTimeoutMs = upstreamIdleMs } = this.#options
    const nowMs = this.#clock.monotonicMs()
    let leftMs = this.#deadlineAtMs - nowMs
    if (leftMs <= 0) return this.#controller.abort(deadlinePassed())
    if (this.#response !== null) {
      // Only an open read can stall: when the caller reads slowly, no read is open, and the upstream is not at fault.
      const silentMs = this.#readSinceMs === null ? 0 : nowMs - this.#readSinceMs
      if (silentMs >= idleTimeoutMs) return this.#controller.abort(stalled())
      leftMs = Math.min(leftMs, idleTimeoutMs - silentMs)
    } else {
      const waitedMs = nowMs - this.#startedAtMs
      if (waitedMs >= firstByteTimeoutMs) return this.#controller.abort(timedOut())
      leftMs = Math.min(leftMs, firstByteTimeoutMs - waitedMs, idleTimeoutMs)
    }
    this.#alarm = alarms.set(leftMs, () => this.#watch())
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
    if (this.#alarm !== null) alarms.callOff(this.#alarm)
    this.#options.signal.removeEventListener('abort', this.#onAbort)
  }
}

function isKnownToFit(headers: Headers, limitBytes: number): boolean {
  const length = headers.get('content-length')
  // A compressed body is longer than its `content-length`.
  return length !== null && Number(length) <= limitBytes && !headers.has('content-encoding')
}

type FetchOptions = BunFetchRequestInit & { headers: Record<string, string> }

function toFetchOptions(request: UpstreamRequest, target: UpstreamTarget, signal: AbortSignal): FetchOptions {
  const headers: Record<string, string> = {
    // A compressed answer would only be unpacked here to be read or packed again, and bandwidth to providers is not scarce.
    'accept-encoding': 'identity',
    'user-agent': 'headrace',
    ...request.headers,
    ...authHeaders(request, target),
    ...target.credential.additions?.headers,
  }
  // Following a redirect would send the credential to any host that an upstream names.
  return { method: request.method, headers, signal, redirect: 'manual', timeout: false }
}

function isWhole(body: UpstreamRequest['body']): body is BodyPieces {
  return Array.isArray(body)
}

function setBody(options: FetchOptions, body: Uint8Array<ArrayBuffer> | StreamedBody): void {
  if (body instanceof Uint8Array) options.body = body
  else {
    options.headers['content-length'] = String(body.contentLength)
    options.body = body.open()
  }
}

function abandoned(): GatewayError {
  return new GatewayError('deadline', 'The call was ended before the provider had answered.')
}

function deadlinePassed(): GatewayError {
  return new GatewayError('deadline', 'The call ran out of its time before the provider had answered.')
}

function timedOut(): GatewayError {
  return new GatewayError('provider_timeout', 'The provider did not begin to answer in time.')
}

function stalled(): GatewayError {
  return new GatewayError('provider_failed', 'The provider stopped in the middle of its answer.')
}

function redirected(status: number): GatewayError {
  return new GatewayError(
    'provider_failed',
    'The provider answered with a redirect, which is not followed.',
    {
      cause: new Error(`status ${status}`),
    },
  )
}

/** The error for a request without a response. The runtime has several codes for a connection that this process could not open. */
function unsent(thrown: unknown, descriptors: ExchangeParts['descriptors']): GatewayError {
  const failure = toFailure(thrown)
  if (thrown === failure) return failure
  return isOutOfDescriptors(thrown) || descriptors?.areUsedUp() === true
    ? noDescriptors(failure.cause)
    : failure
}

/** The error for a broken connection. It keeps only the code: the runtime's messages name the host. */
function toFailure(thrown: unknown): GatewayError {
  if (thrown instanceof GatewayError) return thrown
  const code = thrown instanceof Error && 'code' in thrown ? String(thrown.code) : 'unknown'
  const cause = new Error(`connection: ${code}`)
  if (unreachable.has(code))
    return new GatewayError('provider_failed', 'The provider could not be reached.', { cause })
  return new GatewayError('provider_failed', 'The connection to the provider broke off.', { cause })
}

const unreachable: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ConnectionRefused',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ETIMEDOUT',
  'FailedToOpenSocket',
])
