import { assert } from '../../core/assert.ts'
import type { UsageSum } from '../../formats/batch/batch-usage.ts'
import { addUsage, emptyUsageSum } from '../../formats/batch/batch-usage.ts'

/**
 * A part: some items' results, in input order, written once. Its bytes are one line of JSON, the header, and one line
 * per result. The header lists the items, so that a reader can find one without parsing the lines.
 */
interface PartHeader {
  /** For each item: its place in the batch, and the bytes of its line including the newline. */
  items: [item: number, bytes: number][]
  usage: UsageSum
}

/** One finished item's line, as it will appear in `results`, newline included. */
export interface ResultLine {
  /** Place in the batch, from 0. */
  item: number
  line: Buffer
  usage: UsageSum | null
}

/** A decoded part. Its lines share memory with the part's bytes. */
export interface ReadPart {
  usage: UsageSum
  items: { item: number; line: Buffer }[]
  /** All lines, one after the other. */
  lines: Buffer
}

/** The bytes of a part; sorts the lines. */
export function encodePart(lines: readonly ResultLine[]): Buffer {
  const sorted = lines.toSorted((left, right) => left.item - right.item)
  let usage = emptyUsageSum()
  for (const line of sorted) if (line.usage) usage = addUsage(usage, line.usage)
  const header: PartHeader = { items: sorted.map(({ item, line }) => [item, line.length]), usage }
  return Buffer.concat([Buffer.from(`${JSON.stringify(header)}\n`), ...sorted.map(({ line }) => line)])
}

/** The inverse of `encodePart`. */
export function decodePart(bytes: Buffer): ReadPart {
  const headerEnd = bytes.indexOf(0x0a)
  assert(headerEnd > 0, 'a part begins with its header')
  const header = JSON.parse(bytes.toString('utf8', 0, headerEnd)) as PartHeader
  const lines = bytes.subarray(headerEnd + 1)
  let offset = 0
  const items = header.items.map(([item, length]) => {
    const line = lines.subarray(offset, offset + length)
    offset += length
    return { item, line }
  })
  assert(offset === lines.length, 'a part has exactly the lines its header lists')
  return { usage: header.usage, items, lines }
}
