import type { BodyPieces } from '../core/body.ts'
import type { UpstreamTarget } from '../canonical/credential.ts'
import type { StreamedBody, UpstreamRequest } from '../canonical/upstream.ts'
import { Alarms, type Alarm } from '../core/alarms.ts'
import { assert } from '../core/assert.ts'
import type { Clock } from '../core/clock.ts'
import { GatewayError } from '../core/errors.ts'
import { readAtOnceBytesMax, upstreamIdleMs } from '../core/limits/calls.ts'
import { addressOf, authHeaders, withoutSecrets } from './credentials.ts'
import { isOutOfDescriptors, noDescriptors, type Descriptors } from './descriptors.ts'
import { FetchBodies, streamPieces } from './fetch-body.ts'
import { readWhole, type BodyRead, type UpstreamBody } from './upstream-body.ts'

/** How long one exchange may take, and who may end it. */
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
   * The whole body. Beyond `limitBytes` a success rejects with `provider_failed`, because half an answer is none; the
   * body of an error status is cut off there, because its beginning explains enough.
   */
  readAll(limitBytes: number): Promise<Uint8Array>
}

/** The one way out to upstreams. */
export interface Transport {
  /**
   * Sends a request to its target and resolves when the response's headers are there. Rejects with a GatewayError:
   * `provider_timeout` without headers in time, `deadline` when the exchange's own time is over or its signal ended it,
   * `provider_failed` when the upstream cannot be reached, breaks off or redirects. The credential goes to the
   * target's own base URL and nowhere else.
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

/** What a transport is built with. */
export interface TransportOptions {
  clock: Clock
  /** By which it tells a provider that cannot be reached from a process that can reach nobody. */
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

/** Of all exchanges, so that an ordinary one sets no timer. */
const alarms = new Alarms()

/** One request and its response, which it reads: owns the abort signal and the one alarm that guards both. */
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
   * A small body of known length in one native read, which is cheaper than going through a reader. It counts as one
   * silence until its end, which a large one that flows steadily would outlast.
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

  // Bound once, because these run for every piece of every stream.
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
   * One alarm for all waits: it rings at the earliest time one of them could be over and looks what has happened
   * since, so that an ordinary exchange sets it once and never moves it.
   */
  #watch(): void {
    const { firstByteTimeoutMs, idleTimeoutMs = upstreamIdleMs } = this.#options
    const nowMs = this.#clock.monotonicMs()
    let leftMs = this.#deadlineAtMs - nowMs
    if (leftMs <= 0) return this.#controller.abort(deadlinePassed())
    if (this.#response !== null) {
      // Only an open read can stall: a caller who reads slowly is not the upstream's fault.
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
    // Both, because an abort alone was seen to leave the body's buffers behind.
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
  // A compressed body is longer than it says.
  return length !== null && Number(length) <= limitBytes && !headers.has('content-encoding')
}

type FetchOptions = BunFetchRequestInit & { headers: Record<string, string> }

function toFetchOptions(request: UpstreamRequest, target: UpstreamTarget, signal: AbortSignal): FetchOptions {
  const headers: Record<string, string> = {
    // Compressed answers would be unpacked here only to be read or packed again; the line to a provider is not scarce.
    'accept-encoding': 'identity',
    'user-agent': 'headrace',
    ...request.headers,
    ...authHeaders(request, target),
    ...target.credential.additions?.headers,
  }
  // A redirect would carry the credential to wherever an upstream points.
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

/** Why a request got no response. The runtime has several words for a connection that this process could not open. */
function unsent(thrown: unknown, descriptors: ExchangeParts['descriptors']): GatewayError {
  const failure = toFailure(thrown)
  if (thrown === failure) return failure
  return isOutOfDescriptors(thrown) || descriptors?.areUsedUp() === true
    ? noDescriptors(failure.cause)
    : failure
}

/** What a broken connection means. Only the code is kept: messages of the runtime name the host. */
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
