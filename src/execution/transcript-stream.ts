import { toGatewayError } from '../core/errors.ts'
import { newGenerationId } from '../core/ids.ts'
import {
  encodeTranscriptDelta,
  encodeTranscriptError,
  transcriptComment,
} from '../formats/transcription/transcript-events.ts'
import type { ExecutionDependencies } from './dependencies.ts'
import { operations } from './operations.ts'
import type { Outcome, RequestScope } from './scope.ts'
import type { StreamHandle } from './stream-watch.ts'
import type { ShowText, TranscriptionOutcome } from './transcription-call.ts'

/** A transcript that is made while its caller waits in a stream. */
export interface StreamedTranscript {
  /** Makes it; what is sent upstream ends when the scope's signal does. Text that comes before the outcome is shown. */
  run: (scope: RequestScope, show: ShowText) => Promise<TranscriptionOutcome>
  /** The whole of the events, or what is left of them where the text has been shown. */
  encode: (outcome: TranscriptionOutcome, isTextShown: boolean) => Uint8Array
}

/**
 * A transcript as events. The head goes out with the outcome, or with the first text where the provider streams it, so that a failure is an ordinary error response; a wait
 * longer than `keepAliveMs` begins the stream with comments instead, and a failure then becomes an error event.
 */
export async function streamTranscript(
  { run, encode }: StreamedTranscript,
  scope: RequestScope,
  dependencies: ExecutionDependencies,
): Promise<Outcome> {
  const leaving = new AbortController()
  const own = { ...scope, signal: AbortSignal.any([scope.signal, leaving.signal]) }
  // The head has it, and may go out before anything is routed: while audio at an address is fetched.
  const generationId = newGenerationId(operations.transcription.generationPrefix, dependencies.clock.nowMs())
  scope.facts.generationId = generationId
  const texts = new ShownTexts()
  const opening = run(own, texts.add)
  const head = { generationId, contentType: 'text/event-stream' }
  const timely = await within(Promise.race([opening, texts.begun]), dependencies.streamWatch.keepAliveMs)
  if (timely !== null) {
    return { ...head, body: [encode(timely, false)], provider: timely.provider, ended: Promise.resolve() }
  }
  const stream = new WaitingStream(
    { opening, texts, encode, leave: () => leaving.abort() },
    scope,
    dependencies,
  )
  return { ...head, body: stream.body, provider: '', ended: stream.ended }
}

async function within<T>(work: Promise<T>, waitMs: number): Promise<T | null> {
  const { promise, resolve } = Promise.withResolvers<null>()
  const timer = setTimeout(() => resolve(null), waitMs)
  try {
    return await Promise.race([work, promise])
  } finally {
    clearTimeout(timer)
  }
}

/** Text that came before the outcome: kept until somebody takes it, from then on given at once. */
class ShownTexts {
  /** Resolves with null once there is some. */
  readonly begun: Promise<null>
  readonly #begin: (value: null) => void
  #waiting: string[] = []
  #take: ShowText | null = null
  isShown = false

  constructor() {
    const { promise, resolve } = Promise.withResolvers<null>()
    this.begun = promise
    this.#begin = resolve
  }

  readonly add: ShowText = (text) => {
    this.isShown = true
    this.#begin(null)
    if (this.#take) this.#take(text)
    else this.#waiting.push(text)
  }

  takeWith(take: ShowText): void {
    this.#take = take
    for (const text of this.#waiting.splice(0)) take(text)
  }
}

interface Waiting {
  opening: Promise<TranscriptionOutcome>
  texts: ShownTexts
  encode: StreamedTranscript['encode']
  leave: () => void
}

/** Comments until the transcript is there, or the caller has left, which ends the call at the provider. */
class WaitingStream {
  readonly body: ReadableStream<Uint8Array>
  readonly ended: Promise<void>
  readonly #waiting: Waiting
  readonly #scope: RequestScope
  readonly #watch: StreamHandle
  readonly #finish: () => void
  #writer: ReadableStreamDirectController | null = null
  #isOver = false

  constructor(waiting: Waiting, scope: RequestScope, { streamWatch }: ExecutionDependencies) {
    this.#waiting = waiting
    this.#scope = scope
    const { promise, resolve } = Promise.withResolvers<void>()
    this.ended = promise
    this.#finish = resolve
    // The call has a deadline of its own, which comes as its failure.
    const deadlineMs = Number.POSITIVE_INFINITY
    this.#watch = streamWatch.add({ onSilence: () => this.#showComment(), onDeadline: () => {}, deadlineMs })
    this.body = new ReadableStream<Uint8Array>({
      type: 'direct',
      pull: (writer) => this.#run(writer),
      cancel: () => this.#leave(),
    })
    // A caller can be gone before anybody pulls; then neither pull nor cancel is ever called, and nobody hears of a failure.
    waiting.opening.catch(() => undefined)
    if (scope.signal.aborted) this.#leave()
    else scope.signal.addEventListener('abort', this.#onAbort, { once: true })
  }

  readonly #onAbort = () => this.#leave()

  async #run(writer: ReadableStreamDirectController): Promise<void> {
    if (this.#isOver || this.#writer) return
    this.#writer = writer
    if (!this.#waiting.texts.isShown) this.#showComment()
    this.#waiting.texts.takeWith((text) => this.#write(encodeTranscriptDelta(text)))
    this.#end(await this.#lastBytes())
  }

  async #lastBytes(): Promise<Uint8Array> {
    try {
      const outcome = await this.#waiting.opening
      return this.#waiting.encode(outcome, this.#waiting.texts.isShown)
    } catch (thrown) {
      const error = toGatewayError(thrown)
      if (!this.#isOver) this.#scope.facts.errorType = error.type
      return encodeTranscriptError(error)
    }
  }

  #showComment(): void {
    this.#write(transcriptComment)
  }

  #write(piece: Uint8Array | string): void {
    if (this.#isOver || !this.#writer) return
    this.#watch.touch()
    void this.#writer.write(piece)
    void this.#writer.flush()
  }

  #leave(): void {
    if (this.#isOver) return
    this.#scope.facts.isCancelled = true
    this.#waiting.leave()
    this.#close()
  }

  #end(bytes: Uint8Array): void {
    if (this.#isOver) return
    void this.#writer?.write(bytes)
    this.#writer?.close()
    this.#close()
  }

  #close(): void {
    this.#isOver = true
    this.#scope.signal.removeEventListener('abort', this.#onAbort)
    this.#watch.stop()
    this.#finish()
  }
}
