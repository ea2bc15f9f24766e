import { type Alarm, Alarms } from '../core/alarms.ts'
import { GatewayError } from '../core/errors.ts'
import { countedBodyBytesMin } from '../core/limits/http.ts'
import { wholeBodyBytesMax } from '../core/limits/text.ts'
import type { BodyMemory, HeldBody } from './body-memory.ts'

/**
 * How long a caller may pause inside a body, and how long a body that is read whole may take; long enough for slow
 * connections.
 */
const bodyIdleMs = 60_000
const bodyReadMs = 600_000
/** The step in which a body of unknown length takes memory. */
const bodyMemoryStepBytes = 1_000_000

/**
 * A request's body in memory, at most `bytesMax` bytes. The runtime reads a small body with a stated length in one
 * native step. A body without a length is counted as it arrives, so that an endless one is refused.
 */
export function readBody(
  request: Request,
  bytesMax: number,
  memory: BodyRoom | null = null,
): Promise<Uint8Array> {
  const refusal = refusedEncoding(request)
  if (refusal) return Promise.reject(refusal)
  const stated = request.headers.get('content-length')
  if (stated !== null && Number(stated) > bytesMax) return Promise.reject(tooLarge(bytesMax))
  // `request.body` is read only when needed, because it turns a body in one piece into a stream.
  const length = Number(stated)
  const taken = memory !== null && length >= countedBodyBytesMin ? memory.grow(length) : null
  if (taken !== null) return readOnce(taken, request, length)
  if (stated !== null) return readStated(request, length)
  if (request.body === null) return Promise.resolve(new Uint8Array(0))
  return collect(bodyOf(request), bytesMax, memory)
}

async function readOnce(taken: Promise<void>, request: Request, length: number): Promise<Uint8Array> {
  await taken
  return readStated(request, length)
}

/** The exchange whose body is read; when it is over, the memory is given back. */
export interface BodyHolder {
  readonly request: Request
  heldBody: HeldBody | null
}

/**
 * Does the same, but first takes memory for a large body from what all bodies share: `copies` times its size. Rejects with
 * `gateway_overloaded` when that is not available in time.
 */
export function readCountedBody(
  holder: BodyHolder,
  bytesMax: number,
  { bodyMemory, copies }: { bodyMemory: BodyMemory; copies: number },
): Promise<Uint8Array> {
  const { request } = holder
  const stated = request.headers.get('content-length')
  if (stated !== null && Number(stated) < countedBodyBytesMin) return readBody(request, bytesMax)
  return readBody(request, bytesMax, roomOf(holder, bodyMemory, copies))
}

function roomOf(holder: BodyHolder, bodyMemory: BodyMemory, copies: number): BodyRoom {
  const held = (holder.heldBody ??= bodyMemory.open(holder.request.signal))
  return { grow: (bytes) => held.grow(bytes * copies) }
}

/** The memory that a body takes its bytes from. */
interface BodyRoom {
  /** Null when the bytes are available at once. */
  grow(bytes: number): Promise<void> | null
}

function readStated(request: Request, length: number): Promise<Uint8Array> {
  if (length < wholeBodyBytesMax) return within(bodyReadMs, request.arrayBuffer(), asBuffer)
  return within(bodyReadMs, collectInto(Buffer.allocUnsafeSlow(length), request), asItIs)
}

/** A view; the runtime's own bytes would first have to be given a buffer, which takes longer. */
function asBuffer(memory: ArrayBuffer): Uint8Array {
  return Buffer.from(memory)
}

function asItIs<T>(value: T): T {
  return value
}

/**
 * A request's body as a stream, for bodies that are too large for memory. A caller that stops sending must not occupy a
 * place for ever: after `idleMs` without a byte the stream fails with `invalid_request`.
 */
export function bodyOf(request: Request, idleMs: number = bodyIdleMs): ReadableStream<Uint8Array> {
  if (request.body === null) return new Blob([]).stream()
  const reader = request.body.getReader()
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await within(idleMs, reader.read(), asItIs)
        if (done) controller.close()
        else controller.enqueue(value)
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  )
}

/** For all bodies that are being read. */
const alarms = new Alarms()

/** What one read has brought, or `invalid_request` when the body breaks off or takes too long. */
function within<T, Brought>(
  waitMs: number,
  read: Promise<T>,
  bring: (value: T) => Brought,
): Promise<Brought> {
  return new TimedRead(waitMs, read, bring).promise
}

/** Is its own alarm, to save objects. */
class TimedRead<T, Brought> implements Alarm {
  readonly promise: Promise<Brought>
  /** Among the alarms. */
  place = -1
  readonly dueAtMs: number
  readonly #waitMs: number
  readonly #bring: (value: T) => Brought
  readonly #resolve: (brought: Brought) => void
  readonly #reject: (error: GatewayError) => void

  constructor(waitMs: number, read: Promise<T>, bring: (value: T) => Brought) {
    const { promise, resolve, reject } = Promise.withResolvers<Brought>()
    this.promise = promise
    this.dueAtMs = performance.now() + waitMs
    this.#waitMs = waitMs
    this.#bring = bring
    this.#resolve = resolve
    this.#reject = reject
    alarms.add(this)
    // Not by `finally`, which costs two promises more.
    read.then(
      (value) => this.#onValue(value),
      (error: unknown) => this.#onError(error),
    )
  }

  onDue(): void {
    this.#reject(tooSlow(this.#waitMs))
  }

  #onValue(value: T): void {
    alarms.callOff(this)
    this.#resolve(this.#bring(value))
  }

  #onError(error: unknown): void {
    alarms.callOff(this)
    this.#reject(brokenOff(error))
  }
}

function tooSlow(waitMs: number): GatewayError {
  const seconds = Math.ceil(waitMs / 1000)
  return new GatewayError('invalid_request', `No more of the request body came within ${seconds} s.`)
}

function brokenOff(error: unknown): GatewayError {
  if (error instanceof GatewayError) return error
  return new GatewayError('invalid_request', 'The request body could not be read to its end.', {
    cause: error,
  })
}

/** A large body is copied chunk by chunk: the runtime would copy all of it at once at its end. */
async function collectInto(target: Buffer, request: Request): Promise<Uint8Array> {
  let size = 0
  for await (const chunk of bodyOf(request)) {
    target.set(chunk, size)
    size += chunk.byteLength
  }
  return target.subarray(0, size)
}

async function collect(
  body: ReadableStream<Uint8Array>,
  bytesMax: number,
  memory: BodyRoom | null,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = []
  let size = 0
  let counted = countedBodyBytesMin
  try {
    for await (const chunk of body) {
      size += chunk.byteLength
      if (size > bytesMax) throw tooLarge(bytesMax)
      if (memory !== null && size > counted) {
        const more = Math.max(bodyMemoryStepBytes, size - counted)
        counted += more
        await memory.grow(more)
      }
      chunks.push(chunk)
    }
  } catch (error) {
    throw brokenOff(error)
  }
  return Buffer.concat(chunks, size)
}

/** Why a compressed body is refused, or null. Without this it would look like bad JSON. */
export function refusedEncoding(request: Request): GatewayError | null {
  const encoding = request.headers.get('content-encoding')
  if (encoding === null || encoding.toLowerCase() === 'identity') return null
  return new GatewayError(
    'invalid_request',
    `Content-Encoding: a body in ${JSON.stringify(encoding.slice(0, 40))} is read by POST /batches only; send this one as it is.`,
    { param: 'content-encoding' },
  )
}

function tooLarge(bytesMax: number): GatewayError {
  return new GatewayError(
    'payload_too_large',
    `The request body is larger than ${bytesMax} bytes; send less.`,
  )
}

/** Refuses a body whose content type is not JSON, before it is parsed; `or` names other types that are accepted. */
export function requireJson(request: Request, or = ''): void {
  const type = request.headers.get('content-type')
  if (type !== null && /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i.test(type)) return
  const got = type === null ? 'none was sent' : 'another was sent'
  throw new GatewayError('invalid_request', `Content-Type must be application/json${or}; ${got}.`, {
    param: 'content-type',
  })
}
