import { hasBit } from '../results/bitmap.ts'
import { memberBytes } from '../ingest/json-walk.ts'
import type { Payloads } from '../results/payload-repository.ts'
import type { SegmentLease } from './segment-repository.ts'

/** One item of a segment that has no result yet. */
export interface OpenItem {
  /** Place in the segment, from 0. */
  index: number
  /** Place in the batch, from 0. */
  item: number
  line: Buffer
}

/** What an item's line says. */
export interface ItemInput {
  customId: string
  /** Null when the item was too large to be kept. */
  body: Buffer | null
}

/** The unfinished items of a segment, in input order. They share the memory of the decompressed segment. */
export async function readOpenItems(payloads: Payloads, lease: SegmentLease): Promise<OpenItem[]> {
  const content = await payloads.read(lease.blob)
  const open: OpenItem[] = []
  let start = 0
  for (let index = 0; index < lease.itemCount; index++) {
    const end = content.indexOf(0x0a, start)
    if (!hasBit(lease.done, index))
      open.push({ index, item: lease.firstItem + index, line: content.subarray(start, end) })
    start = end + 1
  }
  return open
}

/** Reads an item's line as ingest wrote it. */
export function readInput(line: Buffer): ItemInput {
  const customId = memberBytes(line, 'custom_id')
  return {
    customId: JSON.parse(customId?.toString('utf8') ?? '""') as string,
    body: memberBytes(line, 'body'),
  }
}
