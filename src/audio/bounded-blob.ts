import { assert } from '../core/assert.ts'

/** The size of one read of a measured file. */
export const durationReadBytes = 32_768
/**
 * The most lookups in read data, and how many run before other work gets a turn: a file of tiny boxes would need
 * lookups for minutes.
 */
const durationQuestionsMax = 1_000_000
const durationQuestionsAtOnce = 1_024
import { nextTurn } from '../core/turns.ts'

/** Thrown when a parser has read more than it may; its caller then has no result. */
export class ReadLimitError extends Error {}

/**
 * Random access to a blob through one window, so that a parser's thousands of tiny reads cost few real ones. Both
 * numbers are bounded. Both kinds of read yield to other work now and then, because a parser may find all its reads in
 * memory.
 */
export class BoundedBlob {
  readonly size: number
  readonly #blob: Blob
  readonly #readsMax: number
  #reads = 0
  #questions = 0
  #window: Uint8Array = new Uint8Array(0)
  #windowStart = 0

  constructor(blob: Blob, sizeBytes: number, readsMax: number) {
    this.#blob = blob
    this.size = sizeBytes
    this.#readsMax = readsMax
  }

  /** Bytes from `start` to `end`, fewer at the end of the blob. The result is a view; later reads do not change it. */
  async read(start: number, end: number): Promise<Uint8Array> {
    assert(start >= 0 && end >= start, 'a read has a beginning and an end')
    this.#questions += 1
    if (this.#questions > durationQuestionsMax)
      throw new ReadLimitError('a container took more questions than it may')
    if (this.#questions % durationQuestionsAtOnce === 0) await nextTurn()
    const last = Math.min(end, this.size)
    if (start >= last) return new Uint8Array(0)
    if (start < this.#windowStart || last > this.#windowStart + this.#window.length) {
      await this.#load(start, Math.max(last, start + durationReadBytes))
    }
    return this.#window.subarray(start - this.#windowStart, last - this.#windowStart)
  }

  async #load(start: number, end: number): Promise<void> {
    this.#reads += Math.ceil((end - start) / durationReadBytes)
    if (this.#reads > this.#readsMax)
      throw new ReadLimitError('a container needed more reads than it may have')
    this.#window = new Uint8Array(await this.#blob.slice(start, end).arrayBuffer())
    this.#windowStart = start
    await nextTurn()
  }
}
