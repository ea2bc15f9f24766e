import { joinPieces, lengthOfPieces, type BodyPieces } from '../core/body.ts'
import { gatheredResponseBytes } from '../core/limits/http.ts'

/** Largest body sent as bytes: with its headers it fits into the 16 kB that the server writes in one system call. */
export const corkedResponseBytesMax = 12_000

/**
 * A body in the form that the server sends most cheaply. Bun 1.4 writes head and body of an awaited answer in one system
 * call only if both fit into 16 kB; otherwise every part of every header is a call of its own, some three dozen. A stream
 * that is written straight to the socket takes one call, or two beyond what is gathered first. Measured by tracing the
 * system calls.
 */
export function toResponseBody(
  pieces: BodyPieces,
): string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> {
  if (lengthOfPieces(pieces) > corkedResponseBytesMax) return writtenAtOnce(pieces)
  const [only] = pieces
  // Every body is made in this process, on ordinary memory.
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
