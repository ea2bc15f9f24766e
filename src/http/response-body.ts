import { joinPieces, lengthOfPieces, type BodyPieces } from '../core/body.ts'
import { gatheredResponseBytes } from '../core/limits/http.ts'

/**
 * The largest body that is sent as bytes: with its headers it fits into the 16 kB that the server writes in one system
 * call.
 */
export const corkedResponseBytesMax = 12_000

/**
 * A body in the form that the server sends most cheaply. Bun 1.4 writes the head and body of an awaited answer in one
 * system call only if both fit into 16 kB; otherwise every part of every header is its own call, some three dozen. A
 * stream that is written straight to the socket takes one call, or two when it is larger than the gathered beginning.
 * Measured by tracing system calls.
 */
export function toResponseBody(
  pieces: BodyPieces,
): string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> {
  if (lengthOfPieces(pieces) > corkedResponseBytesMax) return writtenAtOnce(pieces)
  const [only] = pieces
  // This process makes every body itself, so none lies in shared memory.
  if (pieces.length === 1 && only !== undefined) return only as string | Uint8Array<ArrayBuffer>
  return joinPieces(pieces)
}

function writtenAtOnce(pieces: BodyPieces): ReadableStream<Uint8Array> {
  return new ReadableStream<Uint8Array>(
    {
      type: 'direct',
      pull(writer) {
        for (const piece of pieces) void writer.write(piece)
        void writer.end()
      },
    },
    { highWaterMark: gatheredResponseBytes },
  )
}
