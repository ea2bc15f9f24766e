import type { BodyPiece } from '../canonical/body.ts'
import type { FinishEvent, ReportedUsage, TextEvent } from '../canonical/text/events.ts'
import type { MeterReading, ShownCharge, StreamRewriter } from '../canonical/upstream.ts'
import type { GatewayError } from '../core/errors.ts'
import type { StreamReader, StreamWriter } from './halves.ts'
import { fromUtf8, toBytes, toPiece } from './sse.ts'

/** A stream through two halves: read as events, written in the caller's format, and metered on the way. */
export class TranslatedStream implements StreamRewriter {
  failure: GatewayError | null = null
  isAccounted = false
  hasShownOutput = false
  readonly #reader: StreamReader
  readonly #writer: StreamWriter
  readonly #reading = emptyReading()
  readonly #finishes: FinishEvent[] = []
  /** Choices of which something was told and whose end was not. */
  readonly #running = new Set<number>()
  #usage: ReportedUsage | null = null
  #late = ''

  constructor(reader: StreamReader, writer: StreamWriter) {
    this.#reader = reader
    this.#writer = writer
  }

  get choicesFinished(): number {
    return this.#finishes.length
  }

  get isTerminated(): boolean {
    return this.#reader.isTerminated
  }

  push(chunk: Uint8Array): BodyPiece | null {
    if (this.failure) return null
    const shown = this.#take(this.#reader.push(chunk))
    return shown === '' ? null : toPiece(fromUtf8(shown))
  }

  end(): void {
    if (!this.failure) this.#late += this.#take(this.#reader.end())
  }

  encodeEnding(charge: ShownCharge): Uint8Array {
    const end = this.#writer.writeEnd({ finishes: this.#finishes, usage: this.#usage, charge })
    return toBytes(fromUtf8(`${this.#late}${end}`))
  }

  encodeError(error: GatewayError): Uint8Array {
    return toBytes(fromUtf8(this.#writer.writeError(error)))
  }

  reading(): MeterReading {
    const usage = this.#usage
    return {
      ...this.#reading,
      usage: usage?.usage ?? null,
      source: usage ? 'provider' : 'estimated',
      mediaTokens: usage?.mediaTokens ?? null,
      serviceTier: usage?.serviceTier ?? null,
      reportedCostNanocredits: usage?.reportedCostNanocredits ?? null,
    }
  }

  #take(events: readonly TextEvent[]): string {
    let shown = ''
    for (const event of events) {
      if (event.type === 'failure') {
        this.failure = event.error
        return shown
      }
      shown += this.#read(event)
    }
    this.isAccounted = this.#usage !== null && this.#finishes.length > 0 && this.#running.size === 0
    return shown
  }

  /** Ends and usage wait for the money; everything else is shown. */
  #read(event: TextEvent): string {
    switch (event.type) {
      case 'begin':
        this.#reading.upstreamId ??= event.upstreamId
        this.#reading.upstreamModel ??= event.upstreamModel
        return ''
      case 'usage':
        this.#usage = event.usage
        return ''
      case 'finish':
        this.#running.delete(event.choice)
        this.#finishes.push(event)
        this.#reading.finishReason ??= event.reason
        this.#reading.nativeFinishReason ??= event.native
        return ''
      case 'part_begin':
        this.#running.add(event.choice)
        if (event.head.type === 'tool_call') this.#count(event.head.name)
        return this.#show(event, event.head.type !== 'text')
      case 'piece':
        if ('text' in event.piece) this.#count(event.piece.text)
        return this.#show(event, true)
      default:
        return this.#show(event, false)
    }
  }

  #count(text: string): void {
    this.#reading.outputBytes += Buffer.byteLength(text)
    this.#reading.outputPieces += 1
  }

  #show(event: TextEvent, isOutput: boolean): string {
    const written = this.#writer.write(event)
    if (written !== '' && isOutput) this.hasShownOutput = true
    return written
  }
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
