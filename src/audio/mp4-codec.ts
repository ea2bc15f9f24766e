import { aacBlockSamples, aacRates } from './adts-frames.ts'
import type { BoundedBlob } from './bounded-blob.ts'
import { contentOf, type Box } from './mp4-boxes.ts'

/**
 * The duration of each sample of a track, from its description: AAC's blocks have one length, and its decoder
 * configuration names the rate. 0 for other codecs, whose samples differ.
 */
export async function readSampleSeconds(blob: BoundedBlob, description: Box): Promise<number> {
  const content = await contentOf(blob, description, descriptionBytesMax)
  const at = content.indexOf('esds')
  const isAac = content.toString('latin1', 12, 16) === 'mp4a' && at >= 0
  return isAac ? blockSeconds(content.subarray(at + 8)) : 0
}

/** The descriptions of sound are a few hundred bytes, QuickTime's included. */
const descriptionBytesMax = 1_024

/**
 * The channels of a track's samples, from its description; 0 for a track without audio. AAC decoders use the codec's
 * own configuration; many files state two channels elsewhere for mono sound.
 */
export async function readSampleChannels(blob: BoundedBlob, description: Box): Promise<number> {
  const content = await contentOf(blob, description, descriptionBytesMax)
  if (content.length < 34) return 0
  const at = content.indexOf('esds')
  const isAac = content.toString('latin1', 12, 16) === 'mp4a' && at >= 0
  const layout = isAac ? (setupOf(content.subarray(at + 8))?.layout ?? 0) : 0
  if (layout === 0) return content.readUInt16BE(32)
  return layout === 7 ? 8 : layout
}

function blockSeconds(descriptors: Buffer): number {
  const rate = setupOf(descriptors)?.rate ?? 0
  return rate > 0 ? aacBlockSamples / rate : 0
}

/** Nested descriptors: of the stream, of its decoder, and of the decoder's configuration. Null when it is not AAC. */
function setupOf(descriptors: Buffer): { rate: number; layout: number } | null {
  const stream = bodyOf(descriptors, 3)
  // Skips its id, and flags for three members that files do not have.
  const decoder = stream && bodyOf(stream.subarray(3), 4)
  const setup = decoder && bodyOf(decoder.subarray(13), 5)
  if (!decoder || !setup || !aacObjects.has(decoder[0] ?? 0)) return null
  const bits = BigInt(`0x${setup.subarray(0, 8).toString('hex').padEnd(16, '0')}`)
  const take = (from: number, count: number) =>
    Number(BigInt.asUintN(count, bits >> BigInt(64 - from - count)))
  const kind = take(0, 5)
  const isGeneral = (kind >= 1 && kind <= 4) || kind === 5 || kind === 29
  if (!isGeneral) return null
  const index = take(5, 4)
  const isOwnRate = index === 15
  return { rate: isOwnRate ? take(9, 24) : (aacRates[index] ?? 0), layout: take(isOwnRate ? 33 : 9, 4) }
}

/** AAC of MPEG 4, and three profiles of MPEG 2's. */
const aacObjects: ReadonlySet<number> = new Set([0x40, 0x66, 0x67, 0x68])

/** The content of a descriptor of that kind; its length stands before it in up to four bytes of seven bits each. */
function bodyOf(bytes: Buffer, tag: number): Buffer | null {
  if (bytes[0] !== tag) return null
  let length = 0
  for (let at = 1; at <= 4; at++) {
    const byte = bytes[at] ?? 0
    length = length * 128 + (byte & 0x7f)
    if (byte < 0x80) return bytes.subarray(at + 1, at + 1 + length)
  }
  return null
}
