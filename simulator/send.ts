import type { ServerResponse } from 'node:http'
import type { Exchange } from './counters.ts'
import { distortBinary, distortBody, distortFrames } from './frame-faults.ts'
import type { Faults, WaitMs } from './faults.ts'
import { faultWaitMsMax } from './limits.ts'
import { fractionOf } from './random.ts'
import type { Reply } from './reply.ts'
import { wait, yieldTurn } from './wait.ts'

/** The parts needed to send one answer, besides the answer. */
export interface Sending {
  response: ServerResponse
  faults: Faults
  exchange: Exchange
  /** Aborted when the caller leaves or the simulator stops. */
  signal: AbortSignal
  /** Decides the random waits of this request. */
  key: string
}

/** Amazon's event streams. */
const binaryFrames = 'application/vnd.amazon.eventstream'

/** A wait of a fault, drawn within its range. */
export function drawnMs(range: WaitMs, key: string): number {
  return range.min + Math.floor((range.max - range.min + 1) * fractionOf(key))
}

/** Sends an answer with its faults, and ends the exchange unless the caller has left. */
export async function send(reply: Reply, headers: Record<string, string>, sending: Sending): Promise<void> {
  try {
    await sendReply(reply, headers, sending)
  } finally {
    await reply.dispose?.()
  }
}

async function sendReply(reply: Reply, headers: Record<string, string>, sending: Sending): Promise<void> {
  const { response, faults, exchange, signal } = sending
  const { body } = reply
  exchange.phase = 'body'
  const isPlain = typeof body === 'string' || body instanceof Uint8Array
  const plain = isPlain ? plainBytes(body, reply, faults) : null
  const contentType = faults.wrongContentType === true ? wrongType(reply) : reply.contentType
  response.writeHead(reply.status, {
    'content-type': contentType,
    ...(plain === null ? {} : { 'content-length': String(plain.length) }),
    ...headers,
    ...reply.headers,
  })
  const isSlow =
    faults.firstByte !== undefined ||
    faults.stallAfterChunks !== undefined ||
    faults.cutAfterChunks !== undefined
  if (plain !== null && !isSlow) {
    finish(sending, plain, reply.status)
    return
  }
  response.flushHeaders()
  if (faults.firstByte !== undefined) await wait(drawnMs(faults.firstByte, `first ${sending.key}`), signal)
  const sliced = plain === null ? { pieces: piecesOf(reply, faults), faults } : slicesOf(plain, faults)
  if (await sendPieces(sliced.pieces, { ...sending, faults: sliced.faults }))
    finish(sending, null, reply.status)
}

function plainBytes(body: string | Uint8Array, reply: Reply, faults: Faults): Buffer {
  if (typeof body === 'string') return Buffer.from(reply.status < 400 ? distortBody(body, faults) : body)
  return faults.emptyBody === true
    ? Buffer.alloc(0)
    : Buffer.from(body.buffer, body.byteOffset, body.byteLength)
}

function wrongType(reply: Reply): string {
  return reply.contentType.startsWith('text/event-stream') ? 'application/json' : 'text/plain; charset=utf-8'
}

/** In a plain body, faults count bytes: the bytes before the fault are one piece, and the fault follows it. */
function slicesOf(body: Buffer, faults: Faults): { pieces: Buffer[]; faults: Faults } {
  const at = faults.cutAfterChunks ?? faults.stallAfterChunks ?? 0
  if (at === 0) return { pieces: [body], faults }
  const after = faults.cutAfterChunks === undefined ? { stallAfterChunks: 1 } : { cutAfterChunks: 1 }
  return { pieces: [body.subarray(0, at), body.subarray(at)], faults: { ...faults, ...after } }
}

function piecesOf(
  { body, form, contentType }: Reply,
  faults: Faults,
): Iterable<string | Buffer> | AsyncIterable<Uint8Array> {
  if (typeof body === 'string' || body instanceof Uint8Array) return []
  if (Symbol.asyncIterator in body) {
    if (faults.emptyBody === true) return []
    return contentType === binaryFrames ? distortBinary(body, faults) : body
  }
  const frames = distortFrames(body, faults, form)
  return faults.splitBytes === undefined ? frames : resliced(frames, faults.splitBytes)
}

/** The same bytes in pieces of one size, which end in the middle of lines and of characters. */
function* resliced(frames: Iterable<string>, size: number): Generator<Buffer> {
  for (const whole of frames) {
    const bytes = Buffer.from(whole)
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
  }
}

/** Sends piece by piece; false when the stream was cut, stalled or left. */
async function sendPieces(
  pieces: Iterable<string | Buffer> | AsyncIterable<Uint8Array>,
  sending: Sending,
): Promise<boolean> {
  const { faults, signal, exchange } = sending
  let index = 0
  for await (const piece of pieces) {
    const isStalled = index === faults.stallAfterChunks
    if (isStalled) await wait(faultWaitMsMax, signal)
    if (isStalled || index === faults.cutAfterChunks) {
      cut(sending)
      return false
    }
    if (faults.chunkDelay !== undefined && index > 0) {
      await wait(drawnMs(faults.chunkDelay, `${index} ${sending.key}`), signal)
    }
    if (signal.aborted) return false
    exchange.sent(Buffer.byteLength(piece))
    await written(sending, piece)
    index++
  }
  if (faults.cutAfterChunks === undefined) return !signal.aborted
  cut(sending)
  return false
}

/** Writes one piece and waits until the socket wants more, so that a slow reader holds one piece, not the whole answer. */
async function written(sending: Sending, piece: string | Uint8Array): Promise<void> {
  const { response, signal } = sending
  if (response.write(piece)) return yieldTurn()
  await new Promise<void>((resolve) => {
    function done(): void {
      response.off('drain', done)
      signal.removeEventListener('abort', done)
      resolve()
    }
    response.on('drain', done)
    signal.addEventListener('abort', done)
  })
}

/**
 * Closes the connection in the middle of the answer; a connection that its caller has closed was counted
 * before.
 */
export function cut(sending: Sending): void {
  sending.exchange.end('cut')
  sending.response.socket?.destroy()
}

function finish(sending: Sending, last: Buffer | null, status: number): void {
  const { response, exchange } = sending
  if (last !== null) exchange.sent(last.length)
  exchange.end({ status })
  if (last === null) response.end()
  else response.end(last)
}
