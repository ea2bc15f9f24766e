import type { StreamRewriter } from '../../canonical/upstream.ts'
import { Alarms } from '../../core/alarms.ts'
import { nextTurn } from '../../core/turns.ts'
import type { BodyRead, UpstreamBody } from '../../transport/upstream-body.ts'

/** How long a stream whose choices have all finished waits for its terminator, and how long for its usage. */
const streamEndWaitMs = 1_000
const streamUsageWaitMs = 5_000

/** What is read. */
export interface StreamSource {
  body: UpstreamBody
  rewriter: StreamRewriter
  /**
   * Choices that the caller asked for. The stream is not over before that many have finished, or usage says that no
   * more come.
   */
  choices: number
}

/** Shared by all streams, so that an ordinary stream sets no timer. */
const alarms = new Alarms()

const ended: BodyRead = { done: true, value: undefined }

/**
 * The reads of one provider's stream. Some providers neither send a terminator nor close their connection, and the
 * caller must not wait for a complete answer to end: after the last finish reason the stream waits only
 * `streamEndWaitMs`, or `streamUsageWaitMs` while the usage is still to come.
 */
export class StreamReads {
  readonly #source: StreamSource
  /** A read that was begun and not taken. */
  #begun: Promise<BodyRead> | null = null
  /** When the last of the output came, and how much it was then. */
  #saidAtMs = 0
  #saidBytes = -1
  #goesOn = false

  constructor(source: StreamSource) {
    this.#source = source
  }

  /**
   * Whether every choice has its finish reason: each one that was asked for, or each one that a provider of fewer has
   * given.
   */
  get hasAllBeenSaid(): boolean {
    const { rewriter, choices } = this.#source
    const { choicesFinished, stage } = rewriter
    return choicesFinished >= choices || stage === 'accounted' || stage === 'terminated'
  }

  /**
   * The next read, or the end when every choice has finished and nothing followed in time; rejects as the body does.
   */
  next(): Promise<BodyRead> {
    return this.hasAllBeenSaid ? this.#nextInTime() : this.#take()
  }

  /** The next read when it is here already; null when it is not. */
  async nextIfHere(): Promise<BodyRead | null> {
    this.#begun ??= this.#source.body.read()
    const read = await Promise.race([this.#begun, nextTurn()])
    if (read === undefined) return null
    this.#begun = null
    return read
  }

  /**
   * After the terminator nothing that matters follows; the body is read to its end all the same, so that its connection
   * can serve again.
   */
  async finish(): Promise<void> {
    const { body } = this.#source
    try {
      const { done } = await this.#take()
      if (!done) body.cancel()
    } catch {
      body.cancel()
    }
  }

  #take(): Promise<BodyRead> {
    const read = this.#begun ?? this.#source.body.read()
    this.#begun = null
    return read
  }

  async #nextInTime(): Promise<BodyRead> {
    const { body, rewriter } = this.#source
    const { usage, outputBytes } = rewriter.reading()
    // Some providers give a finish reason with every piece of output. The wait then begins again at each piece and is
    // the longer one, because no piece is certainly the last.
    if (outputBytes !== this.#saidBytes) {
      this.#goesOn = this.#saidBytes >= 0
      this.#saidBytes = outputBytes
      this.#saidAtMs = performance.now()
    }
    const waitMs = usage === null || this.#goesOn ? streamUsageWaitMs : streamEndWaitMs
    const { promise: late, resolve } = Promise.withResolvers<BodyRead>()
    const alarm = alarms.set(this.#saidAtMs + waitMs - performance.now(), () => resolve(ended))
    const read = await Promise.race([this.#take(), late]).finally(() => alarms.callOff(alarm))
    if (read === ended) body.cancel()
    return read
  }
}
