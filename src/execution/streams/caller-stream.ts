import { hangUps, type Leavable } from '../../core/hang-ups.ts'
import type { ExecutionDependencies } from '../dependencies.ts'
import type { StreamHandle } from './stream-watch.ts'

/** Why a stream ends early: its caller has left, or the call's time is over. */
export type Leaving = 'caller' | 'deadline'

/** What the owner of a stream is told while the stream runs. */
export interface StreamListener {
  /** Nothing was shown for a while. */
  onSilence(): void
  onLeave(why: Leaving): void
}

/**
 * The life of one stream to one caller. It ends once: by the answer, a failure, the caller, or the clock. The code for
 * which `end` returns true settles the call, shows what is left to show, and closes.
 */
export class CallerStream implements Leavable {
  readonly signal: AbortSignal
  /** Among those whose callers may leave. */
  place = -1
  /** Resolves when the stream is closed: nothing more can come of it. */
  readonly ended: Promise<void>
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
    this.signal = signal
    this.#listener = listener
    this.#watch = streamWatch.add({
      onSilence: () => listener.onSilence(),
      onDeadline: () => listener.onLeave('deadline'),
      deadlineMs,
    })
  }

  /**
   * Begins to report a caller who leaves; at once where the caller has left already, since such a caller never pulls.
   */
  listen(): void {
    if (this.signal.aborted) this.onHangUp()
    else hangUps.watch(this)
  }

  onHangUp(): void {
    this.#listener.onLeave('caller')
  }

  get isOver(): boolean {
    return this.#isOver
  }

  /** Something was shown; called for every chunk. */
  touch(): void {
    this.#watch.touch()
  }

  /** True for the first call only, whose caller alone goes on. */
  end(): boolean {
    if (this.#isOver) return false
    this.#isOver = true
    hangUps.forget(this)
    this.#watch.stop()
    return true
  }

  close(): void {
    this.#finish()
  }
}
