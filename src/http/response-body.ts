import { corkedPieceBytes, corkedResponseBytesMax } from '../core/limits.ts'

/**
 * A body as the server sends it cheapest. Bun 1.4 writes head and body of an awaited answer in one system call only
 * while both fit into 16 kB; beyond that every part of every header goes out in a call of its own, two dozen of them. A
 * stream that begins with a small piece takes two calls whatever its size. Measured by tracing the system calls.
 */
export function toResponseBody(bytes: Uint8Array): Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array> {
  // Every body is made in this process, on ordinary memory.
  if (bytes.byteLength <= corkedResponseBytesMax) return bytes as Uint8Array<ArrayBuffer>
  let isBegun = false
  return new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        if (!isBegun) {
          isBegun = true
          controller.enqueue(bytes.subarray(0, corkedPieceBytes))
          return
        }
        controller.enqueue(bytes.subarray(corkedPieceBytes))
        controller.close()
      },
    },
    { highWaterMark: 0 },
  )
}
