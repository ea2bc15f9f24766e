import { Bag, type Placed } from '../../core/bag.ts'

/** A stream that wants to hear of its own silence and of its deadline. */
export interface WatchedStream {
  /** Called when nothing was shown for the watch's interval, or up to twice as long. */
  onSilence: () => void
  onDeadline: () => void
  /** Milliseconds from now. */
  deadlineMs: number
}

/** A watched stream's own handle. */
export interface StreamHandle {
  /** Something was shown; costs one assignment, because it is called for every chunk. */
  touch(): void
  stop(): void
}

interface Entry extends WatchedStream, Placed {
  deadlineAtMs: number
  isActive: boolean
}

/**
 * One timer for all streams, because a timer for each would cost more than the streams of a busy gateway do
 * themselves. Stops by itself when the last stream has ended.
 */
export class StreamWatch {
  readonly #entries = new Bag<Entry>()
  /** How long a stream may be silent before it shows a comment, in milliseconds. */
  readonly keepAliveMs: number
  #timer: ReturnType<typeof setInterval> | null = null

  constructor(keepAliveMs: number) {
    this.keepAliveMs = keepAliveMs
  }

  add(stream: WatchedStream): StreamHandle {
    const deadlineAtMs = performance.now() + stream.deadlineMs
    const entry: Entry = { ...stream, deadlineAtMs, isActive: true, place: -1 }
    this.#entries.add(entry)
    this.#timer ??= setInterval(() => this.#tick(), this.keepAliveMs)
    return {
      touch: () => {
        entry.isActive = true
      },
      stop: () => this.#remove(entry),
    }
  }

  #remove(entry: Entry): void {
    this.#entries.delete(entry)
    if (this.#entries.size > 0 || this.#timer === null) return
    clearInterval(this.#timer)
    this.#timer = null
  }

  #tick(): void {
    const nowMs = performance.now()
    for (const entry of this.#entries) {
      if (nowMs >= entry.deadlineAtMs) entry.onDeadline()
      else if (!entry.isActive) entry.onSilence()
      entry.isActive = false
    }
  }
}
