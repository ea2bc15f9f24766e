import type { StreamRewriter } from '../canonical/upstream.ts'
import { GatewayError, toGatewayError } from '../core/errors.ts'
import { corkedPieceBytes, readsAtOnceMax } from '../core/limits.ts'
import type { UpstreamResponse } from '../transport/http-client.ts'
import type { BodyRead } from '../transport/upstream-body.ts'
import type { Answered } from './attempts.ts'
import type { CallState } from './call-state.ts'
import type { ExecutionParts } from './parts.ts'
import type { Plan } from './prepare.ts'
import type { StreamHandle } from './stream-watch.ts'

/** A stream that has shown that it works: its rewriter, and the first bytes for the caller. */
export interface OpenedStream {
  rewriter: StreamRewriter
  response: UpstreamResponse
  first: Uint8Array | null
  /** The next read, when it was begun already. */
  reading: Promise<BodyRead> | null
  isEnded: boolean
}

/** What a caller's stream is made of. */
export interface EventStreamInput {
  /** Settles when an endpoint has shown the first bytes, or none could. */
  opening: Promise<Answered<OpenedStream>>
  plan: Plan
  state: CallState
  parts: ExecutionParts
}

const comment = new TextEncoder().encode(': HEADRACE PROCESSING\n\n')

/**
 * The caller's event stream. Waits for the first bytes, so that a failure before them is an ordinary error response; a
 * wait longer than `keepAliveMs` begins the stream with comments instead, and a failure then becomes an error event.
 */
export async function streamBody(
  input: EventStreamInput,
): Promise<{ body: ReadableStream<Uint8Array> | Uint8Array; ended: Promise<void> }> {
  const timely = await beforeKeepAlive(input.opening, input.parts.streamWatch.keepAliveMs)
  if (timely && (await isWholeAlready(timely.value))) {
    return { body: await completeAtOnce(timely, input), ended: Promise.resolve() }
  }
  const stream = new EventStream(input, timely)
  return { body: stream.body, ended: stream.ended }
}

/**
 * Whether the provider's whole answer lies here already, as short and cached ones do. Then it goes out in one piece,
 * which costs a third of what a stream of pieces costs and is over no later.
 */
async function isWholeAlready(opened: OpenedStream): Promise<boolean> {
  for (let reads = 0; reads < readsAtOnceMax && !opened.isEnded; reads += 1) {
    if (opened.rewriter.isTerminated) {
      endAtTerminator(opened)
      break
    }
    opened.reading ??= opened.response.body.read()
    const read = await Promise.race([opened.reading, nextTurn()])
    if (read === null) return false
    opened.reading = null
    if (read.done) {
      opened.rewriter.end()
      opened.isEnded = true
    } else opened.first = joined(opened.first, opened.rewriter.push(read.value))
    if (opened.rewriter.failure) return false
  }
  return opened.isEnded && opened.rewriter.isComplete && opened.rewriter.failure === null
}

/** Nothing that matters follows; the body is read to its end all the same, so that its connection can serve again. */
function endAtTerminator(opened: OpenedStream): void {
  opened.rewriter.end()
  opened.isEnded = true
  void readToEnd(opened)
}

async function readToEnd({ reading, response }: OpenedStream): Promise<void> {
  try {
    const { done } = await (reading ?? response.body.read())
    if (!done) response.body.cancel()
  } catch {
    response.body.cancel()
  }
}

function nextTurn(): Promise<null> {
  return new Promise((resolve) => setImmediate(() => resolve(null)))
}

function joined(left: Uint8Array | null, right: Uint8Array | null): Uint8Array | null {
  if (left === null || right === null) return left ?? right
  return Buffer.concat([left, right])
}

/** The money first, then everything. */
async function completeAtOnce(
  answered: Answered<OpenedStream>,
  input: EventStreamInput,
): Promise<Uint8Array> {
  const { state, plan } = input
  const { first, rewriter } = answered.value
  state.scope.facts.firstByteMs = answered.attempt.firstTokenMs
  answered.attempt.endedMs = state.elapsedMs()
  const { row, shown } = state.charge(answered.attempt, rewriter.reading(), 'completed')
  await plan.settlement.capture(row)
  const ending = rewriter.encodeEnding(shown)
  return first === null ? ending : Buffer.concat([first, ending])
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

/** One stream on its way to one caller. Settles exactly once: at its end, when it breaks, or when the caller leaves. */
class EventStream {
  readonly body: ReadableStream<Uint8Array>
  readonly ended: Promise<void>
  readonly #input: EventStreamInput
  #answered: Answered<OpenedStream> | null
  #first: Uint8Array | null
  #controller: ReadableStreamDefaultController<Uint8Array> | null = null
  #isOver = false
  readonly #finish: () => void
  readonly #watch: StreamHandle

  constructor(input: EventStreamInput, answered: Answered<OpenedStream> | null) {
    this.#input = input
    this.#answered = answered
    this.#first = answered?.value.first ?? null
    if (answered) this.#noteFirst(answered)
    const { promise, resolve } = Promise.withResolvers<void>()
    this.ended = promise
    this.#finish = resolve
    this.#watch = input.parts.streamWatch.add({
      onSilence: () => this.#showComment(),
      onDeadline: () => void this.#leave('deadline'),
      deadlineMs: input.state.remainingMs(),
    })
    this.body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller
          if (!answered) controller.enqueue(comment)
        },
        pull: () => this.#pull(),
        cancel: () => this.#leave('caller'),
      },
      { highWaterMark: 0 },
    )
    // A caller can be gone before anybody pulls; then neither pull nor cancel is ever called.
    const { signal } = input.state.scope
    if (signal.aborted) void this.#leave('caller')
    else signal.addEventListener('abort', this.#onAbort, { once: true })
  }

  readonly #onAbort = () => void this.#leave('caller')

  async #pull(): Promise<void> {
    if (this.#isOver) return
    try {
      const opened = await this.#opened()
      if (this.#first) {
        // The server writes a small first piece together with the headers, and each header alone with a large one.
        this.#enqueue(this.#first.subarray(0, corkedPieceBytes))
        this.#first =
          this.#first.byteLength > corkedPieceBytes ? this.#first.subarray(corkedPieceBytes) : null
        return
      }
      await this.#pump(opened.value.rewriter, opened.value)
    } catch (error) {
      // A caller who left makes the upstream's read fail too; that is a hang-up, which is paid for, not a failure.
      if (this.#input.state.scope.signal.aborted) await this.#leave('caller')
      else await this.#fail(streamFailure(error))
    }
  }

  async #opened(): Promise<Answered<OpenedStream>> {
    if (this.#answered) return this.#answered
    const answered = await this.#input.opening
    this.#answered = answered
    this.#first = answered.value.first
    this.#noteFirst(answered)
    return answered
  }

  async #pump(rewriter: StreamRewriter, opened: OpenedStream): Promise<void> {
    while (!opened.isEnded && !this.#isOver) {
      const { done, value } = await (opened.reading ?? opened.response.body.read())
      opened.reading = null
      if (this.#isOver) return
      if (done) {
        rewriter.end()
        opened.isEnded = true
        break
      }
      const bytes = rewriter.push(value)
      if (bytes) this.#enqueue(bytes)
      if (rewriter.failure) return this.#fail(rewriter.failure)
      if (bytes) return
    }
    if (this.#isOver) return
    if (rewriter.failure) return this.#fail(rewriter.failure)
    await this.#complete(rewriter)
  }

  /** The money first, then the frames that make the answer whole. */
  async #complete(rewriter: StreamRewriter): Promise<void> {
    const answered = this.#answered
    if (!answered) return
    const { state, plan } = this.#input
    answered.attempt.endedMs = state.elapsedMs()
    const { row, shown } = state.charge(answered.attempt, rewriter.reading(), 'completed')
    try {
      await plan.settlement.capture(row)
    } catch (error) {
      this.#end(rewriter.encodeError(toGatewayError(error)))
      return
    }
    this.#end(rewriter.encodeEnding(shown))
  }

  /** The provider broke off: the caller is told inside the stream and pays nothing for a broken answer. */
  async #fail(error: GatewayError): Promise<void> {
    if (this.#isOver) return
    const { state, plan, parts } = this.#input
    state.scope.facts.errorType = error.type
    plan.settlement.release()
    const answered = this.#answered
    if (answered) {
      answered.attempt.errorType = error.type
      answered.value.response.body.cancel()
      parts.health.recordFailure(answered.endpoint, {
        error,
        retryElsewhere: true,
        retrySame: false,
        credentialFault: false,
        retryAfterMs: null,
      })
    }
    this.#end(errorFrame(answered?.value.rewriter ?? null, error, state))
  }

  /** The caller has left, or time is up: the upstream is closed and what was streamed is paid for. */
  async #leave(why: 'caller' | 'deadline'): Promise<void> {
    if (this.#isOver) return
    const { state, plan, parts } = this.#input
    const answered = this.#answered
    if (!answered) {
      // Nobody has answered yet: whoever still does is closed, and nothing is charged.
      this.#isOver = true
      plan.settlement.release()
      this.#close()
      this.#input.opening.then((late) => late.value.response.body.cancel()).catch(() => undefined)
      return
    }
    this.#isOver = true
    answered.value.response.body.cancel()
    const { row } = state.charge(answered.attempt, answered.value.rewriter.reading(), 'cancelled')
    try {
      await plan.settlement.capture(row)
    } catch (error) {
      parts.warn('a capture after a hang-up is late', {
        generation_id: state.generationId,
        error: String(error),
      })
    }
    if (why === 'deadline') this.#controller?.error(new Error('deadline'))
    this.#close()
  }

  #noteFirst(answered: Answered<OpenedStream>): void {
    this.#input.state.scope.facts.firstByteMs = answered.attempt.firstTokenMs
  }

  #enqueue(bytes: Uint8Array): void {
    this.#watch.touch()
    this.#controller?.enqueue(bytes)
  }

  #showComment(): void {
    if (!this.#isOver && (this.#controller?.desiredSize ?? -1) >= 0) this.#enqueue(comment)
  }

  #end(bytes: Uint8Array): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#enqueue(bytes)
    this.#controller?.close()
    this.#close()
  }

  #close(): void {
    this.#input.state.scope.signal.removeEventListener('abort', this.#onAbort)
    this.#watch.stop()
    this.#finish()
  }
}

// Nobody has answered yet, so no rewriter knows the shape of this stream; only chat completions stream today.
function errorFrame(rewriter: StreamRewriter | null, error: GatewayError, state: CallState): Uint8Array {
  if (rewriter) return rewriter.encodeError(error)
  const frame = {
    id: state.generationId,
    object: 'chat.completion.chunk',
    created: Math.floor(state.createdAtMs / 1000),
    model: state.call.model,
    choices: [{ index: 0, delta: { content: '' }, finish_reason: 'error' }],
    error: { code: error.status, message: error.message, metadata: { error_type: error.contractType } },
  }
  return new TextEncoder().encode(`data: ${JSON.stringify(frame)}\n\n`)
}

/** Why a stream that had begun cannot go on, as the caller may read it. */
function streamFailure(thrown: unknown): GatewayError {
  const error = toGatewayError(thrown)
  return error.type === 'internal'
    ? new GatewayError('provider_failed', 'The stream broke off.', { cause: thrown })
    : error
}
