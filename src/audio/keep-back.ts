/**
 * Passes bytes on, but never the last `keptBytes`. A caller with a whole answer must have a durable capture, so the end
 * of the answer waits for it. All earlier bytes leave at once.
 */
export class KeepBackStream {
  readonly #keptBytes: number
  #tail: Uint8Array = new Uint8Array(0)

  constructor(keptBytes: number) {
    this.#keptBytes = keptBytes
  }

  /** The bytes that may be shown now, or null. A view into the chunk if possible. */
  push(chunk: Uint8Array): Uint8Array | null {
    if (chunk.length === 0) return null
    const all = this.#tail.length === 0 ? chunk : Buffer.concat([this.#tail, chunk])
    const shown = all.length - this.#keptBytes
    // Copied, so that a small tail does not keep a large chunk alive.
    this.#tail = new Uint8Array(all.subarray(Math.max(0, shown)))
    return shown > 0 ? all.subarray(0, shown) : null
  }

  /** Adds to the kept end without showing anything. */
  append(bytes: Uint8Array): Uint8Array {
    if (bytes.length > 0) this.#tail = Buffer.concat([this.#tail, bytes])
    return bytes
  }

  /** Returns the kept end, once. */
  end(): Uint8Array {
    const tail = this.#tail
    this.#tail = new Uint8Array(0)
    return tail
  }
}
