import type { BodyPiece } from '../../../core/body.ts'
import type { Piece, ReportedUsage, TextEvent } from '../../../canonical/text/events.ts'
import type {
  MeterReading,
  PromisedOutput,
  ShownCharge,
  StreamRewriter,
  StreamStage,
} from '../../../canonical/upstream.ts'
import type { GatewayError } from '../../../core/errors.ts'
import type { Settled, StreamReader, StreamWriter } from '../halves.ts'
import { fromUtf8, toBytes, toPiece } from '../../sse.ts'
import { StreamCheck } from './stream-check.ts'
import { StreamMeter } from './stream-meter.ts'
import { toStreamFailure } from './stream-reader.ts'

/** Characters of one piece of translated text; some formats repeat it up to five times. */
const streamPieceLengthMax = 4_000_000

/**
 * Makes the end of an answer in the caller's format from the charge and the provider's usage; null when the provider
 * sent none.
 */
type Settle = (charge: ShownCharge, usage: ReportedUsage | null) => Settled

/** A stream that is translated: read as events, written in the caller's format, and metered on the way. */
export class TranslatedStream implements StreamRewriter {
  failure: GatewayError | null = null
  hasShownOutput = false
  readonly #reader: StreamReader
  readonly #writer: StreamWriter
  readonly #settle: Settle
  readonly #meter = new StreamMeter()
  /**
   * Whether output was written, including output that the end of the body completed and that has not been given out
   * yet.
   */
  #hasOutput = false
  readonly #check: StreamCheck | null
  #late = ''

  /** `promised` is the form that the text must have, when the provider was only told of it in the prompt. */
  constructor(reader: StreamReader, writer: StreamWriter, settle: Settle, promised?: PromisedOutput) {
    this.#reader = reader
    this.#writer = writer
    this.#settle = settle
    this.#check = promised === undefined ? null : new StreamCheck(promised)
  }

  get choicesFinished(): number {
    return this.#meter.finishes.length
  }

  get stage(): StreamStage {
    if (this.failure) return 'failed'
    if (this.#reader.isTerminated) return 'terminated'
    return this.#meter.isAccounted ? 'accounted' : 'running'
  }

  push(chunk: Uint8Array): BodyPiece | null {
    if (this.failure) return null
    const shown = this.#take(this.#reader.push(chunk))
    if (shown === '') return null
    this.hasShownOutput = this.#hasOutput
    return toPiece(fromUtf8(shown))
  }

  end(): void {
    if (!this.failure) this.#late += this.#take(this.#reader.end())
    if (!this.failure) this.failure = this.#check?.end() ?? null
  }

  encodeEnding(charge: ShownCharge): Uint8Array {
    const { finishes, usage } = this.#meter
    return toBytes(
      fromUtf8(`${this.#late}${this.#writer.writeEnd({ finishes, ...this.#settle(charge, usage) })}`),
    )
  }

  encodeError(error: GatewayError): Uint8Array {
    return toBytes(fromUtf8(this.#writer.writeError(error)))
  }

  reading(): MeterReading {
    return this.#meter.reading()
  }

  #take(events: readonly TextEvent[]): string {
    let shown = ''
    for (const event of events) {
      if (event.type === 'failure') {
        this.failure = event.error
        return shown
      }
      if (event.type === 'piece' && isTooLong(event.piece)) {
        this.failure = toStreamFailure(new RangeError('a piece of text is too long'))
        return shown
      }
      this.#meter.read(event)
      this.#check?.read(event)
      shown += this.#show(event)
    }
    return shown
  }

  /** Finish and usage events wait until the charge is captured; every other event is shown. */
  #show(event: TextEvent): string {
    if (event.type === 'usage' || event.type === 'finish') return ''
    const written = this.#writer.write(event)
    const isOutput = event.type === 'piece' || (event.type === 'part_begin' && event.head.type !== 'text')
    if (written !== '' && isOutput) this.#hasOutput = true
    return written
  }
}

function isTooLong(piece: Piece): boolean {
  return 'text' in piece && piece.text.length > streamPieceLengthMax
}
