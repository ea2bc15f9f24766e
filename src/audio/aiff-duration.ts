import type { BoundedBlob } from './bounded-blob.ts'

/**
 * Seconds of an AIFF or AIFC file. For plain samples the existing bytes count, so a truncated file is as long as its
 * rest; for compressed samples the stated number counts. Null when the chunks do not tell.
 */
export async function measureAiff(blob: BoundedBlob): Promise<number | null> {
  let sound: { bytesPerSecond: number; statedSeconds: number } | null = null
  let bytes = 0
  let offset = 12
  for (let chunks = 0; chunks < chunksMax; chunks++) {
    const head = Buffer.from(await blob.read(offset, offset + 30))
    if (head.length < 8) break
    const size = head.readUInt32BE(4)
    const name = head.toString('latin1', 0, 4)
    if (name === 'COMM' && head.length >= 26) sound = readCommon(head.subarray(8), size)
    // An offset and a block size stand before the samples.
    if (name === 'SSND') bytes += Math.max(0, Math.min(size, blob.size - offset - 8) - 8)
    offset += 8 + size + (size % 2)
  }
  if (sound === null) return null
  const seconds = sound.bytesPerSecond > 0 ? bytes / sound.bytesPerSecond : sound.statedSeconds
  return seconds > 0 ? seconds : null
}

function readCommon(common: Buffer, size: number): { bytesPerSecond: number; statedSeconds: number } | null {
  const rate = readExtended(common)
  if (!(rate > 0)) return null
  const isPlain = size < 22 || plainCodings.has(common.toString('latin1', 18, 22))
  const width = common.readUInt16BE(0) * Math.ceil(common.readUInt16BE(6) / 8)
  return { bytesPerSecond: isPlain ? width * rate : 0, statedSeconds: common.readUInt32BE(2) / rate }
}

/** The rate is a ten-byte float: sign and exponent in two bytes, the digits in eight. */
function readExtended(common: Buffer): number {
  return common.readUInt32BE(10) * 2 ** ((common.readUInt16BE(8) & 0x7fff) - 16_383 - 31)
}

/** Codings of uncompressed samples, in either byte order, and of floats. */
const plainCodings: ReadonlySet<string> = new Set(['NONE', 'sowt', 'twos', 'fl32', 'FL32', 'fl64', 'FL64'])

/** Files carry a handful of chunks around their samples. */
const chunksMax = 64
