import type { IncomingMessage } from 'node:http'
import { ApiError } from './errors.ts'
import { jsonBodyBytesMax } from './limits.ts'
import { boundaryOf, type MultipartForm, readMultipart } from './multipart.ts'
import { createFolder, FileSpool, type UploadedFile } from './uploaded-file.ts'

/**
 * A request body that was read: a form, a file, or text. `dispose` removes its temporary files and must be called on
 * every exit.
 */
export interface ReadBody {
  form: MultipartForm | null
  /** The whole body, when it is neither a form nor JSON and the API accepts a file. */
  file: UploadedFile | null
  /** The body as text; of a form, its fields and files described as JSON; of a file, its description. */
  text: string
  bytes: number
  dispose(): Promise<void>
}

/** The bodies that the called API takes. */
export interface BodyRules {
  uploadBytesMax: number
  /** A body that is neither a form nor JSON is a file. */
  takesFiles: boolean
}

/** Reads a body within its bound. Throws `ApiError` 413 or 400, and the socket's own error when the caller leaves. */
export async function readBody(
  request: IncomingMessage,
  { uploadBytesMax, takesFiles }: BodyRules,
): Promise<ReadBody> {
  const contentType = request.headers['content-type']
  const boundary = boundaryOf(contentType)
  if (boundary === null) {
    const isFile = takesFiles && hasBody(request) && !/^application\/json\b/i.test(contentType ?? '')
    return isFile ? readFile(request, contentType ?? null, uploadBytesMax) : readText(request)
  }
  // The connection outlives a refusal, so that a caller who is still writing can read it.
  const form = await readMultipart(request.iterator({ destroyOnReturn: false }), boundary, uploadBytesMax)
  const text = JSON.stringify({ fields: form.fields, files: form.files.map(described) })
  return { form, file: null, text, bytes: form.bytes, dispose: form.dispose }
}

function hasBody({ method }: IncomingMessage): boolean {
  return method === 'POST' || method === 'PUT'
}

function described({ name, fileName, contentType, bytes }: UploadedFile) {
  return { name, file_name: fileName, content_type: contentType, bytes }
}

async function readFile(
  request: IncomingMessage,
  contentType: string | null,
  bytesMax: number,
): Promise<ReadBody> {
  const folder = createFolder()
  const spool = new FileSpool(folder)
  try {
    for await (const chunk of request.iterator({ destroyOnReturn: false })) {
      if (spool.bytes + chunk.length > bytesMax) {
        throw new ApiError({ status: 413, message: `The request body is larger than ${bytesMax} bytes.` })
      }
      await spool.write(chunk)
    }
  } catch (error) {
    await spool.close()
    await folder.remove()
    throw error
  }
  const file = await spool.finish({ name: '', fileName: '', contentType })
  const text = JSON.stringify({ file: { content_type: contentType, bytes: file.bytes } })
  return { form: null, file, text, bytes: file.bytes, dispose: () => folder.remove() }
}

const nothing = () => Promise.resolve()

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
    request.on('end', () => {
      const text = Buffer.concat(chunks).toString('utf8')
      resolve({ form: null, file: null, text, bytes, dispose: nothing })
    })
    request.on('error', reject)
    request.on('close', () => reject(new Error('The caller left before the body was complete.')))
  })
}
