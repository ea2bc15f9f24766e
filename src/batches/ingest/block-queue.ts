/**
 * The compressed blocks of one blob, in order. One side adds them while they are still being compressed; the other reads
 * them once. The queue accepts any number: the adding side must wait for the promise of `add` before it adds more.
 */
export class BlockQueue implements AsyncIterable<Uint8Array> {
  readonly #blocks: { content: Promise<Uint8Array>; passed: () => void }[] = []
  #isEnded = false
  #isAbandoned = false
  #changed = Promise.withResolvers<void>()

  /** Resolves when the reader is done with the block or has stopped reading; never rejects. */
  add(content: Promise<Uint8Array>): Promise<void> {
    // The reader sees the failure; this only keeps it from being an unhandled rejection.
    content.catch(() => undefined)
    if (this.#isAbandoned) return Promise.resolve()
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#blocks.push({ content, passed: resolve })
    this.#changed.resolve()
    return promise
  }

  /** There will be no more blocks. */
  end(): void {
    this.#isEnded = true
    this.#changed.resolve()
  }

  /** Gives the blob up: a reader that still waits gets an error. No effect after the reader's end. */
  abandon(): void {
    this.#isAbandoned = true
    for (const { passed } of this.#blocks.splice(0)) passed()
    this.#changed.resolve()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    for (;;) {
      if (this.#isAbandoned) throw new Error('the upload was given up')
      const [next] = this.#blocks
      if (next) {
        yield await next.content
        this.#blocks.shift()
        next.passed()
        continue
      }
      if (this.#isEnded) return
      this.#changed = Promise.withResolvers<void>()
      await this.#changed.promise
    }
  }
}
