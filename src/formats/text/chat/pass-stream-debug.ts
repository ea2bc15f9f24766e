import { joinPieces, type BodyPiece } from '../../../core/body.ts'
import type { AnswerContext, ShownCharge, StreamRewriter } from '../../../canonical/upstream.ts'
import { writeDebug } from '../../debug-options.ts'
import { fromUtf8, toPiece } from '../../sse.ts'
import { WrappedStream } from '../streams/stream-passage.ts'

/**
 * A chat stream for a caller that asked for `debug`: the chunks that show the exchange come before the first chunk of
 * the answer.
 */
export function showDebugFirst(stream: StreamRewriter, context: AnswerContext): StreamRewriter {
  return context.debug === undefined ? stream : new DebuggedStream(stream, context)
}

class DebuggedStream extends WrappedStream {
  readonly #context: AnswerContext
  #isShown = false

  constructor(stream: StreamRewriter, context: AnswerContext) {
    super(stream)
    this.#context = context
  }

  /**
   * The debug chunks go out with the first chunk, not before it: until then another endpoint may answer, with another
   * request body.
   */
  override push(chunk: Uint8Array): BodyPiece | null {
    const piece = super.push(chunk)
    return piece === null || this.#isShown ? piece : joinPieces([this.#takeDebug(), piece])
  }

  override encodeEnding(charge: ShownCharge): Uint8Array {
    const ending = super.encodeEnding(charge)
    return this.#isShown ? ending : joinPieces([this.#takeDebug(), ending])
  }

  #takeDebug(): BodyPiece {
    this.#isShown = true
    const { generationId, created, model, provider, debug } = this.#context
    const identity = { id: generationId, object: 'chat.completion.chunk', created, model, provider }
    const chunks = (debug?.() ?? []).map((shown) => ({ ...identity, choices: [], debug: writeDebug(shown) }))
    return toPiece(fromUtf8(chunks.map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`).join('')))
  }
}
