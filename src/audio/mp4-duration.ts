import type { BoundedBlob } from './bounded-blob.ts'

/** A box of the file: its four letters and where its content lies. */
interface Box {
  type: string
  start: number
  end: number
}

/**
 * Seconds of the longest sound track of a QuickTime or MP4 file, by the table of its samples, which decoders go by too.
 * Null when no track has sound, and when the table is empty: a file in fragments tells its length in them.
 */
export async function measureMp4(blob: BoundedBlob): Promise<number | null> {
  let longest = 0
  for await (const movie of boxesIn(blob, { start: 0, end: blob.size }, 'moov')) {
    for await (const track of boxesIn(blob, movie, 'trak')) {
      for await (const media of boxesIn(blob, track, 'mdia'))
        longest = Math.max(longest, await soundSeconds(blob, media))
    }
  }
  return longest > 0 ? longest : null
}

/** 0 for a picture, and for a length that is not told. */
async function soundSeconds(blob: BoundedBlob, media: Box): Promise<number> {
  let isSound = false
  let scale = 0
  let units = 0
  // QuickTime has a second handler further in, for where the data lies; it says nothing about the kind of track.
  for await (const box of boxesIn(blob, media)) {
    if (box.type === 'hdlr') isSound = (await contentOf(blob, box)).toString('latin1', 8, 12) === 'soun'
    if (box.type === 'mdhd') scale = timeScale(await contentOf(blob, box))
    if (box.type === 'minf') units = await sampleUnits(blob, box)
  }
  return isSound && scale > 0 ? units / scale : 0
}

const contentBytes = 24

async function contentOf(blob: BoundedBlob, { start, end }: Box): Promise<Buffer> {
  return Buffer.from(await blob.read(start, Math.max(start, Math.min(end, start + contentBytes))))
}

/** Units in a second; the long form of the header has dates of eight bytes before it. */
function timeScale(content: Buffer): number {
  const at = content[0] === 1 ? 20 : 12
  return content.length < at + 4 ? 0 : content.readUInt32BE(at)
}

/** The sum of all samples' lengths. */
async function sampleUnits(blob: BoundedBlob, info: Box): Promise<number> {
  let units = 0
  for await (const tables of boxesIn(blob, info, 'stbl')) {
    for await (const table of boxesIn(blob, tables, 'stts')) units += await tableUnits(blob, table)
  }
  return units
}

/** After a version and a number, each entry is a count of samples and their length. */
async function tableUnits(blob: BoundedBlob, { start, end }: Box): Promise<number> {
  let units = 0
  for (let at = start + 8; at + 8 <= Math.min(end, blob.size); at += 8) {
    const entry = Buffer.from(await blob.read(at, at + 8))
    units += entry.readUInt32BE(0) * entry.readUInt32BE(4)
  }
  return units
}

/** The boxes of that kind in a part of the file, or all of them. Stops at what is no box. */
async function* boxesIn(
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
    if (wanted === undefined || type === wanted) yield { type, start: offset + headBytes, end }
    offset += size
  }
}
