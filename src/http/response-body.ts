import { joinPieces, lengthOfPieces, type BodyPieces } from '../canonical/body.ts'
import { corkedPieceBytes, corkedResponseBytesMax } from '../core/limits.ts'

/**
 * A body as the server sends it cheapest. Bun 1.4 writes head and body of an awaited answer in one system call only
 * while both fit into 16 kB; beyond that every part of every header goes out in a call of its own, two dozen of them. A
 * stream that begins with a small piece takes two calls whatever its size. Measured by tracing the system calls.
 */
export function toResponseBody(
  pieces: BodyPieces,
): string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> {
  if (lengthOfPieces(pieces) > corkedResponseBytesMax) return beginSmall(pieces)
  const [only] = pieces
  // Every body is made in this process, on ordinary memory.
  if (pieces.length === 1 && only !== undefined) return only as string | Uint8Array<ArrayBuffer>
  return joinPieces(pieces)
}

function beginSmall(pieces: BodyPieces): ReadableStream<Uint8Array> {
  const parts = cutFirst(pieces.map((piece) => (typeof piece === 'string' ? Buffer.from(piece) : piece)))
  let next = 0
  return new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const part = parts[next]
        next += 1
        if (part !== undefined) controller.enqueue(part)
        if (next >= parts.length) controller.close()
      },
    },
    { highWaterMark: 0 },
  )
}

/** The same bytes, the first piece of exactly the length that helps: a shorter one would wait for the next. */
function cutFirst(parts: readonly Uint8Array[]): Uint8Array[] {
  const first = Buffer.allocUnsafe(corkedPieceBytes)
  const rest: Uint8Array[] = []
  let filled = 0
  for (const part of parts) {
    const taken = Math.min(part.length, first.length - filled)
    if (taken > 0) first.set(part.subarray(0, taken), filled)
    filled += taken
    if (taken < part.length) rest.push(part.subarray(taken))
  }
  return [first, ...rest]
}
