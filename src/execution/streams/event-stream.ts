import type { BodyPiece, BodyPieces } from '../../core/body.ts'
import type { Call } from '../../canonical/call.ts'
import type { StreamRewriter } from '../../canonical/upstream.ts'
import { assert } from '../../core/assert.ts'
import { GatewayError, toGatewayError } from '../../core/errors.ts'
import { gatheredResponseBytes } from '../../core/limits/http.ts'
import type { StreamFrames } from '../../formats/text/halves.ts'
import type { CallState } from '../call/call-state.ts'
import { CallerRest } from '../settling/caller-rest.ts'
import { CallerStream, type Leaving } from './caller-stream.ts'
import type { BodyRead } from '../../transport/upstream-body.ts'
import { endAtTerminator, isWhole, type OpenedStream } from './opened-stream.ts'
import { operations } from '../operations.ts'
import type { Answered, Kind, Run } from '../call/call-hooks.ts'
import { endingOfBreak, settle, settleEarly } from '../settling/settle.ts'
import { within } from '../wait.ts'

/** Bytes that a stream rewrites at a time; the rest waits while the caller does not read. */
const rewrittenBytesMax = 65_536

type StreamRun = Run<Kind & { heard: OpenedStream }>
type Streamed = Answered<OpenedStream>

/** How long a whole answer waits for its capture, so that it can leave in one piece; after that its frames leave before their end. */
const wholeWaitMs = 25

/** An event stream for the caller, or all of its frames; `ended` resolves when nothing more can come of it. */
interface StreamedAnswer {
  body: ReadableStream<Uint8Array> | BodyPieces
  ended: Promise<void>
}

/**
 * The caller's event stream. Waits for the first bytes, so that a failure before them is an ordinary error response; a
 * wait longer than `keepAliveMs` begins the stream with comments instead, and a failure then becomes an error event.
 */
export async function streamBody(opening: Promise<Streamed>, run: StreamRun): Promise<StreamedAnswer> {
  const timely = await within(opening, run.dependencies.streamWatch.keepAliveMs)
  if (timely && isWhole(timely.value)) return wholeAnswer(timely, run)
  const stream = new EventStream(opening, run, timely)
  return { body: stream.body, ended: stream.ended }
}

/** An answer that is here to its end. */
async function wholeAnswer(answered: Streamed, run: StreamRun): Promise<StreamedAnswer> {
  const { first } = answered.value
  // When nothing is shown before the capture, a capture that fails is an ordinary error response too.
  if (first === null) return { body: [await chargedFrames(answered, run)], ended: Promise.resolve() }
  run.state.scope.facts.firstByteMs = answered.attempt.firstTokenMs
  const ending = chargedEnding(answered, run)
  const last = await within(ending, wholeWaitMs)
  if (last !== null) return { body: [first, last], ended: Promise.resolve() }
  return { body: beforeEnding(first, ending), ended: ending.then(() => undefined) }
}

/** Shows at once what may be shown before the capture; the rest follows the capture. */
function beforeEnding(first: BodyPiece, ending: Promise<Uint8Array>): ReadableStream<Uint8Array> {
  let isLeft = false
  return new ReadableStream<Uint8Array>(
    {
      type: 'direct',
      async pull(writer) {
        void writer.write(first)
        void writer.flush()
        const last = await ending
        if (isLeft) return
        void writer.write(last)
        void writer.end()
      },
      cancel() {
        isLeft = true
      },
    },
    { highWaterMark: gatheredResponseBytes },
  )
}

/** Captures, then returns the frames that complete the answer; an error event when the capture failed. */
async function chargedEnding(answered: Streamed, run: StreamRun): Promise<Uint8Array> {
  try {
    return await chargedFrames(answered, run)
  } catch (thrown) {
    const error = toGatewayError(thrown)
    run.state.scope.facts.errorType = error.type
    return answered.value.rewriter.encodeError(error)
  }
}

/** The frames that complete the answer, once its charge is durable. */
async function chargedFrames(answered: Streamed, run: StreamRun): Promise<Uint8Array> {
  const charge = await settle(run, answered, 'completed')
  assert(charge, 'a stream that is still shown is not settled')
  return answered.value.rewriter.encodeEnding(charge)
}

const bodyEnded: BodyRead = { done: true, value: undefined }

/** One stream on its way to one caller. Settles exactly once: at its end, when it breaks, or when the caller leaves. */
class EventStream {
  readonly body: ReadableStream<Uint8Array>
  readonly ended: Promise<void>
  readonly #opening: Promise<Streamed>
  readonly #run: StreamRun
  #answered: Streamed | null
  #writer: ReadableStreamDirectController | null = null
  /** The caller does not read: what was written last still lies in this process. */
  #isStalled = false
  readonly #rest: CallerRest
  readonly #stream: CallerStream

  constructor(opening: Promise<Streamed>, run: StreamRun, answered: Streamed | null) {
    this.#opening = opening
    this.#run = run
    this.#answered = answered
    const { state, dependencies } = run
    this.#rest = new CallerRest(dependencies.streamWatch.keepAliveMs)
    if (answered) this.#noteFirst(answered)
    this.#stream = new CallerStream(
      { signal: state.scope.signal, deadlineMs: state.remainingMs() },
      { onSilence: () => this.#showComment(), onLeave: (why) => void this.#leave(why) },
      dependencies,
    )
    this.ended = this.#stream.ended
    // Written straight to the socket: a stream with a queue in between costs several promises more for every chunk.
    this.body = new ReadableStream<Uint8Array>({
      type: 'direct',
      pull: (writer) => this.#pull(writer),
      cancel: () => this.#leave('caller'),
    })
    this.#stream.listen()
  }

  async #pull(writer: ReadableStreamDirectController): Promise<void> {
    if (this.#stream.isOver || this.#writer) return
    this.#writer = writer
    try {
      if (!this.#answered) void this.#show(framesOf(this.#run.state.call).keepAlive)
      const answered = this.#answered ?? (await this.#whenAnswered())
      await this.#pump(answered.value.rewriter, answered.value)
    } catch (error) {
      // A caller who left makes the upstream's read fail too; that is a hang-up, which is paid for, not a failure.
      if (this.#run.state.scope.signal.aborted) await this.#leave('caller')
      else await this.#fail(streamFailure(error), { isBroken: true })
    }
  }

  async #whenAnswered(): Promise<Streamed> {
    const answered = await this.#opening
    this.#answered = answered
    this.#noteFirst(answered)
    return answered
  }

  async #pump(rewriter: StreamRewriter, opened: OpenedStream): Promise<void> {
    const { first } = opened
    opened.first = null
    await this.#show(first)
    while (!opened.isEnded && !this.#stream.isOver && !rewriter.failure) {
      // Some providers keep the connection open for long after the last frame.
      if (rewriter.stage === 'terminated') {
        endAtTerminator(opened)
        break
      }
      let read: BodyRead
      try {
        read = await opened.reads.next()
      } catch (error) {
        if (!this.#wasWhole(opened)) throw error
        read = bodyEnded
      }
      if (this.#stream.isOver) return
      const { done, value } = read
      if (done) {
        rewriter.end()
        opened.isEnded = true
      } else if (value.byteLength <= rewrittenBytesMax) {
        const room = this.#show(rewriter.push(value))
        if (room) await room
      } else await this.#showInParts(rewriter, value)
    }
    if (this.#stream.isOver) return
    if (rewriter.failure) await this.#fail(rewriter.failure, { isBroken: opened.isEnded })
    else if (this.#answered) this.#end(await chargedEnding(this.#answered, this.#run))
  }

  /**
   * Whether the answer was complete when the connection broke: all of the requested choices have finished, and the
   * caller has not left.
   */
  #wasWhole({ reads }: OpenedStream): boolean {
    return reads.hasAllBeenSaid && !this.#run.state.scope.signal.aborted
  }

  /**
   * A large piece is rewritten as the caller takes it, so that a caller who does not read holds it in memory once, not
   * three times.
   */
  async #showInParts(rewriter: StreamRewriter, value: Uint8Array): Promise<void> {
    for (let start = 0; start < value.byteLength && !this.#stream.isOver && !rewriter.failure;) {
      const end = start + rewrittenBytesMax
      await this.#show(rewriter.push(value.subarray(start, end)))
      start = end
    }
  }

  /** The provider broke off: the caller is told inside the stream. */
  async #fail(error: GatewayError, { isBroken }: { isBroken: boolean }): Promise<void> {
    if (this.#stream.isOver) return
    const { state } = this.#run
    state.scope.facts.errorType = error.type
    const answered = this.#answered
    if (!answered) {
      this.#run.callHold.release()
      return this.#end(errorFrame(error, state))
    }
    const { rewriter } = answered.value
    const ending = endingOfBreak(error, this.#rest, isBroken)
    if (ending === 'cancelled') return this.#leave('stall', rewriter.encodeError(error))
    answered.value.response.body.cancel()
    await settleEarly(this.#run, answered, ending)
    this.#noteBreak(error, answered)
    this.#end(rewriter.encodeError(error))
  }

  #noteBreak(error: GatewayError, { attempt, endpoint }: Streamed): void {
    const { row, call, state, dependencies } = this.#run
    attempt.errorType = error.type
    const failure = {
      error,
      retryElsewhere: true,
      retrySame: false,
      credentialFault: false,
      retryAfterMs: null,
    }
    const said = state.noteFailure(attempt, failure, () => row.wordsOf(call))
    dependencies.health.recordFailure(endpoint, failure, said)
  }

  /** The caller has left or kept the provider waiting, or time is up: the upstream is closed and what was streamed is paid for. */
  async #leave(why: Leaving | 'stall', last: Uint8Array | null = null): Promise<void> {
    if (!this.#stream.end()) return
    const { state, callHold } = this.#run
    const answered = this.#answered
    if (answered) {
      answered.value.response.body.cancel()
      await settleEarly(this.#run, answered, 'cancelled')
    } else {
      // No provider has answered yet: a late answer is closed, and nothing is charged.
      state.scope.facts.isCancelled = why === 'caller'
      callHold.release()
      this.#opening.then((late) => late.value.response.body.cancel()).catch(() => undefined)
    }
    if (last !== null) void this.#show(last)
    if (why === 'stall') this.#writer?.close()
    if (why === 'deadline' && answered) this.#writer?.close(new Error('deadline'))
    this.#stream.close()
  }

  #noteFirst(answered: Streamed): void {
    this.#run.state.scope.facts.firstByteMs = answered.attempt.firstTokenMs
  }

  /** A promise when the caller does not keep up: it settles when there is room again, or when the caller has left. */
  #show(piece: BodyPiece | null): Promise<void> | null {
    if (piece === null) return null
    this.#stream.touch()
    const written = this.#writer?.write(piece)
    return written instanceof Promise ? this.#whenRead(written) : null
  }

  async #whenRead(written: Promise<unknown>): Promise<void> {
    this.#isStalled = true
    this.#rest.begin()
    await written
    this.#rest.end()
    this.#isStalled = false
  }

  #showComment(): void {
    if (!this.#stream.isOver && !this.#isStalled) void this.#show(framesOf(this.#run.state.call).keepAlive)
  }

  #end(bytes: Uint8Array): void {
    if (!this.#stream.end()) return
    void this.#show(bytes)
    this.#writer?.close()
    this.#stream.close()
  }
}

/** Before a provider has answered there is no rewriter, so the operation writes the error. */
function errorFrame(error: GatewayError, state: CallState): Uint8Array {
  const { generationId, call } = state
  const created = Math.floor(state.createdAtMs / 1000)
  return encoder.encode(framesOf(call).writeError(error, { generationId, model: call.model, created }))
}

/** What a stream of this operation shows before any provider has answered. */
function framesOf({ operation }: Call): StreamFrames {
  const frames = operations[operation].text?.stream
  assert(frames, `${operation} is never streamed`)
  return frames
}

const encoder = new TextEncoder()

/** Why a stream that had begun cannot go on, as the caller may read it. */
function streamFailure(thrown: unknown): GatewayError {
  const error = toGatewayError(thrown)
  return error.type === 'internal'
    ? new GatewayError('provider_failed', 'The stream broke off.', { cause: thrown })
    : error
}
