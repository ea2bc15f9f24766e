import type { BoundedBlob } from './bounded-blob.ts'

/** The bytes of the ID3 tag at the beginning of a file; 0 without one. Decoders skip it, whatever it contains. */
export async function leadingTagBytes(blob: BoundedBlob): Promise<number> {
  return Math.min(blob.size, id3TagBytes(await blob.read(0, id3HeadBytes)))
}

/** Bytes that say whether an ID3 tag follows, and how long it is. */
export const id3HeadBytes = 10

/** Bytes of the ID3 tag whose head these bytes begin with; 0 where they begin with none. */
export function id3TagBytes(head: Uint8Array): number {
  if (head.length < id3HeadBytes || head[0] !== 0x49 || head[1] !== 0x44 || head[2] !== 0x33) return 0
  return id3HeadBytes + [6, 7, 8, 9].reduce((sum, at) => sum * 128 + ((head[at] ?? 0) & 0x7f), 0)
}

/** Bytes before the first frame of a FLAC file that begins at `start`: pictures, comments, seek points. */
export async function flacHeadBytes(blob: BoundedBlob, start: number): Promise<number> {
  let offset = start + 4
  for (let blocks = 0; blocks < blocksMax && offset < blob.size; blocks++) {
    const [kind = 0x80, high = 0, middle = 0, low = 0] = await blob.read(offset, offset + 4)
    offset += 4 + high * 65_536 + middle * 256 + low
    if (kind >= 0x80) break
  }
  return Math.min(blob.size, offset) - start
}

/** Bytes of the boxes of an MP4 file that hold media; pictures and tables lie in others. */
export async function mediaBytes(blob: BoundedBlob): Promise<number> {
  let media = 0
  let offset = 0
  for (let boxes = 0; boxes < boxesMax && offset + 8 <= blob.size; boxes++) {
    const head = await blob.read(offset, offset + 16)
    const view = new DataView(head.buffer, head.byteOffset, head.length)
    const isLarge = view.getUint32(0) === 1 && head.length === 16
    const stated = isLarge ? Number(view.getBigUint64(8)) : view.getUint32(0)
    // A length of 0 means: up to the end of the file. A box is never shorter than its own head; where a length says so,
    // nothing tells what the rest of the file is, and it counts as media.
    const bytes = stated < 8 ? blob.size - offset : Math.min(stated, blob.size - offset)
    if (view.getUint32(4) === mdat || stated < 8) media += bytes
    offset += bytes
  }
  // A tag that was not examined counts as media.
  return media + Math.max(0, blob.size - offset)
}

const mdat = 0x6d646174
/** Files have a handful of blocks, and of boxes one or two for every fragment. */
const blocksMax = 256
const boxesMax = 2_000
