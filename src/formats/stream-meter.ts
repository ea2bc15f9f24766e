import type { FinishEvent, PartHead, ReportedUsage, TextEvent } from '../canonical/text/events.ts'
import type { MeterReading } from '../canonical/upstream.ts'

/** What the events of a stream come to, for the meter and for the end of the stream. */
export class StreamMeter {
  readonly finishes: FinishEvent[] = []
  usage: ReportedUsage | null = null
  readonly #reading = emptyReading()
  /** Choices of which something was told and whose end was not. */
  readonly #running = new Set<number>()

  read(event: TextEvent): void {
    switch (event.type) {
      case 'begin':
        this.#reading.upstreamId ??= event.upstreamId
        this.#reading.upstreamModel ??= event.upstreamModel
        return
      case 'usage':
        this.usage = event.usage
        return
      case 'finish':
        this.#running.delete(event.choice)
        this.finishes.push(event)
        // Without a word and without a reason there is no answer that anybody would pay for.
        if (event.native !== null || this.#reading.outputPieces > 0)
          this.#reading.finishReason ??= event.reason
        this.#reading.nativeFinishReason ??= event.native
        return
      case 'part_begin':
        this.#running.add(event.choice)
        if (event.head.type === 'tool_call') this.addPiece(Buffer.byteLength(event.head.name))
        else if (isWhole(event.head)) this.#reading.outputPieces += 1
        return
      case 'piece':
        if ('text' in event.piece) this.addPiece(Buffer.byteLength(event.piece.text))
        return
      case 'part_end':
      case 'failure':
    }
  }

  /** Usage stands there, and everything that was begun has ended. */
  get isAccounted(): boolean {
    return this.usage !== null && this.finishes.length > 0 && this.#running.size === 0
  }

  reading(): MeterReading {
    const { usage } = this
    return {
      ...this.#reading,
      usage: usage?.usage ?? null,
      source: usage ? 'provider' : 'estimated',
      mediaTokens: usage?.mediaTokens ?? null,
      serviceTier: usage?.serviceTier ?? null,
      reportedCostNanocredits: usage?.reportedCostNanocredits ?? null,
    }
  }

  /** A piece of so many bytes, which nobody read as an event. */
  addPiece(bytes: number): void {
    this.#reading.outputBytes += bytes
    this.#reading.outputPieces += 1
  }
}

/**
 * A part that comes whole counts as one piece, whatever its size: the bytes of a picture are not what a model was paid to
 * write, nor is what a search of the provider found.
 */
export function isWhole({ type }: PartHead): boolean {
  return type === 'image' || type === 'opaque'
}

/** Nothing counted yet. */
export function emptyReading(): MeterReading {
  return {
    usage: null,
    source: 'estimated',
    finishReason: null,
    nativeFinishReason: null,
    upstreamId: null,
    upstreamModel: null,
    mediaTokens: null,
    serviceTier: null,
    outputBytes: 0,
    outputPieces: 0,
    reportedCostNanocredits: null,
  }
}
