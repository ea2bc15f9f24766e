import { mkdir, open, unlink, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'
import { randomText } from '../../../core/ids.ts'

/** Bytes that are written or read at a time: what a spool holds in memory. */
const spoolBlockBytes = 262_144

/**
 * Lines on their way to a provider or from one, in a file without a name, which goes with the process. It is written to
 * its end and then read.
 */
export class JobSpool {
  readonly #handle: FileHandle
  #block = Buffer.allocUnsafeSlow(spoolBlockBytes)
  #used = 0
  #written = 0

  private constructor(handle: FileHandle) {
    this.#handle = handle
  }

  static async open(folder: string): Promise<JobSpool> {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const path = join(folder, `job-${randomText(20)}`)
    const handle = await open(path, 'wx+', 0o600)
    // The name goes at once; the open file keeps its bytes.
    await unlink(path)
    return new JobSpool(handle)
  }

  /** Bytes so far. */
  get bytes(): number {
    return this.#written + this.#used
  }

  /** Adds bytes and returns where they begin. */
  async write(bytes: Uint8Array): Promise<number> {
    const start = this.bytes
    for (let at = 0; at < bytes.length;) {
      const part = bytes.subarray(at, at + spoolBlockBytes - this.#used)
      this.#block.set(part, this.#used)
      this.#used += part.length
      at += part.length
      if (this.#used === spoolBlockBytes) await this.#flush()
    }
    return start
  }

  async read(start: number, length: number): Promise<Buffer> {
    await this.#flush()
    const target = Buffer.allocUnsafeSlow(length)
    for (let at = 0; at < length;) {
      const { bytesRead } = await this.#handle.read(target, at, length - at, start + at)
      if (bytesRead === 0) throw new Error('a spool is shorter than what was written to it')
      at += bytesRead
    }
    return target
  }

  /** All of it, read when it is asked for. */
  stream(): ReadableStream<Uint8Array> {
    let at = 0
    return new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          const length = Math.min(spoolBlockBytes, this.bytes - at)
          if (length === 0) return controller.close()
          controller.enqueue(await this.read(at, length))
          at += length
        },
      },
      { highWaterMark: 0 },
    )
  }

  async close(): Promise<void> {
    await this.#handle.close().catch(() => undefined)
  }

  async #flush(): Promise<void> {
    const block = this.#block.subarray(0, this.#used)
    this.#used = 0
    for (let at = 0; at < block.length;) {
      const { bytesWritten } = await this.#handle.write(block, at, block.length - at, this.#written + at)
      at += bytesWritten
    }
    this.#written += block.length
  }
}
