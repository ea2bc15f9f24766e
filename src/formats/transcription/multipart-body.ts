import type { StreamedBody } from '../../canonical/upstream.ts'
import { randomText } from '../../core/ids.ts'

/** The file of a form; its bytes are read again for every attempt. */
export interface FormFile {
  name: string
  fileName: string
  contentType: string
  /** Sent before the file's own bytes, such as a WAV header; may be empty. */
  prefix: Uint8Array
  /** The size of the file without the prefix. */
  sizeBytes: number
  open(): ReadableStream<Uint8Array>
}

/** A form ready to send: its content type has the boundary that its body uses. */
export interface FormBody {
  contentType: string
  body: StreamedBody
}

/**
 * A multipart form with an exact length, written while it is read: a FormData would hold the file in memory. The
 * boundary is random, so that no caller can craft audio that ends its part.
 */
export function encodeForm(fields: readonly (readonly [string, string])[], file: FormFile | null): FormBody {
  const boundary = `headrace-${randomText(32)}`
  const head = Buffer.concat([...fields.map((field) => textPart(boundary, field)), fileHead(boundary, file)])
  const tail = Buffer.from(`${file ? '\r\n' : ''}--${boundary}--\r\n`)
  const body: StreamedBody = {
    contentLength: head.length + (file?.sizeBytes ?? 0) + tail.length,
    open: () => streamOf(head, file, tail),
  }
  return { contentType: `multipart/form-data; boundary=${boundary}`, body }
}

function textPart(boundary: string, [name, value]: readonly [string, string]): Buffer {
  return Buffer.from(
    `--${boundary}\r\nContent-Disposition: form-data; name="${escapeName(name)}"\r\n\r\n${value}\r\n`,
  )
}

function fileHead(boundary: string, file: FormFile | null): Buffer {
  if (file === null) return Buffer.alloc(0)
  const head = Buffer.from(
    `--${boundary}\r\nContent-Disposition: form-data; name="${escapeName(file.name)}"; filename="${escapeName(file.fileName)}"\r\n` +
      `Content-Type: ${file.contentType}\r\n\r\n`,
  )
  return Buffer.concat([head, file.prefix])
}

/** Escapes as browsers do, so that a name can neither end its quotes nor begin a header. */
function escapeName(name: string): string {
  return name.replace(/\r/g, '%0D').replace(/\n/g, '%0A').replace(/"/g, '%22')
}

/** Head, file and tail, each read on demand. Cancelling the stream cancels the file's reader, which closes the file. */
function streamOf(head: Uint8Array, file: FormFile | null, tail: Uint8Array): ReadableStream<Uint8Array> {
  let reader: ReturnType<typeof readerOf> | null = null
  let isHeadSent = false
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        if (!isHeadSent) {
          isHeadSent = true
          reader = file === null ? null : readerOf(file)
          return controller.enqueue(head)
        }
        const next = await reader?.read()
        if (next && !next.done) return controller.enqueue(next.value)
        controller.enqueue(tail)
        controller.close()
      },
      async cancel(reason) {
        await reader?.cancel(reason)
      },
    },
    { highWaterMark: 0 },
  )
}

function readerOf(file: FormFile) {
  return file.open().getReader()
}
