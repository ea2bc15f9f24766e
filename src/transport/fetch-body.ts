import { joinPieces, lengthOfPieces, writePieces, type BodyPiece, type BodyPieces } from '../core/body.ts'
import type { StreamedBody } from '../canonical/upstream.ts'
import { bodySliceBytes, sharedBodyBytesMax } from '../core/limits/http.ts'

/**
 * A large body as it is read, because to copy it in one go would stall everybody: `fetch` copies what it is given. Its
 * pieces are handed over in slices of the caller's own bytes.
 */
export function streamPieces(pieces: BodyPieces): StreamedBody {
  return {
    contentLength: lengthOfPieces(pieces),
    open() {
      const slices = slicesOf(pieces)
      return new ReadableStream<Uint8Array>(
        {
          pull(controller) {
            const { done, value } = slices.next()
            if (done) controller.close()
            else controller.enqueue(value)
          },
        },
        { highWaterMark: 0 },
      )
    },
  }
}

/** Small pieces together, because each costs a turn, and large ones in parts. */
function* slicesOf(pieces: BodyPieces): Generator<Uint8Array, undefined> {
  let small: BodyPiece[] = []
  let length = 0
  for (const piece of pieces) {
    if (length > 0 && length + piece.length > bodySliceBytes) {
      yield joinPieces(small)
      small = []
      length = 0
    }
    if (piece.length <= bodySliceBytes) {
      small.push(piece)
      length += piece.length
      continue
    }
    const bytes = typeof piece === 'string' ? Buffer.from(piece) : piece
    for (let start = 0; start < bytes.length; start += bodySliceBytes)
      yield bytes.subarray(start, start + bodySliceBytes)
  }
  if (length > 0) yield joinPieces(small)
  return undefined
}

/** One memory for all bodies: fresh memory for each costs more than writing it, and has to be collected again. */
export class FetchBodies {
  #shared = Buffer.alloc(0)

  /**
   * A body as `fetch` takes it; null for one that is too large for it and is to be streamed. It must be handed to `fetch`
   * at once, before anything else runs: the next body is written over it. By its standard `fetch` copies what it is given before it returns, and a test holds it to that.
   */
  take(pieces: BodyPieces): Uint8Array<ArrayBuffer> | null {
    const length = lengthOfPieces(pieces)
    if (length > sharedBodyBytesMax) return null
    if (this.#shared.length < length)
      this.#shared = Buffer.allocUnsafeSlow(Math.min(sharedBodyBytesMax, length * 2))
    writePieces(this.#shared, pieces)
    return this.#shared.subarray(0, length)
  }
}
