import type { Socket, SocketHandler } from 'bun'
import type { BodyPieces } from '../core/body.ts'
import { writePieces } from '../core/body.ts'
import { sharedBodyBytesMax } from '../core/limits/http.ts'
import { AnswerParser, type AnswerSink } from './answer-parser.ts'
import { slicesOf } from './fetch-body.ts'

/** The server at the other end of connections. Nothing about a connection depends on a credential. */
export interface Origin {
  hostname: string
  port: number
  isTls: boolean
  /** Connections without a request; the one that rested last is used first, so that the others grow old. */
  readonly resting: Connection[]
}

/** A request in its written form. */
export interface OutgoingRequest {
  /** With the empty line at its end; Latin-1. */
  head: string
  body: BodyPieces | null
  bodyBytes: number
}

/** The exchange that uses a connection. */
export interface Lessee extends AnswerSink {
  readonly request: OutgoingRequest
  /** It needs no connection any more. */
  readonly isOver: boolean
  onConnection(connection: Connection): void
  /** The answer has ended; the connection is no longer this exchange's. */
  onEnd(): void
  /** The connection is gone. */
  onBroken(thrown: unknown): void
}

/** The collection of connections that a connection belongs to. */
export interface ConnectionOwner {
  rest(connection: Connection): void
  forget(connection: Connection): void
}

/** Requests are put together here, and copied by the system while they are written. */
let shared = Buffer.alloc(0)

/**
 * One connection to an origin: sends one request at a time and gives the answer to its exchange. It is used again only
 * after an answer that has ended properly, with the request sent whole and not one byte too many received.
 */
export class Connection {
  readonly origin: Origin
  readonly #owner: ConnectionOwner
  readonly #parser = new AnswerParser()
  #socket: Socket<Connection> | null = null
  #lessee: Lessee | null = null
  #isGone = false
  #isPaused = false
  #requests = 0
  /** What the system has not taken yet of a request. */
  #unsent: Uint8Array | null = null
  #slices: Iterator<Uint8Array> | null = null
  /** When its rest began, by `performance.now()`, and how long it may last. */
  restsSinceMs = 0
  /** Seconds of rest that the server has stated; null when it has not. */
  statedRestSeconds: number | null = null

  constructor(origin: Origin, owner: ConnectionOwner) {
    this.origin = origin
    this.#owner = owner
  }

  get isGone(): boolean {
    return this.#isGone
  }

  /** The connection is open, and its certificate was checked. */
  onReady(socket: Socket<Connection>): void {
    this.#socket = socket
  }

  /** Sends the lessee's request. */
  begin(lessee: Lessee): void {
    const socket = this.#socket
    if (this.#isGone || socket === null) return lessee.onBroken(new ConnectionLost('closed'))
    this.#lessee = lessee
    this.#requests += 1
    this.#parser.begin(lessee)
    lessee.onConnection(this)
    if (this.#requests > 1) socket.ref()
    const { head, body, bodyBytes } = lessee.request
    const length = head.length + bodyBytes
    if (length > sharedBodyBytesMax) {
      this.#slices = slicesOf([Buffer.from(head, 'latin1'), ...(body ?? [])])
      return this.#sendMore(socket)
    }
    if (shared.length < length) shared = Buffer.allocUnsafeSlow(Math.min(sharedBodyBytesMax, length * 2))
    shared.write(head, 0, 'latin1')
    if (body !== null) writePieces(shared, body, head.length)
    const sent = Math.max(0, socket.write(shared, 0, length))
    if (sent < length) this.#unsent = Buffer.from(shared.subarray(sent, length))
  }

  #sendMore(socket: Socket<Connection>): void {
    for (;;) {
      if (this.#unsent === null) {
        const next = this.#slices?.next()
        if (next === undefined || next.done === true) {
          this.#slices = null
          return
        }
        this.#unsent = next.value
      }
      const sent = Math.max(0, socket.write(this.#unsent))
      if (sent < this.#unsent.length) {
        this.#unsent = this.#unsent.subarray(sent)
        return
      }
      this.#unsent = null
    }
  }

  /** Stops reading, so that the system and then the server wait. */
  pause(): void {
    if (this.#isPaused || this.#isGone) return
    this.#isPaused = true
    this.#socket?.pause()
  }

  resume(): void {
    if (!this.#isPaused || this.#isGone) return
    this.#isPaused = false
    this.#socket?.resume()
  }

  /** Closes the connection; its exchange hears nothing more. */
  drop(): void {
    if (this.#isGone) return
    this.#isGone = true
    this.#lessee = null
    this.#parser.stop()
    this.#slices = null
    this.#unsent = null
    this.#owner.forget(this)
    this.#socket?.terminate()
  }

  onData(bytes: Buffer): void {
    if (this.#isGone) return
    // Nobody asked for these bytes, so they belong to no answer, and the next one would be read wrongly.
    if (this.#lessee === null) return this.drop()
    try {
      const taken = this.#parser.feed(bytes)
      if (this.#parser.hasEnded) this.#finish(taken === bytes.length)
    } catch (thrown) {
      this.#break(thrown)
    }
  }

  onDrain(): void {
    if (!this.#isGone && this.#socket !== null) this.#sendMore(this.#socket)
  }

  /** The server has closed its side. */
  onPeerEnd(): void {
    if (this.#lessee !== null && this.#parser.close()) return this.#finish(false)
    this.#break(this.#lost('closed'))
  }

  /** The connection is closed, or broke. */
  onClosed(thrown: unknown): void {
    this.#break(thrown ?? this.#lost('closed'))
  }

  #lost(what: string): ConnectionLost {
    const isStale = this.#requests > 1 && this.#parser.isUntouched
    return new ConnectionLost(isStale ? `${what} while a request was sent on it again` : what)
  }

  #break(thrown: unknown): void {
    const lessee = this.#lessee
    this.drop()
    lessee?.onBroken(thrown)
  }

  #finish(isClean: boolean): void {
    const lessee = this.#lessee
    const { head } = this.#parser
    if (this.#isGone || lessee === null || head === null) return
    this.#lessee = null
    const isSent = this.#unsent === null && this.#slices === null
    if (isClean && isSent && head.keepsConnection) {
      this.statedRestSeconds = head.restSeconds
      this.#parser.stop()
      this.resume()
      this.#socket?.unref()
      this.#owner.rest(this)
    } else this.drop()
    lessee.onEnd()
  }
}

/** A connection was closed before its answer had ended. The code says when. */
export class ConnectionLost extends Error {
  readonly code: string

  constructor(code: string) {
    super(code)
    this.code = code
  }
}

/** What the runtime calls for every connection. */
export const connectionEvents = {
  data: ({ data }, bytes) => data.onData(bytes),
  drain: ({ data }) => data.onDrain(),
  end: ({ data }) => data.onPeerEnd(),
  close: ({ data }, thrown) => data.onClosed(thrown),
  error: ({ data }, thrown) => data.onClosed(thrown),
} satisfies SocketHandler<Connection>
