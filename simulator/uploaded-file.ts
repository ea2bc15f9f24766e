import { type FileHandle, mkdtemp, open, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileHeadBytesMax, uploadMemoryBytesMax } from './limits.ts'

/**
 * The file in a request: a part of a form, or its whole body. A small file is in memory, a larger one in a temporary
 * file.
 */
export interface UploadedFile {
  name: string
  fileName: string
  contentType: string | null
  bytes: number
  /** The first bytes, enough to recognise the format. */
  head: Uint8Array
  /** A path at which the whole file can be read; writes it there first when it is in memory. */
  path(): Promise<string>
}

/** The folder of a request's temporary files, made when it is first needed. */
export interface UploadFolder {
  nextPath(): Promise<string>
  /** Must be called on every exit. */
  remove(): Promise<void>
}

export function createFolder(): UploadFolder {
  let made: Promise<string> | null = null
  let files = 0
  return {
    async nextPath() {
      made ??= mkdtemp(join(tmpdir(), 'simulator-'))
      return join(await made, `${files++}.upload`)
    },
    async remove() {
      if (made !== null) await rm(await made, { recursive: true, force: true })
    },
  }
}

/** A file as it arrives. It is given up with `close`, or ended with `finish`. */
export class FileSpool {
  bytes = 0
  #head: Buffer = Buffer.alloc(0)
  readonly #chunks: Buffer[] = []
  #disk: { handle: FileHandle; path: string } | null = null
  readonly #folder: UploadFolder

  constructor(folder: UploadFolder) {
    this.#folder = folder
  }

  async write(bytes: Buffer): Promise<void> {
    this.bytes += bytes.length
    if (this.#head.length < fileHeadBytesMax) {
      this.#head = Buffer.concat([this.#head, bytes.subarray(0, fileHeadBytesMax - this.#head.length)])
    }
    if (this.#disk === null && this.bytes <= uploadMemoryBytesMax) {
      // A copy: the buffer it is cut from is much larger than it.
      this.#chunks.push(Buffer.from(bytes))
      return
    }
    if (this.#disk === null) {
      const path = await this.#folder.nextPath()
      this.#disk = { path, handle: await open(path, 'w') }
      for (const chunk of this.#chunks.splice(0)) await this.#disk.handle.writeFile(chunk)
    }
    await this.#disk.handle.writeFile(bytes)
  }

  async close(): Promise<void> {
    await this.#disk?.handle.close()
  }

  async finish(named: Pick<UploadedFile, 'name' | 'fileName' | 'contentType'>): Promise<UploadedFile> {
    await this.close()
    const chunks = this.#chunks
    const folder = this.#folder
    let path = this.#disk?.path ?? null
    return {
      ...named,
      bytes: this.bytes,
      head: this.#head,
      async path() {
        if (path !== null) return path
        path = await folder.nextPath()
        await writeFile(path, Buffer.concat(chunks))
        return path
      },
    }
  }
}
