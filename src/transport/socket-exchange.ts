import type { UpstreamTarget } from '../canonical/credential.ts'
import type { ResponseHeaders } from '../canonical/upstream.ts'
import type { Clock } from '../core/clock.ts'
import type { GatewayError } from '../core/errors.ts'
import { hangUps, type Leavable } from '../core/hang-ups.ts'
import type { AnswerHead } from './answer-head.ts'
import type { Connection, Lessee, Origin, OutgoingRequest } from './connection.ts'
import type { Connections } from './connections.ts'
import { withoutSecrets } from './credentials.ts'
import type { Descriptors } from './descriptors.ts'
import { abandoned, redirected, toFailure, unsent } from './exchange-errors.ts'
import type { SendOptions, UpstreamResponse } from './exchange.ts'
import { TimeLimits } from './time-limits.ts'
import { unpackerFor, UnpackedBody } from './unpacked-body.ts'
import { readWhole, tooLarge, type BodyRead, type UpstreamBody } from './upstream-body.ts'

/**
 * Bytes and reads of a body that wait for a slow reader before its connection is paused; one read more may go beyond. A read
 * of that size pauses it, too, until the next is asked for: the runtime reads half a megabyte at once.
 */
const unreadBytesMax = 65_536
const unreadPiecesMax = 64

/** What all exchanges by sockets share. */
export interface SocketParts {
  clock: Clock
  connections: Connections
  descriptors: Pick<Descriptors, 'areUsedUp'> | null
}

/** A promise that this exchange has given and not settled: of the response, of one read, or of the whole body. */
type Waiter<T> = PromiseWithResolvers<T>

const ended: BodyRead = { done: true, value: undefined }

/** One request and its response, on a connection of our own. It is its own response and body, to save objects. */
export class SocketExchange implements Lessee, UpstreamResponse, UpstreamBody, Leavable {
  readonly request: OutgoingRequest
  readonly #options: SendOptions
  readonly #parts: SocketParts
  readonly #target: UpstreamTarget
  readonly #limits: TimeLimits
  /** Among those whose callers may leave. */
  place = -1
  #connection: Connection | null = null
  #head: AnswerHead | null = null
  #failure: GatewayError | null = null
  #isOver = false
  /** What was received and not read yet. */
  #pieces: Buffer[] = []
  #unreadBytes = 0
  #isPaused = false
  #response: Waiter<UpstreamResponse> | null = null
  #read: Waiter<BodyRead> | null = null
  #whole: Waiter<Uint8Array> | null = null
  /** Of the whole body that is awaited. */
  #limitBytes = 0

  constructor(
    request: OutgoingRequest,
    target: UpstreamTarget,
    { options, parts }: { options: SendOptions; parts: SocketParts },
  ) {
    this.request = request
    this.#target = target
    this.#options = options
    this.#parts = parts
    this.#limits = new TimeLimits(options, parts.clock, this)
  }

  send(origin: Origin): Promise<UpstreamResponse> {
    if (this.signal.aborted) this.#giveUp(abandoned())
    if (this.#failure !== null) return Promise.reject(this.#failure)
    hangUps.watch(this)
    const waiter = Promise.withResolvers<UpstreamResponse>()
    this.#response = waiter
    this.#parts.connections.lease(origin, this)
    return waiter.promise
  }

  /** Asked whenever somebody waits for what has come: a caller who has left, and would be told by the next look, must not pay for it. */
  get signal(): AbortSignal {
    return this.#options.signal
  }

  onHangUp(): void {
    this.#giveUp(abandoned())
  }

  onTimeOver(error: GatewayError): void {
    this.#giveUp(error)
  }

  /** Also when its caller has left and the next look will tell: nothing must be sent for it any more. */
  get isOver(): boolean {
    return this.#isOver || this.signal.aborted
  }

  get status(): number {
    return this.#head?.status ?? 0
  }

  get headers(): ResponseHeaders {
    return this.#head ?? new Headers()
  }

  get body(): UpstreamBody {
    return this
  }

  onConnection(connection: Connection): void {
    this.#connection = connection
  }

  onHead(head: AnswerHead): void {
    if (this.signal.aborted) return this.#giveUp(abandoned())
    this.#head = head
    this.#limits.onHead()
    const { status } = head
    if (status >= 300 && status < 400 && !this.#options.takesRedirect) return this.#giveUp(redirected(status))
    const response = this.#response
    this.#response = null
    response?.resolve(this.#toResponse(head))
  }

  #toResponse(head: AnswerHead): UpstreamResponse {
    const unpacker = unpackerFor(head.get('content-encoding'))
    return unpacker === null ? this : this.#unpacked(head, unpacker)
  }

  #unpacked(head: AnswerHead, unpacker: NonNullable<ReturnType<typeof unpackerFor>>): UpstreamResponse {
    const { status } = head
    const body = new UnpackedBody(this, unpacker)
    const readAll = async (limitBytes: number) => {
      const bytes = await readWhole(body, { limitBytes, cutOff: isRefusal(status), headers: head })
      return this.#toShown(bytes)
    }
    return { status, headers: head, body, readAll }
  }

  onBody(bytes: Buffer): void {
    const read = this.#read
    if (read !== null) {
      if (this.signal.aborted) return this.#giveUp(abandoned())
      this.#read = null
      this.#limits.onRead()
      if (bytes.length >= unreadBytesMax) this.#pause()
      return read.resolve({ done: false, value: bytes })
    }
    this.#pieces.push(bytes)
    this.#unreadBytes += bytes.length
    if (this.#whole !== null) return this.#onMoreOfWhole()
    if (this.#unreadBytes < unreadBytesMax && this.#pieces.length < unreadPiecesMax) return
    this.#pause()
  }

  #pause(): void {
    this.#isPaused = true
    this.#connection?.pause()
  }

  #onMoreOfWhole(): void {
    this.#limits.onWait()
    if (this.#unreadBytes <= this.#limitBytes) return
    if (isRefusal(this.status)) {
      this.#connection?.drop()
      this.#finish()
    } else this.#giveUp(tooLarge(this.#limitBytes))
  }

  onEnd(): void {
    const isAwaited = this.#read !== null || this.#whole !== null
    if (isAwaited && this.signal.aborted) this.#fail(abandoned())
    else this.#finish()
  }

  #finish(): void {
    this.#close()
    const read = this.#read
    const whole = this.#whole
    this.#read = null
    this.#whole = null
    read?.resolve(ended)
    whole?.resolve(this.#takeWhole(this.#limitBytes))
  }

  onBroken(thrown: unknown): void {
    if (this.#isOver) return
    this.#fail(this.#head === null ? unsent(thrown, this.#parts.descriptors) : toFailure(thrown))
  }

  read(): Promise<BodyRead> {
    const value = this.#pieces.shift()
    if (value !== undefined) {
      this.#unreadBytes -= value.length
      return Promise.resolve({ done: false, value })
    }
    if (this.#failure !== null) return Promise.reject(this.#failure)
    if (this.#isOver) return Promise.resolve(ended)
    this.#limits.onWait()
    this.#resume()
    const waiter = Promise.withResolvers<BodyRead>()
    this.#read = waiter
    return waiter.promise
  }

  readAll(limitBytes: number): Promise<Uint8Array> {
    if (this.#failure !== null) return Promise.reject(this.#failure)
    const head = this.#head
    const isRefused = isRefusal(this.status)
    const statedBytes = Math.max(head?.contentLength ?? 0, this.#unreadBytes)
    if (!isRefused && statedBytes > limitBytes) {
      this.cancel()
      return Promise.reject(tooLarge(limitBytes))
    }
    if (!this.#isOver && this.#unreadBytes > limitBytes) {
      this.#connection?.drop()
      this.#close()
    }
    if (this.#isOver) return Promise.resolve(this.#takeWhole(limitBytes))
    this.#limits.onWait()
    const waiter = Promise.withResolvers<Uint8Array>()
    this.#whole = waiter
    this.#limitBytes = limitBytes
    this.#resume()
    return waiter.promise
  }

  #takeWhole(limitBytes: number): Uint8Array {
    const pieces = this.#pieces
    const [only] = pieces
    const bytes = pieces.length === 1 && only !== undefined ? only : Buffer.concat(pieces)
    this.#pieces = []
    this.#unreadBytes = 0
    return this.#toShown(bytes.length > limitBytes ? bytes.subarray(0, limitBytes) : bytes)
  }

  /** A refusal may repeat the credential. */
  #toShown(bytes: Uint8Array): Uint8Array {
    return this.status < 400 ? bytes : withoutSecrets(bytes, this.#target.credential)
  }

  #resume(): void {
    if (!this.#isPaused) return
    this.#isPaused = false
    this.#connection?.resume()
  }

  cancel(): void {
    this.#pieces = []
    this.#unreadBytes = 0
    if (this.#isOver) return
    this.#connection?.drop()
    this.#finish()
  }

  /** Ends the exchange for a reason of our own; what was not read is not given any more. */
  #giveUp(error: GatewayError): void {
    if (this.#isOver) return
    this.#pieces = []
    this.#unreadBytes = 0
    this.#connection?.drop()
    this.#fail(error)
  }

  #fail(error: GatewayError): void {
    this.#failure = error
    this.#close()
    this.#response?.reject(error)
    this.#read?.reject(error)
    this.#whole?.reject(error)
    this.#response = null
    this.#read = null
    this.#whole = null
  }

  #close(): void {
    this.#isOver = true
    this.#connection = null
    this.#limits.stop()
    hangUps.forget(this)
  }
}

/** Whether a body explains a failure: its beginning is enough then. */
function isRefusal(status: number): boolean {
  return status < 200 || status >= 300
}
