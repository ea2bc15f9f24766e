import { hasBit } from '../results/bitmap.ts'
import type { Payloads } from '../results/payloads.ts'
import type { SegmentLease } from './segment-repository.ts'

/** One item of a segment that has no result yet. */
export interface OpenItem {
  /** Place in the segment, from 0. */
  index: number
  /** Place in the batch, from 0. */
  item: number
  line: Buffer
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
