/**
 * The compressed blocks of one blob, in order, while they are still being made: filled by one side, read once by the
 * other. It holds what is added; whoever adds waits for what `add` returns before there is too much.
 */
export class BlockQueue implements AsyncIterable<Uint8Array> {
  readonly #blocks: { content: Promise<Uint8Array>; passed: () => void }[] = []
  #isEnded = false
  #isAbandoned = false
  #changed = Promise.withResolvers<void>()

  /** Resolves when the reader has done with the block, or will never want it; never rejects. */
  add(content: Promise<Uint8Array>): Promise<void> {
    // The reader sees the failure; nobody else has to.
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

  /** Nobody wants the blob any more: a reader that still waits gets an error. After the reader's end without effect. */
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
