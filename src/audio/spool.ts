import { mkdir, open, unlink, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import type { AudioSpool, StoredAudio } from '../canonical/audio.ts'
import { assert } from '../core/assert.ts'
import { GatewayError } from '../core/errors.ts'
import { randomText } from '../core/ids.ts'
import { audioHeadBytes, audioReadBytes } from '../core/limits/audio.ts'

/** The size of one write of spooled audio: fewer, larger ones cost less per byte. */
const audioWriteBytes = 524_288

/** The audio held in memory per upload; most voice messages fit, and longer audio goes to a temporary file. */
const spoolMemoryBytesMax = 1_000_000

/** The folder for audio that does not fit in memory, and the bound of an upload. */
export interface SpoolOptions {
  /**
   * Created again if it was removed. Its files belong to this gateway, are named `audio-…`, and may be removed at
   * start.
   */
  folder: string
  /** A larger upload is refused with `payload_too_large`. */
  bytesMax: number
}

/** Keeps small audio in memory and writes larger audio to a temporary file. */
export function createSpool(options: SpoolOptions): AudioSpool {
  return new Spool(options)
}

class Spool implements AudioSpool {
  readonly #options: SpoolOptions
  #sizeBytes = 0
  #chunks: Uint8Array[] = []
  #head: Uint8Array = new Uint8Array(0)
  #file: GatheringFile | null = null
  #isClosed = false

  constructor(options: SpoolOptions) {
    this.#options = options
  }

  async write(chunk: Uint8Array): Promise<void> {
    assert(!this.#isClosed, 'audio written to a closed spool')
    this.#sizeBytes += chunk.length
    if (this.#sizeBytes > this.#options.bytesMax) throw tooLarge(this.#options.bytesMax)
    if (this.#head.length < audioHeadBytes) {
      this.#head = concat([this.#head, chunk.subarray(0, audioHeadBytes - this.#head.length)])
    }
    if (this.#file) return this.#file.write(chunk)
    // Not `slice`: on a Buffer it returns a view of memory that the sender may reuse.
    this.#chunks.push(new Uint8Array(chunk))
    if (this.#sizeBytes > spoolMemoryBytesMax) await this.#moveToFile()
  }

  async #moveToFile(): Promise<void> {
    const path = join(this.#options.folder, `audio-${randomText(20)}`)
    const file = new GatheringFile(await openOrRefuse(this.#options.folder, path), path)
    this.#file = file
    const chunks = this.#chunks
    this.#chunks = []
    for (const chunk of chunks) await file.write(chunk)
  }

  async finish(): Promise<StoredAudio> {
    assert(!this.#isClosed, 'a spool is finished once')
    this.#isClosed = true
    const facts = { sizeBytes: this.#sizeBytes, head: this.#head }
    if (!this.#file) return storedInMemory(facts, concat(this.#chunks))
    await this.#file.end()
    return storedInFile(facts, this.#file.path)
  }

  async discard(): Promise<void> {
    this.#isClosed = true
    this.#chunks = []
    if (!this.#file) return
    await this.#file.remove()
  }
}

/** A file that is written in large pieces, whatever the sizes of the chunks. */
class GatheringFile {
  readonly path: string
  readonly #handle: FileHandle
  readonly #gathered = Buffer.allocUnsafeSlow(audioWriteBytes)
  #length = 0

  constructor(handle: FileHandle, path: string) {
    this.#handle = handle
    this.path = path
  }

  async write(bytes: Uint8Array): Promise<void> {
    for (let offset = 0; offset < bytes.length;) {
      const part = bytes.subarray(offset, offset + audioWriteBytes - this.#length)
      this.#gathered.set(part, this.#length)
      this.#length += part.length
      offset += part.length
      if (this.#length === audioWriteBytes) await this.#flush()
    }
  }

  async end(): Promise<void> {
    await this.#flush()
    await this.#handle.close()
  }

  /** Never rejects. */
  async remove(): Promise<void> {
    await this.#handle.close().catch(() => {})
    await unlink(this.path).catch(() => {})
  }

  async #flush(): Promise<void> {
    const bytes = this.#gathered.subarray(0, this.#length)
    this.#length = 0
    await writeAll(this.#handle, bytes)
  }
}

type Facts = Pick<StoredAudio, 'sizeBytes' | 'head'>

/** Audio whose bytes are already held. */
export function storedInMemory(facts: Facts, bytes: Uint8Array<ArrayBuffer>): StoredAudio {
  let blob = new Blob([bytes])
  return {
    ...facts,
    open: () => blob.stream(),
    blob: () => blob,
    dispose: () => {
      blob = new Blob([])
      return Promise.resolve()
    },
  }
}

function storedInFile(facts: Facts, path: string): StoredAudio {
  return {
    ...facts,
    open: () => readFileStream(path),
    blob: () => Bun.file(path),
    // The name is removed at once; a reader with the file open keeps its bytes until it ends.
    dispose: () => unlink(path).catch(() => {}),
  }
}

/**
 * A pull stream that reads only on demand and closes the file on every exit. All chunks use the same memory: new memory
 * for each would cost a fifth of an upload's time, mostly for garbage collection.
 */
function readFileStream(path: string): ReadableStream<Uint8Array> {
  let handle: FileHandle | null = null
  let memory: Buffer | null = null
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        handle ??= await open(path, 'r')
        const bytes = await readNext(handle, (memory ??= Buffer.allocUnsafeSlow(audioReadBytes)))
        if (bytes) return controller.enqueue(bytes)
        await handle.close()
        controller.close()
      },
      async cancel() {
        await handle?.close()
      },
    },
    { highWaterMark: 0 },
  )
}

async function readNext(handle: FileHandle, memory: Buffer): Promise<Uint8Array | null> {
  try {
    const { bytesRead, buffer } = await handle.read(memory)
    return bytesRead > 0 ? buffer.subarray(0, bytesRead) : null
  } catch (cause) {
    await handle.close().catch(() => {})
    throw cause
  }
}

async function openOrRefuse(folder: string, path: string): Promise<FileHandle> {
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    return await open(path, 'wx', 0o600)
  } catch (cause) {
    throw storageFailed(cause)
  }
}

async function writeAll(handle: FileHandle, bytes: Uint8Array): Promise<void> {
  try {
    for (let offset = 0; offset < bytes.length;) {
      const { bytesWritten } = await handle.write(bytes, offset, bytes.length - offset)
      offset += bytesWritten
    }
  } catch (cause) {
    throw storageFailed(cause)
  }
}

function storageFailed(cause: unknown): GatewayError {
  return new GatewayError(
    'storage_unavailable',
    'The audio could not be stored for processing. Try again later.',
    {
      cause,
      retryAfterSeconds: 5,
    },
  )
}

function tooLarge(bytesMax: number): GatewayError {
  return new GatewayError(
    'payload_too_large',
    `The audio is larger than ${bytesMax} bytes. Send less, or compress it to mp3 or ogg.`,
  )
}

function concat(chunks: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  let length = 0
  for (const chunk of chunks) length += chunk.length
  const all = new Uint8Array(length)
  let offset = 0
  for (const chunk of chunks) {
    all.set(chunk, offset)
    offset += chunk.length
  }
  return all
}
