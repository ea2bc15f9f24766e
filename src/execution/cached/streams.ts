import type { Outcome } from '../call/scope.ts'

/** Bytes that a kept stream gives at once; the rest waits while the caller does not read. */
const replayedBytesMax = 65_536

/**
 * The same stream, whose bytes are given to `keep` once it has ended by itself. A reader that leaves, a stream that breaks
 * off and one that is longer than `bytesMax` are not kept.
 */
export function watched(
  body: ReadableStream<Uint8Array>,
  bytesMax: number,
  keep: (bytes: Uint8Array) => void,
): ReadableStream<Uint8Array> {
  const reader = body.getReader()
  let pieces: Uint8Array[] | null = []
  let bytes = 0
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await reader.read()
        if (done) {
          if (pieces !== null) keep(Buffer.concat(pieces))
          controller.close()
          return
        }
        bytes += value.length
        if (bytes > bytesMax) pieces = null
        // The writer may use its memory again.
        pieces?.push(value.slice())
        controller.enqueue(value)
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  )
}

/** A kept stream for one caller. */
export function replayed(bytes: Uint8Array): Pick<Outcome, 'ended'> & { body: ReadableStream<Uint8Array> } {
  const { promise: ended, resolve } = Promise.withResolvers<void>()
  let offset = 0
  const body = new ReadableStream<Uint8Array>(
    {
      pull(controller) {
        const piece = bytes.subarray(offset, offset + replayedBytesMax)
        offset += piece.length
        controller.enqueue(piece)
        if (offset < bytes.length) return
        controller.close()
        resolve()
      },
      cancel: () => resolve(),
    },
    { highWaterMark: 0 },
  )
  return { body, ended }
}
