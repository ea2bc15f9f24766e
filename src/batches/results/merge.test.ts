import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { LossyFileLayer } from '../../../test/support/lossy-file-layer.ts'
import { FolderBlobStore } from '../../storage/blobs/folder-blob-store.ts'
import { emptyUsageSum, usageSumOf } from '../../formats/batch/batch-usage.ts'
import type { MergedIndex } from './merge.ts'
import { mergeSegment, mergedBlockBytes, mergePassBytes } from './merge.ts'
import { decodePart, encodePart } from './parts.ts'
import type { Payloads } from './payloads.ts'
import { createPayloads } from './payloads.ts'
import type { ResultPart } from './part-repository.ts'
import type { SegmentLease } from '../running/segment-repository.ts'

function newPayloads(): Payloads {
  const blobs = new FolderBlobStore('/blobs', { files: new LossyFileLayer() })
  return createPayloads({ blobs, nowMs: () => 1, crash: null })
}

function leaseOf(firstItem: number, itemCount: number): SegmentLease {
  const done = new Uint8Array()
  return {
    batchId: 'batch_1',
    ordinal: 0,
    firstItem,
    itemCount,
    blob: '',
    blobBytes: 0,
    epoch: 1,
    done,
    doneCount: 0,
  }
}

function lineOf(item: number, bytes = 0): Buffer {
  return Buffer.from(`{"item":${item},"pad":"${'x'.repeat(bytes)}"}\n`)
}

async function partOf(payloads: Payloads, items: readonly number[], bytes = 0): Promise<ResultPart> {
  const usage = usageSumOf({ prompt_tokens: 1, completion_tokens: 2, total_tokens: 3, cost: 1e-9 })
  const encoded = encodePart(items.map((item) => ({ item, line: lineOf(item, bytes), usage })))
  const inlineBody = await payloads.compress(encoded)
  const place = { batchId: 'batch_1', segmentOrdinal: 0, sequence: 1, itemCount: items.length }
  return { id: `part_${items[0]}`, ...place, blob: null, inlineBody, bytes: encoded.length }
}

async function merged(
  payloads: Payloads,
  lease: SegmentLease,
  parts: ResultPart[],
): Promise<{ lines: string[]; index: MergedIndex }> {
  const { blob, indexJson } = await mergeSegment(payloads, lease, parts)
  const index = JSON.parse(indexJson) as MergedIndex
  const lines: string[] = []
  for (const { offset, bytes, itemCount } of index.blocks) {
    const block = (await payloads.readBlock(blob, offset, bytes)).toString().split('\n').slice(0, -1)
    expect(block).toHaveLength(itemCount)
    lines.push(...block)
  }
  return { lines, index }
}

test('parts of any items in any order merge into input order, with the usage of all', async () => {
  const payloads = newPayloads()
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 40 }),
      fc.nat({ max: 1000 }),
      fc.infiniteStream(fc.nat({ max: 6 })),
      async (count, first, places) => {
        const groups = new Map<number, number[]>()
        for (let item = first; item < first + count; item++) {
          const place = places.next().value ?? 0
          groups.set(place, [item, ...(groups.get(place) ?? [])])
        }
        const parts = await Promise.all([...groups.values()].map((items) => partOf(payloads, items)))
        const { lines, index } = await merged(payloads, leaseOf(first, count), parts)
        expect(lines).toEqual(
          Array.from({ length: count }, (_, n) =>
            lineOf(first + n)
              .toString()
              .trim(),
          ),
        )
        expect(index.usage.usage).toMatchObject({ prompt_tokens: count, total_tokens: 3 * count })
      },
    ),
    { numRuns: 40 },
  )
})

test('results larger than one pass are merged in several, in blocks a reader can hold', async () => {
  const payloads = newPayloads()
  const bytes = Math.ceil(mergedBlockBytes * 1.1)
  const items = Array.from({ length: 25 }, (_, item) => item)
  const parts = [await partOf(payloads, [24, 0], bytes), await partOf(payloads, items.slice(1, 24), bytes)]
  const { lines, index } = await merged(payloads, leaseOf(0, 25), parts)
  expect(lines.map((line) => (JSON.parse(line) as { item: number }).item)).toEqual(items)
  expect(bytes * 3).toBeLessThan(mergePassBytes)
  expect(index.blocks.every((block) => block.itemCount === 1)).toBe(true)
})

test('a segment with a result missing or doubled is never merged', async () => {
  const payloads = newPayloads()
  const missing = [await partOf(payloads, [0, 2])]
  await expect(mergeSegment(payloads, leaseOf(0, 3), missing)).rejects.toThrow('exactly one result per item')
  const doubled = [await partOf(payloads, [0, 1]), await partOf(payloads, [1])]
  await expect(mergeSegment(payloads, leaseOf(0, 2), doubled)).rejects.toThrow('exactly one result per item')
})

test('a part is read as it was written, sorted', () => {
  const lines = [5, 3].map((item) => ({ item, line: lineOf(item), usage: null }))
  const part = decodePart(encodePart(lines))
  expect(part.items.map(({ item, line }) => [item, line.toString()])).toEqual([
    [3, lineOf(3).toString()],
    [5, lineOf(5).toString()],
  ])
  expect(part.usage).toEqual(emptyUsageSum())
})
