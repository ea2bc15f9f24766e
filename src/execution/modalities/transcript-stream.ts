import { toGatewayError } from '../../core/errors.ts'
import { newGenerationId } from '../../core/ids.ts'
import {
  encodeTranscriptDelta,
  encodeTranscriptError,
  transcriptComment,
} from '../../formats/transcription/transcript-events.ts'
import type { ExecutionDependencies } from '../dependencies.ts'
import { CallerStream } from '../streams/caller-stream.ts'
import { operations } from '../operations.ts'
import type { Outcome, RequestScope } from '../call/scope.ts'
import type { TranscriptionOutcome } from './transcription-call.ts'
import { within } from '../wait.ts'

/** A transcript that is made while its caller waits in a stream. */
export interface StreamedTranscript {
  /** Makes the transcript. The request to the provider ends when the scope's signal is aborted. */
  run: (scope: RequestScope) => Promise<TranscriptionOutcome>
  /** All events, or only those that follow the text where the text has been shown. */
  encode: (outcome: TranscriptionOutcome, isTextShown: boolean) => Uint8Array
}

/**
 * A transcript as events. The head goes out with the outcome, or with the first text where the provider streams it, so
 * that a failure before that is an ordinary error response. A wait longer than `keepAliveMs` begins the stream with
 * comments instead, and a failure then becomes an error event.
 */
export async function streamTranscript(
  { run, encode }: StreamedTranscript,
  scope: RequestScope,
  dependencies: ExecutionDependencies,
): Promise<Outcome> {
  const leaving = new AbortController()
  // The head carries the id, and may go out before routing, while the gateway fetches audio from an address.
  const generationId = newGenerationId(operations.transcription.generationPrefix, dependencies.clock.nowMs())
  scope.facts.generationId = generationId
  const texts = new ShownTexts()
  const signal = AbortSignal.any([scope.signal, leaving.signal])
  const opening = run({ ...scope, signal, showText: texts.add })
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

/** Text that came before the outcome: kept until `takeWith` names a receiver, then passed on at once. */
class ShownTexts {
  /** Resolves with null once there is text. */
  readonly begun: Promise<null>
  readonly #begin: (value: null) => void
  #waiting: string[] = []
  #take: ((text: string) => void) | null = null
  isShown = false

  constructor() {
    const { promise, resolve } = Promise.withResolvers<null>()
    this.begun = promise
    this.#begin = resolve
  }

  readonly add = (text: string) => {
    this.isShown = true
    this.#begin(null)
    if (this.#take) this.#take(text)
    else this.#waiting.push(text)
  }

  takeWith(take: (text: string) => void): void {
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

/**
 * Sends comments, and text that the provider streams, until the transcript is complete. A caller who leaves ends the
 * call at the provider.
 */
class WaitingStream {
  readonly body: ReadableStream<Uint8Array>
  readonly ended: Promise<void>
  readonly #waiting: Waiting
  readonly #scope: RequestScope
  readonly #stream: CallerStream
  #writer: ReadableStreamDirectController | null = null

  constructor(waiting: Waiting, scope: RequestScope, dependencies: ExecutionDependencies) {
    this.#waiting = waiting
    this.#scope = scope
    // The call keeps its own deadline, which arrives here as its failure.
    const deadlineMs = Number.POSITIVE_INFINITY
    const listener = { onSilence: () => this.#showComment(), onLeave: () => this.#leave() }
    this.#stream = new CallerStream({ signal: scope.signal, deadlineMs }, listener, dependencies)
    this.ended = this.#stream.ended
    this.body = new ReadableStream<Uint8Array>({
      type: 'direct',
      pull: (writer) => this.#run(writer),
      cancel: () => this.#leave(),
    })
    // When the stream is never pulled, nothing else handles the rejection.
    waiting.opening.catch(() => undefined)
    this.#stream.listen()
  }

  async #run(writer: ReadableStreamDirectController): Promise<void> {
    if (this.#stream.isOver || this.#writer) return
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
      if (!this.#stream.isOver) this.#scope.facts.errorType = error.type
      return encodeTranscriptError(error)
    }
  }

  #showComment(): void {
    this.#write(transcriptComment)
  }

  #write(piece: Uint8Array | string): void {
    if (this.#stream.isOver || !this.#writer) return
    this.#stream.touch()
    void this.#writer.write(piece)
    void this.#writer.flush()
  }

  /** Aborts the call's own signal, which makes the call settle. */
  #leave(): void {
    if (!this.#stream.end()) return
    this.#scope.facts.isCancelled = true
    this.#waiting.leave()
    this.#stream.close()
  }

  #end(bytes: Uint8Array): void {
    if (!this.#stream.end()) return
    void this.#writer?.write(bytes)
    this.#writer?.close()
    this.#stream.close()
  }
}
