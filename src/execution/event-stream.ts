import type { BodyPiece } from '../core/body.ts'
import type { Call } from '../canonical/call.ts'
import type { StreamRewriter } from '../canonical/upstream.ts'
import { assert } from '../core/assert.ts'
import { GatewayError, toGatewayError } from '../core/errors.ts'
import { rewrittenBytesMax } from '../core/limits/calls.ts'
import { gatheredResponseBytes } from '../core/limits/http.ts'
import type { StreamFrames } from '../formats/text/halves.ts'
import type { Answered } from './attempts.ts'
import { coveredCharge } from './covered-charge.ts'
import type { CallState } from './call-state.ts'
import { CallerRest } from './caller-rest.ts'
import type { BodyRead } from '../transport/upstream-body.ts'
import { endAtTerminator, isWhole, type OpenedStream } from './opened-stream.ts'
import { operations } from './operations.ts'
import type { ExecutionDependencies } from './dependencies.ts'
import type { Plan } from './prepare.ts'
import type { StreamHandle } from './stream-watch.ts'

/** What a caller's stream is made of. */
export interface EventStreamInput {
  /** Settles when an endpoint has shown the first bytes, or none could. */
  opening: Promise<Answered<OpenedStream>>
  plan: Pick<Plan<unknown>, 'settlement'>
  state: CallState
  dependencies: ExecutionDependencies
}

/** An event stream for the caller, and when nothing more can come of it. */
interface StreamedAnswer {
  body: ReadableStream<Uint8Array>
  ended: Promise<void>
}

/**
 * The caller's event stream. Waits for the first bytes, so that a failure before them is an ordinary error response; a
 * wait longer than `keepAliveMs` begins the stream with comments instead, and a failure then becomes an error event.
 */
export async function streamBody(input: EventStreamInput): Promise<StreamedAnswer> {
  const timely = await beforeKeepAlive(input.opening, input.dependencies.streamWatch.keepAliveMs)
  if (timely && isWhole(timely.value)) {
    // With nothing to show before the commit, a charge that cannot be kept is an ordinary error response too.
    const isNothingShown = timely.value.first === null
    const ending = isNothingShown
      ? Promise.resolve(await charged(timely, input))
      : chargedEnding(timely, input)
    return completeAtOnce(timely, input, ending)
  }
  const stream = new EventStream(input, timely)
  return { body: stream.body, ended: stream.ended }
}

/** What may be shown before the commit is shown at once; the rest follows it. */
function completeAtOnce(
  answered: Answered<OpenedStream>,
  input: EventStreamInput,
  ending: Promise<Uint8Array>,
): StreamedAnswer {
  const { first } = answered.value
  input.state.scope.facts.firstByteMs = answered.attempt.firstTokenMs
  let isLeft = false
  const body = new ReadableStream<Uint8Array>(
    {
      type: 'direct',
      async pull(writer) {
        if (first !== null) {
          void writer.write(first)
          void writer.flush()
        }
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
  return { body, ended: ending.then(() => undefined) }
}

/** The money first, then the frames that make the answer whole; an error event when the charge could not be kept. */
async function chargedEnding(answered: Answered<OpenedStream>, input: EventStreamInput): Promise<Uint8Array> {
  try {
    return await charged(answered, input)
  } catch (thrown) {
    const error = toGatewayError(thrown)
    input.state.scope.facts.errorType = error.type
    return answered.value.rewriter.encodeError(error)
  }
}

/** The frames that make the answer whole, once its charge is durable. */
async function charged(
  answered: Answered<OpenedStream>,
  { state, plan }: EventStreamInput,
): Promise<Uint8Array> {
  const { rewriter } = answered.value
  answered.attempt.endedMs = state.elapsedMs()
  const covered = coveredCharge(state, plan.settlement, {
    attempt: answered.attempt,
    reading: rewriter.reading(),
    ending: 'completed',
  })
  const { row, shown } = covered instanceof Promise ? await covered : covered
  await plan.settlement.capture(row, rewriter.hasShownOutput ? 'part' : 'nothing')
  return rewriter.encodeEnding(shown)
}

async function beforeKeepAlive(
  opening: Promise<Answered<OpenedStream>>,
  keepAliveMs: number,
): Promise<Answered<OpenedStream> | null> {
  const { promise, resolve } = Promise.withResolvers<null>()
  const timer = setTimeout(() => resolve(null), keepAliveMs)
  try {
    return await Promise.race([opening, promise])
  } finally {
    clearTimeout(timer)
  }
}

const bodyEnded: BodyRead = { done: true, value: undefined }

/** One stream on its way to one caller. Settles exactly once: at its end, when it breaks, or when the caller leaves. */
class EventStream {
  readonly body: ReadableStream<Uint8Array>
  readonly ended: Promise<void>
  readonly #input: EventStreamInput
  #answered: Answered<OpenedStream> | null
  #writer: ReadableStreamDirectController | null = null
  /** The caller does not read, and what was written last still lies here. */
  #isStalled = false
  readonly #rest: CallerRest
  #isOver = false
  readonly #finish: () => void
  readonly #watch: StreamHandle

  constructor(input: EventStreamInput, answered: Answered<OpenedStream> | null) {
    this.#input = input
    this.#answered = answered
    this.#rest = new CallerRest(input.dependencies.streamWatch.keepAliveMs)
    if (answered) this.#noteFirst(answered)
    const { promise, resolve } = Promise.withResolvers<void>()
    this.ended = promise
    this.#finish = resolve
    this.#watch = input.dependencies.streamWatch.add({
      onSilence: () => this.#showComment(),
      onDeadline: () => void this.#leave('deadline'),
      deadlineMs: input.state.remainingMs(),
    })
    // Written straight to the socket: a stream with a queue in between costs several promises more for every chunk.
    this.body = new ReadableStream<Uint8Array>({
      type: 'direct',
      pull: (writer) => this.#run(writer),
      cancel: () => this.#leave('caller'),
    })
    // A caller can be gone before anybody pulls; then neither pull nor cancel is ever called.
    const { signal } = input.state.scope
    if (signal.aborted) void this.#leave('caller')
    else signal.addEventListener('abort', this.#onAbort, { once: true })
  }

  readonly #onAbort = () => void this.#leave('caller')

  async #run(writer: ReadableStreamDirectController): Promise<void> {
    if (this.#isOver || this.#writer) return
    this.#writer = writer
    try {
      if (!this.#answered) void this.#show(framesOf(this.#input.state.call).keepAlive)
      const answered = this.#answered ?? (await this.#whenAnswered())
      await this.#pump(answered.value.rewriter, answered.value)
    } catch (error) {
      // A caller who left makes the upstream's read fail too; that is a hang-up, which is paid for, not a failure.
      if (this.#input.state.scope.signal.aborted) await this.#leave('caller')
      else await this.#fail(streamFailure(error), { isBroken: true })
    }
  }

  async #whenAnswered(): Promise<Answered<OpenedStream>> {
    const answered = await this.#input.opening
    this.#answered = answered
    this.#noteFirst(answered)
    return answered
  }

  async #pump(rewriter: StreamRewriter, opened: OpenedStream): Promise<void> {
    const { first } = opened
    opened.first = null
    await this.#show(first)
    while (!opened.isEnded && !this.#isOver && !rewriter.failure) {
      // Some providers keep the connection open for long after the last word.
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
      if (this.#isOver) return
      const { done, value } = read
      if (done) {
        rewriter.end()
        opened.isEnded = true
      } else if (value.byteLength <= rewrittenBytesMax) {
        const room = this.#show(rewriter.push(value))
        if (room) await room
      } else await this.#showInParts(rewriter, value)
    }
    if (this.#isOver) return
    if (rewriter.failure) await this.#fail(rewriter.failure, { isBroken: opened.isEnded })
    else if (this.#answered) this.#end(await chargedEnding(this.#answered, this.#input))
  }

  /** Whether only the connection broke and not the answer: others may still be at work where several were asked for. */
  #wasWhole({ reads }: OpenedStream): boolean {
    return reads.hasAllBeenSaid && !this.#input.state.scope.signal.aborted
  }

  /** A large piece is rewritten as the caller takes it, so that one who does not read holds it once and not thrice. */
  async #showInParts(rewriter: StreamRewriter, value: Uint8Array): Promise<void> {
    for (let start = 0; start < value.byteLength && !this.#isOver && !rewriter.failure;) {
      const end = start + rewrittenBytesMax
      await this.#show(rewriter.push(value.subarray(start, end)))
      start = end
    }
  }

  /**
   * The provider broke off: the caller is told inside the stream and pays nothing for a broken answer, unless it broke
   * because the caller took nothing. A whole answer in another form than the one asked for has been shown, and is paid.
   */
  async #fail(error: GatewayError, { isBroken }: { isBroken: boolean }): Promise<void> {
    if (this.#isOver) return
    const { state, plan, dependencies } = this.#input
    state.scope.facts.errorType = error.type
    const answered = this.#answered
    const isPaid = error.type === 'unfit_answer' || (isBroken && this.#rest.wasJustLong)
    if (answered && isPaid) return this.#leave('stall', answered.value.rewriter.encodeError(error))
    plan.settlement.release()
    if (answered) {
      answered.attempt.errorType = error.type
      answered.value.response.body.cancel()
      const failure = {
        error,
        retryElsewhere: true,
        retrySame: false,
        credentialFault: false,
        retryAfterMs: null,
      }
      dependencies.health.recordFailure(
        answered.endpoint,
        failure,
        state.noteFailure(answered.attempt, failure),
      )
    }
    this.#end(errorFrame(answered?.value.rewriter ?? null, error, state))
  }

  /** The caller has left or kept the provider waiting, or time is up: the upstream is closed and what was streamed is paid for. */
  async #leave(why: 'caller' | 'stall' | 'deadline', last: Uint8Array | null = null): Promise<void> {
    if (this.#isOver) return
    const { state, plan, dependencies } = this.#input
    const answered = this.#answered
    if (!answered) {
      // Nobody has answered yet: whoever still does is closed, and nothing is charged.
      this.#isOver = true
      state.scope.facts.isCancelled = why === 'caller'
      plan.settlement.release()
      this.#close()
      this.#input.opening.then((late) => late.value.response.body.cancel()).catch(() => undefined)
      return
    }
    this.#isOver = true
    answered.value.response.body.cancel()
    const { row } = await coveredCharge(state, plan.settlement, {
      attempt: answered.attempt,
      reading: answered.value.rewriter.reading(),
      ending: 'cancelled',
    })
    try {
      await plan.settlement.capture(row, 'part')
    } catch (error) {
      dependencies.warn('a capture after a hang-up is late', {
        generation_id: state.generationId,
        error: String(error),
      })
    }
    if (last !== null) void this.#show(last)
    if (why === 'stall') this.#writer?.close()
    if (why === 'deadline') this.#writer?.close(new Error('deadline'))
    this.#close()
  }

  #noteFirst(answered: Answered<OpenedStream>): void {
    this.#input.state.scope.facts.firstByteMs = answered.attempt.firstTokenMs
  }

  /** A promise when the caller does not keep up: it settles when there is room again, or nobody reads any more. */
  #show(piece: BodyPiece | null): Promise<void> | null {
    if (piece === null) return null
    this.#watch.touch()
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
    if (!this.#isOver && !this.#isStalled) void this.#show(framesOf(this.#input.state.call).keepAlive)
  }

  #end(bytes: Uint8Array): void {
    if (this.#isOver) return
    this.#isOver = true
    void this.#show(bytes)
    this.#writer?.close()
    this.#close()
  }

  #close(): void {
    this.#input.state.scope.signal.removeEventListener('abort', this.#onAbort)
    this.#watch.stop()
    this.#finish()
  }
}

/** Before anybody has answered no rewriter knows how an error looks; the operation does. */
function errorFrame(rewriter: StreamRewriter | null, error: GatewayError, state: CallState): Uint8Array {
  if (rewriter) return rewriter.encodeError(error)
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
