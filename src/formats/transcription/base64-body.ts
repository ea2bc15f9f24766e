import type { StreamedBody } from '../../canonical/upstream.ts'
import { toBase64 } from '../../json/bytes.ts'

/** Sound that a JSON body carries as base64; its bytes are read again for every attempt. */
export interface EncodedFile {
  /** Encoded and sent before the file's own bytes, such as a WAV header; may be empty. */
  prefix: Uint8Array
  /** The size of the file without the prefix. */
  sizeBytes: number
  open(): ReadableStream<Uint8Array>
}

/**
 * A body of `head`, the file as base64, and `tail`, with an exact length. It is written while it is read, so memory
 * stays at one read of the file, whatever its length.
 */
export function encodeBase64Body(head: string, file: EncodedFile, tail: string): StreamedBody {
  const [begin, end] = [Buffer.from(head), Buffer.from(tail)]
  const encodedBytes = Math.ceil((file.prefix.length + file.sizeBytes) / 3) * 4
  return {
    contentLength: begin.length + encodedBytes + end.length,
    open: () => streamOf(begin, file, end),
  }
}

/** Cancelling the stream cancels the file's reader, which closes the file. */
function streamOf(head: Buffer, file: EncodedFile, tail: Buffer): ReadableStream<Uint8Array> {
  let reader: ReturnType<typeof readerOf> | null = null
  // Three bytes make four characters, so one or two left-over bytes wait for the next piece.
  let rest: Buffer = Buffer.from(file.prefix)
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        if (reader === null) {
          reader = readerOf(file)
          return controller.enqueue(head)
        }
        const { done, value } = await reader.read()
        if (done) {
          controller.enqueue(Buffer.concat([toBase64(rest), tail]))
          return controller.close()
        }
        const bytes = Buffer.concat([rest, value])
        const whole = bytes.length - (bytes.length % 3)
        rest = bytes.subarray(whole)
        // An empty chunk would only make the reader ask again.
        controller.enqueue(toBase64(bytes.subarray(0, whole)))
      },
      async cancel(reason) {
        await reader?.cancel(reason)
      },
    },
    { highWaterMark: 0 },
  )
}

function readerOf(file: EncodedFile) {
  return file.open().getReader()
}
