import type { BoundedBlob } from './bounded-blob.ts'

/** A box of an MP4 file: its four-letter type and the place of its content. */
export interface Box {
  type: string
  start: number
  /** At most the end of the enclosing box. */
  end: number
  /** The missing bytes of its stated size; above zero in a truncated file. */
  missing: number
}

/** The boxes of that kind in a part of the file, or all boxes. Stops at bytes that are not a box. */
export async function* boxesIn(
  blob: BoundedBlob,
  within: Pick<Box, 'start' | 'end'>,
  wanted?: string,
): AsyncGenerator<Box> {
  for (let offset = within.start; offset + 8 <= within.end;) {
    const head = Buffer.from(await blob.read(offset, offset + 16))
    if (head.length < 8) return
    const stated = head.readUInt32BE(0)
    const isLong = stated === 1 && head.length === 16
    const headBytes = isLong ? 16 : 8
    // A size of 0 means the rest.
    const size = isLong ? Number(head.readBigUInt64BE(8)) : stated || within.end - offset
    if (size < headBytes) return
    const type = head.toString('latin1', 4, 8)
    const end = Math.min(offset + size, within.end)
    if (wanted === undefined || type === wanted)
      yield { type, start: offset + headBytes, end, missing: offset + size - end }
    offset += size
  }
}

/** The first bytes of a box, at most `bytesMax`; fewer where it ends. */
export async function contentOf(blob: BoundedBlob, { start, end }: Box, bytesMax: number): Promise<Buffer> {
  return Buffer.from(await blob.read(start, Math.max(start, Math.min(end, start + bytesMax))))
}

/** The four-byte number at this place; 0 when bytes are missing. */
export function numberAt(content: Buffer, at: number): number {
  return content.length < at + 4 ? 0 : content.readUInt32BE(at)
}
