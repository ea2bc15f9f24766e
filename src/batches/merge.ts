import { assert } from '../core/assert.ts'
import { mergedBlockBytes, mergePassBytes } from '../core/limits.ts'
import type { UsageSum } from './batch-usage.ts'
import { addUsage, emptyUsageSum } from './batch-usage.ts'
import type { ReadPart } from './parts.ts'
import { decodePart } from './parts.ts'
import type { Payloads } from './payload-repository.ts'
import type { Part } from './part-repository.ts'
import type { MergedBlock, SegmentLease } from './segment-repository.ts'

/** The index of a merged segment. */
export interface MergedIndex {
  blocks: MergedBlock[]
  usage: UsageSum
}

/** Where a result lies before it is merged. */
interface Located {
  item: number
  part: number
  bytes: number
}

/** Reads parts, keeping the small ones of a small segment, so that usually each is read once. */
class PartReader {
  readonly #payloads: Payloads
  readonly #parts: readonly Part[]
  readonly #kept = new Map<number, ReadPart>()
  readonly #keepsAll: boolean

  constructor(payloads: Payloads, parts: readonly Part[]) {
    this.#payloads = payloads
    this.#parts = parts
    this.#keepsAll = parts.reduce((sum, part) => sum + part.bytes, 0) <= mergePassBytes
  }

  async read(index: number): Promise<ReadPart> {
    const kept = this.#kept.get(index)
    if (kept) return kept
    const part = this.#parts[index]
    assert(part, 'a part that was listed exists')
    const read = decodePart(await readPartBytes(this.#payloads, part))
    if (this.#keepsAll) this.#kept.set(index, read)
    return read
  }
}

/** A part's bytes, from its blob or its row. */
export function readPartBytes(payloads: Payloads, part: Part): Promise<Buffer> {
  if (part.inlineBody !== null) return payloads.decompress(part.inlineBody)
  assert(part.blob !== null, 'a part has a body')
  return payloads.read(part.blob)
}

/**
 * Writes a finished segment's results in input order as one blob of independently compressed blocks. Memory stays flat
 * whatever their size: results beyond `mergePassBytes` are gathered pass by pass, and a pass reads only parts with an
 * item of its range, which are few because items are started in order.
 */
export async function mergeSegment(
  payloads: Payloads,
  lease: SegmentLease,
  parts: readonly Part[],
): Promise<{ blob: string; indexJson: string }> {
  const reader = new PartReader(payloads, parts)
  const located: Located[] = []
  const index: MergedIndex = { blocks: [], usage: emptyUsageSum() }
  for (let part = 0; part < parts.length; part++) {
    const { items, usage } = await reader.read(part)
    index.usage = addUsage(index.usage, usage)
    for (const { item, line } of items) located.push({ item, part, bytes: line.length })
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
    const lines = await gather(pass, reader)
    for (const block of cut(pass, mergedBlockBytes)) {
      const content = Buffer.concat(block.map(({ item }) => lines.get(item) ?? missing(item)))
      const compressed = await payloads.compress(content)
      blocks.push({ itemCount: block.length, offset, bytes: compressed.byteLength })
      offset += compressed.byteLength
      yield compressed
    }
  }
}

/** The lines of some consecutive items. Copied: a view would keep its whole part in memory. */
async function gather(pass: readonly Located[], reader: PartReader): Promise<Map<number, Buffer>> {
  const wanted = new Set(pass.map(({ item }) => item))
  const lines = new Map<number, Buffer>()
  for (const part of new Set(pass.map((location) => location.part))) {
    const { items } = await reader.read(part)
    for (const { item, line } of items) if (wanted.has(item)) lines.set(item, Buffer.from(line))
  }
  return lines
}

/** Consecutive groups of at most so many bytes; one that is larger stands alone. */
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

function missing(item: number): never {
  throw new Error(`the result of item ${item} is missing from its part`)
}
