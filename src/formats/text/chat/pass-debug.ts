import { joinPieces, type BodyPiece } from '../../../core/body.ts'
import type {
  AnswerContext,
  MeterReading,
  ShownCharge,
  StreamRewriter,
  StreamStage,
} from '../../../canonical/upstream.ts'
import type { GatewayError } from '../../../core/errors.ts'
import { writeDebug } from '../../debug-options.ts'
import { fromUtf8, toPiece } from '../../sse.ts'

/** A chat stream for a caller who asked for `debug`: what is to be shown of the exchange comes in chunks before the first one. */
export function showDebugFirst(stream: StreamRewriter, context: AnswerContext): StreamRewriter {
  return context.debug === undefined ? stream : new DebuggedStream(stream, context)
}

class DebuggedStream implements StreamRewriter {
  readonly #stream: StreamRewriter
  readonly #context: AnswerContext
  #isShown = false

  constructor(stream: StreamRewriter, context: AnswerContext) {
    this.#stream = stream
    this.#context = context
  }

  get failure(): GatewayError | null {
    return this.#stream.failure
  }

  get hasShownOutput(): boolean {
    return this.#stream.hasShownOutput
  }

  get choicesFinished(): number {
    return this.#stream.choicesFinished
  }

  get stage(): StreamStage {
    return this.#stream.stage
  }

  /** With the first chunk and not before it: until then another endpoint may answer, and was sent another body. */
  push(chunk: Uint8Array): BodyPiece | null {
    const piece = this.#stream.push(chunk)
    return piece === null || this.#isShown ? piece : joinPieces([this.#takeDebug(), piece])
  }

  end(): void {
    this.#stream.end()
  }

  reading(): MeterReading {
    return this.#stream.reading()
  }

  encodeEnding(charge: ShownCharge): Uint8Array {
    const ending = this.#stream.encodeEnding(charge)
    return this.#isShown ? ending : joinPieces([this.#takeDebug(), ending])
  }

  encodeError(error: GatewayError): Uint8Array {
    return this.#stream.encodeError(error)
  }

  #takeDebug(): BodyPiece {
    this.#isShown = true
    const { generationId, created, model, provider, debug } = this.#context
    const identity = { id: generationId, object: 'chat.completion.chunk', created, model, provider }
    const chunks = (debug?.() ?? []).map((shown) => ({ ...identity, choices: [], debug: writeDebug(shown) }))
    return toPiece(fromUtf8(chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('')))
  }
}
