import { ApiError, invalidRequest } from './errors.ts'
import { multipartFieldBytesMax, multipartHeaderBytesMax, multipartPartsMax } from './limits.ts'
import { createFolder, FileSpool, type UploadedFile, type UploadFolder } from './uploaded-file.ts'

/** A parsed form. `dispose` removes its temporary files and must be called on every exit. */
export interface MultipartForm {
  fields: { name: string; value: string }[]
  files: UploadedFile[]
  /** The names of all parts in their order. */
  partNames: string[]
  /** All bytes of the body, framing included. */
  bytes: number
  dispose(): Promise<void>
}

/** The boundary of a multipart content type, or null when it is none. */
export function boundaryOf(contentType: string | undefined): string | null {
  if (contentType === undefined || !/^multipart\/form-data\s*;/i.test(contentType)) return null
  const found = /;\s*boundary=(?:"([^"]{1,70})"|([^\s;]{1,70}))/i.exec(contentType)
  return found?.[1] ?? found?.[2] ?? null
}

interface Part {
  name: string
  contentType: string | null
  /** For a file: its name, and its bytes on arrival. */
  file: { fileName: string; spool: FileSpool } | null
  /** Of a field: its text so far. */
  bytes: number
  chunks: Buffer[]
}

/**
 * Reads a form on arrival. Throws `ApiError`: 400 for invalid framing, 413 when the body is larger than `bytesMax`.
 * After an error nothing is left on disk.
 */
export async function readMultipart(
  body: AsyncIterable<Uint8Array>,
  boundary: string,
  bytesMax: number,
): Promise<MultipartForm> {
  const folder = createFolder()
  const reader = new FormReader(boundary, folder)
  try {
    for await (const chunk of body) {
      if (reader.bytes + chunk.length > bytesMax) {
        const message = `Maximum content size limit (${bytesMax}) exceeded.`
        throw new ApiError({ status: 413, message })
      }
      await reader.push(chunk)
    }
    reader.requireEnd()
  } catch (error) {
    await reader.close()
    await folder.remove()
    throw error
  }
  const { fields, files, partNames, bytes } = reader
  return { fields, files, partNames, bytes, dispose: folder.remove }
}

const broken = () => invalidRequest('Could not parse multipart form.')

class FormReader {
  bytes = 0
  readonly fields: { name: string; value: string }[] = []
  readonly files: UploadedFile[] = []
  readonly partNames: string[] = []
  #state: 'preamble' | 'boundary' | 'headers' | 'content' | 'end' = 'preamble'
  // A line end in front lets the very first boundary look like all others.
  #buffer: Buffer = Buffer.from('\r\n')
  #part: Part | null = null
  readonly #delimiter: Buffer
  readonly #folder: UploadFolder

  constructor(boundary: string, folder: UploadFolder) {
    this.#delimiter = Buffer.from(`\r\n--${boundary}`)
    this.#folder = folder
  }

  async push(chunk: Uint8Array): Promise<void> {
    this.bytes += chunk.length
    this.#buffer = Buffer.concat([this.#buffer, chunk])
    while (await this.#step());
  }

  requireEnd(): void {
    if (this.#state !== 'end') throw broken()
  }

  /** Closes a file that is still being written, when the form is given up. */
  async close(): Promise<void> {
    await this.#part?.file?.spool.close()
    this.#part = null
  }

  /** Reads one thing from the buffer; false when more bytes are needed. */
  async #step(): Promise<boolean> {
    if (this.#state === 'preamble' || this.#state === 'content') return this.#readContent()
    if (this.#state === 'boundary') return this.#readBoundary()
    if (this.#state === 'headers') return this.#readHeaders()
    this.#buffer = Buffer.alloc(0)
    return false
  }

  async #readContent(): Promise<boolean> {
    const at = this.#buffer.indexOf(this.#delimiter)
    const end = at >= 0 ? at : Math.max(0, this.#buffer.length - this.#delimiter.length)
    if (this.#part !== null && end > 0) await this.#keep(this.#part, this.#buffer.subarray(0, end))
    this.#buffer = this.#buffer.subarray(at >= 0 ? at + this.#delimiter.length : end)
    if (at < 0) return false
    if (this.#part !== null) await this.#finishPart(this.#part)
    this.#state = 'boundary'
    return true
  }

  #readBoundary(): boolean {
    if (this.#buffer.length < 2) return false
    const mark = this.#buffer.toString('latin1', 0, 2)
    if (mark !== '--' && mark !== '\r\n') throw broken()
    this.#state = mark === '--' ? 'end' : 'headers'
    // The line end stays, so that a part without headers is read like one with them.
    if (mark === '--') this.#buffer = Buffer.alloc(0)
    return true
  }

  #readHeaders(): boolean {
    const end = this.#buffer.indexOf('\r\n\r\n')
    if (end > multipartHeaderBytesMax || (end < 0 && this.#buffer.length > multipartHeaderBytesMax))
      throw broken()
    if (end < 0) return false
    this.#part = parsePart(this.#buffer.toString('utf8', 0, end), this.#folder)
    this.#buffer = this.#buffer.subarray(end + 4)
    if (this.fields.length + this.files.length >= multipartPartsMax) throw broken()
    this.#state = 'content'
    return true
  }

  async #keep(part: Part, bytes: Buffer): Promise<void> {
    if (part.file !== null) return part.file.spool.write(bytes)
    part.bytes += bytes.length
    if (part.bytes > multipartFieldBytesMax) throw invalidRequest('A form field is too long.', part.name)
    // A copy: the buffer it is cut from is much larger than it.
    part.chunks.push(Buffer.from(bytes))
  }

  async #finishPart({ name, contentType, file, chunks }: Part): Promise<void> {
    this.#part = null
    this.partNames.push(name)
    if (file === null) this.fields.push({ name, value: Buffer.concat(chunks).toString('utf8') })
    else this.files.push(await file.spool.finish({ name, fileName: file.fileName, contentType }))
  }
}

function parsePart(headers: string, folder: UploadFolder): Part {
  const disposition = /^content-disposition:\s*form-data\s*;(.*)$/im.exec(headers)?.[1]
  const name = disposition === undefined ? undefined : parameter(disposition, 'name')
  if (disposition === undefined || name === undefined) throw broken()
  const contentType = /^content-type:\s*(.+?)\s*$/im.exec(headers)?.[1] ?? null
  const fileName = parameter(disposition, 'filename')
  const file = fileName === undefined ? null : { fileName, spool: new FileSpool(folder) }
  return { name, contentType, file, bytes: 0, chunks: [] }
}

function parameter(disposition: string, name: string): string | undefined {
  const found = new RegExp(`;?\\s*\\b${name}="((?:[^"\\\\]|\\\\.)*)"`, 'i').exec(disposition)
  const plain = found ?? new RegExp(`;?\\s*\\b${name}=([^\\s;]+)`, 'i').exec(disposition)
  return plain?.[1]?.replaceAll('%22', '"').replaceAll(/\\(.)/g, '$1')
}
