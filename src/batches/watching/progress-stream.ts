import type { Batch } from '../../canonical/batch.ts'
import type { ProgressState, ProgressFeed, ProgressWatch } from './progress-feed.ts'

/** After so much silence a stream shows a comment, so that proxies keep the connection open. */
const progressPingEveryMs = 10_000
/** The longest stream. Its caller continues with the last id, and is authenticated anew. */
const progressStreamMsMax = 3_600_000
/** Milliseconds after which a client whose stream has ended before its batch asks again. */
const reconnectAfterMs = 2_000

/** A stream of server-sent events; `ended` resolves when nothing more can come of it. */
export interface ProgressStream {
  body: ReadableStream<Uint8Array>
  ended: Promise<void>
}

/** How a stream is opened. */
export interface ProgressWish {
  /** The last event that the caller has seen, as its `Last-Event-ID` names it. */
  lastEventId: string | null
  /** Aborts when the caller has left. */
  signal: AbortSignal
}

/** How often a silent stream shows a comment, and how long it lives; tests have shorter times. */
export interface ProgressTimes {
  pingEveryMs?: number
  streamMsMax?: number
}

/**
 * The progress of a batch as server-sent events: `status` and `progress` with the batch as it is, then `end`, after
 * which the stream closes. An event is a whole state, so a slow reader gets fewer events and nothing piles up, and a
 * caller who continues after an event is shown the present state unless it is the one of that event. Null when the
 * caller has seen the end already. Throws when no place is free.
 */
export async function openProgress(
  batch: Batch,
  wish: ProgressWish,
  feed: ProgressFeed,
  times: ProgressTimes = {},
): Promise<ProgressStream | null> {
  const known = await feed.read(batch)
  if (known.isEnded && known.id === wish.lastEventId) return null
  return new OpenProgress(feed.watch(batch, known), wish, feed.stopping, times)
}

class OpenProgress implements ProgressStream {
  readonly body: ReadableStream<Uint8Array>
  readonly ended: Promise<void>
  readonly #watch: ProgressWatch
  readonly #pingEveryMs: number
  readonly #close: () => void
  readonly #timer: ReturnType<typeof setTimeout>
  readonly #signals: readonly AbortSignal[]
  #shown: string | null
  #isOver = false
  #wake: () => void = () => undefined

  constructor(watch: ProgressWatch, wish: ProgressWish, stopping: AbortSignal, times: ProgressTimes) {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.ended = promise
    this.#close = resolve
    this.#watch = watch
    this.#shown = wish.lastEventId
    this.#pingEveryMs = times.pingEveryMs ?? progressPingEveryMs
    this.#timer = setTimeout(this.#end, times.streamMsMax ?? progressStreamMsMax)
    this.#timer.unref()
    this.#signals = [wish.signal, stopping]
    this.body = new ReadableStream<Uint8Array>({
      type: 'direct',
      pull: (writer) => this.#write(writer),
      cancel: () => this.#end(),
    })
    for (const signal of this.#signals) {
      if (signal.aborted) this.#end()
      else signal.addEventListener('abort', this.#end, { once: true })
    }
  }

  async #write(writer: ReadableStreamDirectController): Promise<void> {
    const stopListening = this.#watch.onChange(() => this.#wake())
    try {
      await this.#show(writer, `retry: ${reconnectAfterMs}\n\n`)
      while (!this.#isOver) {
        const { latest } = this.#watch
        if (latest === null) break
        if (latest.id === this.#shown) {
          await this.#waitOrPing(writer)
          continue
        }
        const frame = frameOf(latest, this.#shown)
        this.#shown = latest.id
        await this.#show(writer, frame)
        if (latest.isEnded) break
      }
    } finally {
      stopListening()
      this.#end()
      writer.close()
    }
  }

  /** While the caller does not read this waits, and states that pass meanwhile are left out. */
  async #show(writer: ReadableStreamDirectController, frame: string): Promise<void> {
    if (this.#isOver) return
    await writer.write(frame)
    await writer.flush()
  }

  /** Waits for a change, and shows a comment where none has come. */
  async #waitOrPing(writer: ReadableStreamDirectController): Promise<void> {
    if (!(await this.#isChanged())) await this.#show(writer, ': ping\n\n')
  }

  /** Waits for a change or the end, for as long as a stream may be silent. */
  async #isChanged(): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>()
    const timer = setTimeout(() => resolve(false), this.#pingEveryMs)
    timer.unref()
    this.#wake = () => resolve(true)
    const isChanged = await promise
    clearTimeout(timer)
    return isChanged
  }

  readonly #end = (): void => {
    if (this.#isOver) return
    this.#isOver = true
    clearTimeout(this.#timer)
    for (const signal of this.#signals) signal.removeEventListener('abort', this.#end)
    this.#watch.leave()
    this.#close()
    this.#wake()
  }
}

function frameOf({ id, object, isEnded }: ProgressState, shown: string | null): string {
  const change = shown?.startsWith(`${object.status}.`) === true ? 'progress' : 'status'
  const event = isEnded ? 'end' : change
  return `id: ${id}\nevent: ${event}\ndata: ${JSON.stringify(object)}\n\n`
}
