import type { ExecutionDependencies } from '../dependencies.ts'
import type { StreamHandle } from './stream-watch.ts'

/** Why a stream ends before its end: its caller has left, or the call's time is over. */
export type Leaving = 'caller' | 'deadline'

/** What a stream hears while it runs. */
export interface StreamListener {
  /** Nothing was shown for a while. */
  onSilence(): void
  onLeave(why: Leaving): void
}

/**
 * The life of one stream to one caller, which ends once, whoever ends it: the answer, a failure, the caller, or the clock.
 * Whoever finds `end` true settles the call, shows what is left to show, and closes.
 */
export class CallerStream {
  /** Resolves when the stream is closed: nothing more can come of it. */
  readonly ended: Promise<void>
  readonly #signal: AbortSignal
  readonly #listener: StreamListener
  readonly #watch: StreamHandle
  readonly #finish: () => void
  #isOver = false

  constructor(
    { signal, deadlineMs }: { signal: AbortSignal; deadlineMs: number },
    listener: StreamListener,
    { streamWatch }: Pick<ExecutionDependencies, 'streamWatch'>,
  ) {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.ended = promise
    this.#finish = resolve
    this.#signal = signal
    this.#listener = listener
    this.#watch = streamWatch.add({
      onSilence: () => listener.onSilence(),
      onDeadline: () => listener.onLeave('deadline'),
      deadlineMs,
    })
  }

  /** Begins to hear of a caller who leaves; one who is gone already is heard of at once, and never pulls. */
  listen(): void {
    if (this.#signal.aborted) this.#listener.onLeave('caller')
    else this.#signal.addEventListener('abort', this.#onAbort, { once: true })
  }

  readonly #onAbort = () => this.#listener.onLeave('caller')

  get isOver(): boolean {
    return this.#isOver
  }

  /** Something was shown; called for every chunk. */
  touch(): void {
    this.#watch.touch()
  }

  /** True for the first who ends the stream, who alone goes on. */
  end(): boolean {
    if (this.#isOver) return false
    this.#isOver = true
    this.#signal.removeEventListener('abort', this.#onAbort)
    this.#watch.stop()
    return true
  }

  close(): void {
    this.#finish()
  }
}
