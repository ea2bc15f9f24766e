import type { ServerWebSocket } from 'bun'
import { Alarms } from '../../core/alarms.ts'
import { GatewayError, toGatewayError } from '../../core/errors.ts'
import { liveBodyBytesMax } from '../../core/limits/http.ts'
import type { SocketTurn, SocketTurns } from '../../formats/text/socket-format.ts'
import { leanOf } from '../../json/set-aside-texts.ts'
import { recordOrEmpty } from '../../json/values.ts'
import type { AnswerHistory } from './answer-history.ts'

const minute = 60_000
/** How long a connection lasts, and how long it may rest between two turns. */
const usualTimes = { lifeMs: 60 * minute, restMs: 30 * minute }
/** Turns of a connection that run or wait, and lanes that run at once. */
const turnsMax = 32
const lanesMax = 8
/** What a slow client leaves unread before the provider is no longer read for it. */
export const unreadBytesMax = 262_144

/** Why a connection ends, as RFC 6455 and its registry number it. */
const closeCodes = {
  goingAway: 1001,
  notText: 1003,
  refused: 1008,
  failed: 1011,
  restart: 1012,
  tryLater: 1013,
} as const
const unauthenticated = 401

/** What a connection is given. */
export interface SocketOptions {
  turns: SocketTurns
  history: AnswerHistory
  /** Answers a turn as the same call over HTTP. */
  call: (body: Uint8Array, turn: SocketTurn, signal: AbortSignal) => Promise<Response>
  /** An error as a refusal of the same call. */
  refuse: (error: GatewayError) => Response
  onClosed: () => void
}

/** For the lives of all connections. */
const alarms = new Alarms()

/**
 * A client's WebSocket. Its messages are turns; each is a call like one over HTTP, and its answer's events go back as
 * messages. Turns of one lane run one after the other. A provider is read only as fast as the client reads.
 */
export class SocketConnection {
  readonly #options: SocketOptions
  readonly #times: typeof usualTimes
  readonly #end = new AbortController()
  readonly #lanes = new Map<string, Promise<void>>()
  #socket: ServerWebSocket<SocketConnection> | null = null
  #waiting = 0
  #waitingBytes = 0
  #isLeaving = false
  #isLifeOver = false
  #resting: ReturnType<Alarms['set']> | null = null
  #life: ReturnType<Alarms['set']> | null = null
  /** Messages are read one after the other, so that none overtakes a longer one. */
  #reading: Promise<unknown> = Promise.resolve()
  /** Resolves when the client has read more; null while nobody waits for that. */
  #drain: PromiseWithResolvers<void> | null = null

  constructor(options: SocketOptions, times: typeof usualTimes = usualTimes) {
    this.#options = options
    this.#times = times
  }

  opened(socket: ServerWebSocket<SocketConnection>): void {
    this.#socket = socket
    this.#life = alarms.set(this.#times.lifeMs, () => this.#endLife())
    this.#rest()
    if (this.#isLeaving) this.leave()
  }

  message(data: string | Uint8Array): void {
    if (typeof data !== 'string') return this.#close(closeCodes.notText, 'Send text messages.')
    if (this.#isLeaving || this.#isLifeOver || this.#end.signal.aborted) return
    if (this.#resting !== null) alarms.callOff(this.#resting)
    this.#waiting += 1
    this.#waitingBytes += data.length
    const isTooMuch = this.#waiting > turnsMax || (this.#waiting > 1 && this.#waitingBytes > liveBodyBytesMax)
    // Refusals that it does not read would gather here.
    if (isTooMuch && this.#waiting > 2 * turnsMax) this.#close(closeCodes.tryLater, 'Too many turns at once.')
    void (isTooMuch ? this.#refuseTurn(null) : this.#begin(data))
      .catch(() => this.#close(closeCodes.failed, 'The gateway failed.'))
      .finally(() => {
        this.#waiting -= 1
        this.#waitingBytes -= data.length
        if (this.#waiting === 0) this.#idle()
      })
  }

  drained(): void {
    this.#drain?.resolve()
    this.#drain = null
  }

  /** The connection is over, whoever ended it: what runs for it ends as when a caller hangs up. */
  closed(): void {
    this.#end.abort()
    this.drained()
    for (const alarm of [this.#life, this.#resting]) if (alarm !== null) alarms.callOff(alarm)
    this.#options.history.clear()
    this.#options.onClosed()
  }

  /** The process stops: at once where nothing runs, else after what runs. */
  leave(): void {
    this.#isLeaving = true
    if (this.#waiting === 0) this.#close(closeCodes.restart, 'The gateway is stopping. Connect again.')
  }

  #idle(): void {
    if (this.#end.signal.aborted) return
    if (this.#isLeaving) this.leave()
    else if (this.#isLifeOver) this.#endLife()
    else this.#rest()
  }

  #rest(): void {
    this.#resting = alarms.set(this.#times.restMs, () =>
      this.#close(closeCodes.goingAway, 'Nothing was sent for a while.'),
    )
  }

  #endLife(): void {
    this.#isLifeOver = true
    if (this.#waiting > 0) return
    this.#socket?.send(this.#options.turns.writeLifeOver(this.#times.lifeMs / minute))
    this.#close(closeCodes.goingAway, 'The connection has lasted as long as it may.')
  }

  #close(code: number, reason: string): void {
    this.#socket?.close(code, reason)
  }

  async #begin(text: string): Promise<void> {
    const reading = this.#reading.then(() => this.#read(text))
    this.#reading = reading
    const turn = await reading
    if (turn instanceof GatewayError)
      return this.#showRefusal(this.#options.refuse(turn), this.#options.turns.laneOf(text))
    const lane = turn.lane ?? ''
    const before = this.#lanes.get(lane)
    if (before === undefined && this.#lanes.size >= lanesMax) return this.#refuseTurn(turn.lane)
    const running = before === undefined ? this.#run(turn) : before.then(() => this.#run(turn))
    const ended = running.then(
      () => undefined,
      () => undefined,
    )
    this.#lanes.set(lane, ended)
    try {
      await running
    } finally {
      if (this.#lanes.get(lane) === ended) this.#lanes.delete(lane)
    }
  }

  async #read(text: string): Promise<SocketTurn | GatewayError> {
    const bytes = Buffer.from(text)
    try {
      return this.#options.turns.read(bytes, await leanOf(bytes))
    } catch (thrown) {
      return toGatewayError(thrown)
    }
  }

  async #run(turn: SocketTurn): Promise<void> {
    const { turns, history, call } = this.#options
    const { lane, previousId } = turn
    if (this.#end.signal.aborted) return
    const before = previousId === null ? [] : history.upTo(previousId)
    if (before === null) return void (await this.#send(turns.writeUnknownAnswer(previousId ?? '', lane)))
    const response = await call(turn.bodyAfter(before), turn, this.#end.signal)
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true
    if (!isStream || response.body === null) return this.#showRefusal(response, lane)
    const answered = await this.#showEvents(response.body, lane)
    if (answered === null) return
    // A compaction stands for all that was before it.
    if (answered.isWhole) history.add(answered, new Uint8Array(0), null)
    else history.add(answered, turn.items, previousId)
  }

  async #showEvents(body: ReadableStream<Uint8Array>, lane: string | null) {
    const events = this.#options.turns.createEvents(lane)
    const reader = body.getReader()
    try {
      for (;;) {
        const { done, value } = await reader.read()
        await this.#sendAll(done ? events.end() : events.push(value))
        if (this.#end.signal.aborted) return null
        if (done) return events.answered
      }
    } finally {
      // Ended already in the usual case; else the caller has left.
      await reader.cancel().catch(() => undefined)
    }
  }

  async #sendAll(messages: readonly string[]): Promise<void> {
    for (const message of messages) {
      // Lanes share the connection: what another one has left unread counts, or large events would not fit.
      const socket = this.#socket
      if (socket !== null && socket.getBufferedAmount() > unreadBytesMax) await this.#untilRead(socket)
      const waits = this.#send(message)
      if (waits !== null) await waits
    }
  }

  /** Sends one message; null when more may follow at once. */
  #send(message: string): Promise<void> | null {
    const socket = this.#socket
    if (socket === null || this.#end.signal.aborted) return null
    socket.send(message)
    if (socket.getBufferedAmount() <= unreadBytesMax) return null
    return this.#untilRead(socket)
  }

  async #untilRead(socket: ServerWebSocket<SocketConnection>): Promise<void> {
    while (!this.#end.signal.aborted && socket.getBufferedAmount() > unreadBytesMax) {
      this.#drain ??= Promise.withResolvers<void>()
      await this.#drain.promise
    }
  }

  /** An answer that is no stream: why the turn is not served. */
  async #showRefusal(response: Response, lane: string | null): Promise<void> {
    const { status, headers } = response
    const error = recordOrEmpty(await response.json())['error'] ?? null
    const shown = [...headers].filter(([name]) => name === 'retry-after' || name.startsWith('x-ratelimit-'))
    await this.#send(
      this.#options.turns.writeError({ status, error, headers: Object.fromEntries(shown), lane }),
    )
    // A client that connects again with the same key would be refused again.
    if (status === unauthenticated) this.#close(closeCodes.refused, 'The key is not accepted.')
  }

  #refuseTurn(lane: string | null): Promise<void> {
    return this.#showRefusal(this.#options.refuse(tooManyTurns()), lane)
  }
}

function tooManyTurns(): GatewayError {
  return new GatewayError(
    'rate_limit_exceeded',
    `A connection has at most ${turnsMax} turns that run or wait, in at most ${lanesMax} lanes. Wait for an answer first.`,
    { retryAfterSeconds: 1 },
  )
}
