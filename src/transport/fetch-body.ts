import { joinPieces, lengthOfPieces, writePieces, type BodyPiece, type BodyPieces } from '../core/body.ts'
import type { StreamedBody } from '../canonical/upstream.ts'
import { bodySliceBytes, sharedBodyBytesMax } from '../core/limits/http.ts'

/**
 * A large body as a stream. `fetch` copies a whole body at once, and for a large one that would stall all other calls. The
 * slices are views of the caller's own bytes.
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

/** A body as slices. Joins small pieces, because each slice costs a turn of the event loop, and cuts large ones. */
export function* slicesOf(pieces: BodyPieces): Generator<Uint8Array, undefined> {
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

/** One buffer for all bodies: allocating one for each body costs more than filling it, and the garbage collector must free it. */
export class FetchBodies {
  #shared = Buffer.alloc(0)

  /**
   * A body for `fetch`; null when it is too large for the buffer and must be streamed. Pass it to `fetch` at once, before
   * anything else runs, because the next body overwrites it. By its standard `fetch` copies a body before it returns; a
   * test checks that it does.
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
