import { assert } from '../../core/assert.ts'
import { giveBack } from '../../core/memory.ts'
import type { UsageSum } from '../../formats/batch/batch-usage.ts'
import { addUsage, emptyUsageSum } from '../../formats/batch/batch-usage.ts'
import type { ReadPart } from './parts.ts'
import { decodePart } from './parts.ts'
import type { Payloads } from './payloads.ts'
import type { ResultPart } from './part-repository.ts'
import type { MergedBlock, SegmentLease } from '../running/segment-repository.ts'

/** Uncompressed bytes of one block of a merged segment: a reader of results holds that much at a time. */
export const mergedBlockBytes = 1_000_000
/** Results held at once while a segment is merged; beyond it the parts are read in several passes. Eight segments may be merged at once. */
export const mergePassBytes = 4_000_000

/** The index of a merged segment. */
export interface MergedIndex {
  blocks: MergedBlock[]
  usage: UsageSum
}

/** The place of a result before merging. */
interface Located {
  item: number
  part: number
  bytes: number
}

/** Reads parts, and keeps those of a small segment in memory, so that usually each is read once. */
class PartReader {
  readonly #payloads: Payloads
  readonly #parts: readonly ResultPart[]
  readonly #kept = new Map<number, ReadPart>()
  readonly #keepsAll: boolean

  constructor(payloads: Payloads, parts: readonly ResultPart[]) {
    this.#payloads = payloads
    this.#parts = parts
    this.#keepsAll = parts.reduce((sum, part) => sum + part.bytes, 0) <= mergePassBytes
  }

  /** Runs `use` on a part; the part is valid only until `use` returns. */
  async use(index: number, use: (part: ReadPart) => void): Promise<void> {
    const kept = this.#kept.get(index)
    if (kept) return use(kept)
    const part = this.#parts[index]
    assert(part, 'a part that was listed exists')
    const bytes = await readPartBytes(this.#payloads, part)
    const read = decodePart(bytes)
    if (this.#keepsAll) this.#kept.set(index, read)
    use(read)
    if (!this.#keepsAll) giveBack(bytes)
  }
}

/** A part's bytes, from its blob or its row. */
export function readPartBytes(payloads: Payloads, part: ResultPart): Promise<Buffer> {
  if (part.inlineBody !== null) return payloads.decompress(part.inlineBody)
  assert(part.blob !== null, 'a part has a body')
  return payloads.read(part.blob)
}

/**
 * Writes a finished segment's results in input order as one blob of independently compressed blocks. Memory stays flat
 * whatever their size: results beyond `mergePassBytes` are gathered in several passes. A pass reads only parts with an
 * item of its range, and these are few because items are started in order.
 */
export async function mergeSegment(
  payloads: Payloads,
  lease: SegmentLease,
  parts: readonly ResultPart[],
): Promise<{ blob: string; indexJson: string }> {
  const reader = new PartReader(payloads, parts)
  const located: Located[] = []
  const index: MergedIndex = { blocks: [], usage: emptyUsageSum() }
  for (let part = 0; part < parts.length; part++) {
    await reader.use(part, ({ items, usage }) => {
      index.usage = addUsage(index.usage, usage)
      for (const { item, line } of items) located.push({ item, part, bytes: line.length })
    })
  }
  located.sort((left, right) => left.item - right.item)
  const isComplete = located.every(({ item }, position) => item === lease.firstItem + position)
  assert(
    isComplete && located.length === lease.itemCount,
    'a finished segment has exactly one result per item',
  )
  const blob = await payloads.putMerged(lease.batchId, writeBlocks(payloads, located, reader, index.blocks))
  return { blob, indexJson: JSON.stringify(index) }
}

async function* writeBlocks(
  payloads: Payloads,
  located: readonly Located[],
  reader: PartReader,
  blocks: MergedBlock[],
): AsyncGenerator<Uint8Array> {
  let offset = 0
  for (const pass of cut(located, mergePassBytes)) {
    const content = await gather(pass, reader)
    let start = 0
    for (const block of cut(pass, mergedBlockBytes)) {
      const end = start + block.reduce((sum, { bytes }) => sum + bytes, 0)
      const compressed = await payloads.compress(content.subarray(start, end))
      blocks.push({ itemCount: block.length, offset, bytes: compressed.byteLength })
      offset += compressed.byteLength
      start = end
      yield compressed
    }
    giveBack(content)
  }
}

/** The lines of some consecutive items, one after the other. */
async function gather(pass: readonly Located[], reader: PartReader): Promise<Buffer> {
  const first = pass[0]?.item ?? 0
  const offsets: number[] = []
  let total = 0
  for (const { bytes } of pass) {
    offsets.push(total)
    total += bytes
  }
  const content = Buffer.allocUnsafeSlow(total)
  for (const part of new Set(pass.map((location) => location.part))) {
    await reader.use(part, ({ items }) => {
      for (const { item, line } of items) {
        const offset = offsets[item - first]
        if (offset !== undefined) line.copy(content, offset)
      }
    })
  }
  return content
}

/** Consecutive groups of at most so many bytes; a larger result is a group of its own. */
function* cut(located: readonly Located[], bytesMax: number): Generator<Located[]> {
  let group: Located[] = []
  let bytes = 0
  for (const location of located) {
    if (group.length > 0 && bytes + location.bytes > bytesMax) {
      yield group
      group = []
      bytes = 0
    }
    group.push(location)
    bytes += location.bytes
  }
  if (group.length > 0) yield group
}
