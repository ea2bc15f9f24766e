import type { IncomingMessage } from 'node:http'
import { ApiError } from './errors.ts'
import { jsonBodyBytesMax } from './limits.ts'
import { boundaryOf, type MultipartForm, readMultipart } from './multipart.ts'

/** A request body as it was read: a form, or text. */
export interface ReadBody {
  form: MultipartForm | null
  /** The body as text; of a form, its fields and files described as JSON. */
  text: string
  bytes: number
}

/** Reads a body within its bound. Throws `ApiError` 413 or 400, and the socket's own error when the caller leaves. */
export async function readBody(request: IncomingMessage, uploadBytesMax: number): Promise<ReadBody> {
  const boundary = boundaryOf(request.headers['content-type'])
  if (boundary === null) return readText(request)
  // The connection outlives a refusal, so that a caller who is still writing can read it.
  const form = await readMultipart(request.iterator({ destroyOnReturn: false }), boundary, uploadBytesMax)
  const files = form.files.map(({ name, fileName, contentType, bytes }) => ({
    name,
    file_name: fileName,
    content_type: contentType,
    bytes,
  }))
  return { form, text: JSON.stringify({ fields: form.fields, files }), bytes: form.bytes }
}

function readText(request: IncomingMessage): Promise<ReadBody> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let bytes = 0
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes <= jsonBodyBytesMax) chunks.push(chunk)
      else
        reject(
          new ApiError({
            status: 413,
            message: `The request body is larger than ${jsonBodyBytesMax} bytes.`,
          }),
        )
    })
    request.on('end', () => resolve({ form: null, text: Buffer.concat(chunks).toString('utf8'), bytes }))
    request.on('error', reject)
    request.on('close', () => reject(new Error('The caller left before the body was complete.')))
  })
}
