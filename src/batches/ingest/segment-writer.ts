import type { BatchId } from '../../core/ids.ts'
import { ingestWritesMax, segmentBytesMax, segmentItemsMax } from '../../core/limits.ts'
import type { Payloads } from '../payload-repository.ts'
import type { SegmentDraft } from '../segment-repository.ts'

const firstBufferBytes = 262_144
const newline = 0x0a

/**
 * Cuts items into segments, one item per line, and writes them while more arrive. At most `ingestWritesMax` segments are
 * between here and the disk; their buffers are used again.
 */
export class SegmentWriter {
  readonly #payloads: Payloads
  readonly #batchId: BatchId
  #buffer: Buffer = Buffer.allocUnsafe(firstBufferBytes)
  #used = 0
  #items = 0
  #firstItem = 0
  readonly #spare: Buffer[] = []
  readonly #writes = new Set<Promise<void>>()
  readonly #drafts: SegmentDraft[] = []
  #ordinal = 0
  #failure: { thrown: unknown } | null = null

  constructor(payloads: Payloads, batchId: BatchId) {
    this.#payloads = payloads
    this.#batchId = batchId
  }

  /** Copies one item. `room` must be awaited now and then, because this never waits. */
  add(item: Uint8Array): void {
    const isFull = this.#items === segmentItemsMax || this.#used + item.length + 1 > segmentBytesMax
    if (isFull && this.#items > 0) this.#cut()
    this.#reserve(this.#used + item.length + 1)
    const start = this.#used
    this.#buffer.set(item, start)
    this.#used += item.length
    this.#buffer[this.#used++] = newline
    this.#items++
    this.#flatten(start)
  }

  /** Waits until there is room for another segment; throws when one could not be written. */
  async room(): Promise<void> {
    while (this.#writes.size >= ingestWritesMax) await Promise.race(this.#writes)
    if (this.#failure) throw this.#failure.thrown
  }

  /** Writes what is left; resolves when everything is durable. */
  async finish(): Promise<SegmentDraft[]> {
    if (this.#items > 0) this.#cut()
    await Promise.all(this.#writes)
    if (this.#failure) throw this.#failure.thrown
    return this.#drafts.toSorted((left, right) => left.ordinal - right.ordinal)
  }

  /** Removes what was written. What cannot be removed now is found later as an orphan. */
  async discard(): Promise<void> {
    await Promise.all(this.#writes)
    for (const { blob } of this.#drafts) await this.#payloads.delete(blob).catch(() => undefined)
    this.#drafts.length = 0
  }

  #cut(): void {
    const draft = { ordinal: this.#ordinal++, firstItem: this.#firstItem, itemCount: this.#items }
    const buffer = this.#buffer
    const content = buffer.subarray(0, this.#used)
    this.#firstItem += this.#items
    this.#items = 0
    this.#used = 0
    this.#buffer = this.#spare.pop() ?? Buffer.allocUnsafe(firstBufferBytes)
    const write = this.#write(draft, content).finally(() => {
      this.#writes.delete(write)
      // A buffer that a huge item has stretched is not kept.
      if (buffer.length <= segmentBytesMax) this.#spare.push(buffer)
    })
    this.#writes.add(write)
  }

  /** Never rejects. */
  async #write(draft: Omit<SegmentDraft, 'blob' | 'blobBytes'>, content: Uint8Array): Promise<void> {
    if (this.#failure) return
    try {
      const { blob, bytes } = await this.#payloads.putSegment(this.#batchId, content)
      this.#drafts.push({ ...draft, blob, blobBytes: bytes })
    } catch (thrown) {
      this.#failure ??= { thrown }
    }
  }

  #reserve(bytes: number): void {
    if (bytes <= this.#buffer.length) return
    const doubled = Math.min(this.#buffer.length * 2, segmentBytesMax)
    const grown = Buffer.allocUnsafe(Math.max(bytes, doubled))
    this.#buffer.copy(grown, 0, 0, this.#used)
    this.#buffer = grown
  }

  /** An item may span lines; between its tokens a space says the same. The newline behind the item ends the search. */
  #flatten(start: number): void {
    const last = this.#used - 1
    for (
      let at = this.#buffer.indexOf(newline, start);
      at < last;
      at = this.#buffer.indexOf(newline, at + 1)
    ) {
      this.#buffer[at] = 0x20
    }
  }
}
