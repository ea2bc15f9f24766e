import type { BatchId } from '../../core/ids.ts'
import type { Payloads } from '../results/payloads.ts'
import type { SegmentDraft } from '../running/segment-repository.ts'
import { BlockQueue } from './block-queue.ts'

/** Items of one input segment: large enough to amortise a row, small enough to lease and redo. */
export const segmentItemsMax = 1_000
/** Uncompressed bytes of one input segment: a worker holds that much of it. */
export const segmentBytesMax = 4_000_000
/** Segments of one upload on their way to the disk at once: hides the time of an fsync. */
export const ingestWritesMax = 4
/** Uncompressed bytes of a segment that are compressed in one go, and how many such blocks of one upload may be on their way: with the item in hand these bound what ingest holds in memory. */
const ingestBlockBytes = 524_288
const ingestBlocksMax = 8

const newline = 0x0a

/** A segment that is being filled. */
interface OpenSegment {
  /** Null until the first block is full: most batches are smaller than one. */
  blocks: BlockQueue | null
  firstItem: number
  items: number
  bytes: number
}

/**
 * Cuts items into segments, one item per line, and compresses and writes them block by block while more arrive. At most
 * `ingestBlocksMax` blocks and `ingestWritesMax` segments wait to be written; the memory of blocks is reused.
 */
export class SegmentWriter {
  readonly #payloads: Payloads
  readonly #batchId: BatchId
  #block: Buffer = Buffer.allocUnsafeSlow(ingestBlockBytes)
  #used = 0
  #segment: OpenSegment = { blocks: null, firstItem: 0, items: 0, bytes: 0 }
  readonly #spare: Buffer[] = []
  /** One entry per block that is not yet written. */
  readonly #pending = new Set<Promise<void>>()
  readonly #writes = new Set<Promise<void>>()
  readonly #drafts: SegmentDraft[] = []
  #ordinal = 0
  #failure: { thrown: unknown } | null = null

  constructor(payloads: Payloads, batchId: BatchId) {
    this.#payloads = payloads
    this.#batchId = batchId
  }

  /** Copies one item, which may span lines. It never waits, so the caller must await `room` now and then. */
  add(item: Uint8Array, hasLineBreaks: boolean): void {
    const { items, bytes } = this.#segment
    const isFull = items === segmentItemsMax || bytes + item.length + 1 > segmentBytesMax
    if (isFull && items > 0) this.#cut()
    this.#reserve(item.length + 1)
    const start = this.#used
    this.#block.set(item, start)
    this.#used += item.length
    this.#block[this.#used++] = newline
    this.#segment.items++
    this.#segment.bytes += item.length + 1
    if (hasLineBreaks) this.#flatten(start)
  }

  /** Waits until there is room for more; throws when a segment could not be written. */
  async room(): Promise<void> {
    while (this.#failure === null && this.#isCrowded())
      await Promise.race([...this.#pending, ...this.#writes])
    if (this.#failure) throw this.#failure.thrown
  }

  /** Writes what is left; resolves when everything is durable. */
  async finish(): Promise<SegmentDraft[]> {
    if (this.#segment.items > 0) this.#cut()
    await Promise.all(this.#writes)
    if (this.#failure) throw this.#failure.thrown
    return this.#drafts.toSorted((left, right) => left.ordinal - right.ordinal)
  }

  /** Removes what was written. What cannot be removed now is removed later as an orphan. */
  async discard(): Promise<void> {
    this.#segment.blocks?.abandon()
    await Promise.all(this.#writes)
    for (const { blob } of this.#drafts) await this.#payloads.delete(blob).catch(() => undefined)
    this.#drafts.length = 0
  }

  #isCrowded(): boolean {
    return this.#pending.size >= ingestBlocksMax || this.#writes.size >= ingestWritesMax
  }

  #cut(): void {
    this.#flush().end()
    const firstItem = this.#segment.firstItem + this.#segment.items
    this.#segment = { blocks: null, firstItem, items: 0, bytes: 0 }
  }

  /** Hands the block on to be compressed and written. */
  #flush(): BlockQueue {
    const segment = this.#segment
    segment.blocks ??= this.#open(segment)
    const block = this.#block
    const compressed = this.#payloads.compress(block.subarray(0, this.#used)).finally(() => {
      // A block that a huge item has enlarged is not reused.
      if (block.length === ingestBlockBytes) this.#spare.push(block)
    })
    const passed = segment.blocks.add(compressed).then(() => void this.#pending.delete(passed))
    this.#pending.add(passed)
    this.#block = this.#spare.pop() ?? Buffer.allocUnsafeSlow(ingestBlockBytes)
    this.#used = 0
    return segment.blocks
  }

  #open(segment: OpenSegment): BlockQueue {
    const blocks = new BlockQueue()
    const write = this.#write(segment, blocks, this.#ordinal++).finally(() => this.#writes.delete(write))
    this.#writes.add(write)
    return blocks
  }

  /** Never rejects. */
  async #write(segment: OpenSegment, blocks: BlockQueue, ordinal: number): Promise<void> {
    try {
      if (this.#failure) return
      const { blob, bytes } = await this.#payloads.putSegment(this.#batchId, blocks)
      const { firstItem, items } = segment
      this.#drafts.push({ ordinal, firstItem, itemCount: items, blob, blobBytes: bytes })
    } catch (thrown) {
      this.#failure ??= { thrown }
    } finally {
      blocks.abandon()
    }
  }

  #reserve(bytes: number): void {
    if (this.#used + bytes <= this.#block.length) return
    if (this.#used > 0) this.#flush()
    if (bytes <= this.#block.length) return
    this.#spare.push(this.#block)
    this.#block = Buffer.allocUnsafeSlow(bytes)
  }

  /** Replaces an item's line breaks by spaces, which mean the same between JSON tokens. The newline after the item ends the search. */
  #flatten(start: number): void {
    const last = this.#used - 1
    for (let at = this.#block.indexOf(newline, start); at < last; at = this.#block.indexOf(newline, at + 1)) {
      this.#block[at] = 0x20
    }
  }
}
