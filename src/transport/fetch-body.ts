import { joinPieces, lengthOfPieces, writePieces, type BodyPieces } from '../canonical/body.ts'
import { sharedBodyBytesMax } from '../core/limits.ts'

/** One memory for all bodies: fresh memory for each costs more than writing it, and has to be collected again. */
export class FetchBodies {
  #shared = Buffer.alloc(0)

  /**
   * A body as `fetch` takes it. It must be handed to `fetch` at once, before anything else runs: the next body is
   * written over it. By its standard `fetch` copies what it is given before it returns, and a test holds it to that.
   */
  take(pieces: BodyPieces): Uint8Array<ArrayBuffer> {
    const length = lengthOfPieces(pieces)
    if (length > sharedBodyBytesMax) return joinPieces(pieces)
    if (this.#shared.length < length)
      this.#shared = Buffer.allocUnsafeSlow(Math.min(sharedBodyBytesMax, length * 2))
    writePieces(this.#shared, pieces)
    return this.#shared.subarray(0, length)
  }
}
