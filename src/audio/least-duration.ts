import { audioHeadBytes, durationWalkBytesMax } from '../core/limits/audio.ts'
import type { BoundedBlob } from './bounded-blob.ts'
import { flacHeadBytes, mediaBytes } from './tag-bytes.ts'
import { walkOpus, type Walk } from './walk.ts'

/** The shortest possible time of the audio, whatever its header states. */
export interface LeastDuration {
  milliseconds: number
  /** Whether it was added up from the sound itself rather than derived from the size; it is then reliable. */
  isHeard: boolean
}

/** The highest bit rates of codecs whose packets cannot be added up, when nothing closer is known. */
const lossyOggBitsMax = 2_000_000
const compressedBitsMax = 1_200_000
const losslessBitsMax = 20_000_000
const videoBitsMax = 60_000_000
/** Small tags and tables that are not searched for. */
const otherBytesMax = 65_536

/**
 * The stated length is a few bytes of a header that no decoder uses: with false ones, hours could be billed as a
 * second. When packets state their own duration, they are added up. Otherwise the sound takes at least its bytes at the
 * codec's highest rate; pictures and other tags take no time. 0 when nothing is known, and for frames, which were added
 * up before.
 */
export async function leastDuration(
  format: string,
  blob: BoundedBlob,
  start: number,
): Promise<LeastDuration> {
  if (format === 'flac') {
    const frames = start + (await flacHeadBytes(blob, start))
    return bySize(blob.size - frames, await flacBits(blob, start, frames))
  }
  if (format === 'm4a') return bySize(await mediaBytes(blob), await boxedBits(blob))
  if (format === 'webm') return bySize(blob.size, await boxedBits(blob))
  if (format === 'ogg') return leastOgg(blob)
  return { milliseconds: 0, isHeard: false }
}

async function leastOgg(blob: BoundedBlob): Promise<LeastDuration> {
  const head = Buffer.from(await blob.read(0, audioHeadBytes))
  if (head.includes('OpusHead'))
    return heard(await walkOpus(blob, head.subarray(14, 18), durationWalkBytesMax), blob.size)
  return bySize(blob.size, head.includes('\x7fFLAC', 0, 'latin1') ? losslessBitsMax : lossyOggBitsMax)
}

/** The walk ended at its bound; the rest of the file is assumed to be like the part before. */
function heard({ milliseconds, bytes }: Walk, wholeBytes: number): LeastDuration {
  return { milliseconds: bytes === 0 ? 0 : (milliseconds * wholeBytes) / bytes, isHeard: true }
}

function bySize(bytes: number, bitsPerSecond: number): LeastDuration {
  return { milliseconds: (Math.max(0, bytes - otherBytesMax) * 8_000) / bitsPerSecond, isHeard: false }
}

/** Bits per second before compression, from the first frame, or from the header when the frame refers to it. */
async function flacBits(blob: BoundedBlob, start: number, frames: number): Promise<number> {
  const info = await blob.read(start + 18, start + 22)
  const frame = await blob.read(frames, frames + 4)
  const [high = 0, middle = 0, third = 0, fourth = 0] = info
  const [, , sizes = 0, kinds = 0] = frame
  const rate = flacRates[sizes & 15] ?? (high << 12) | (middle << 4) | (third >> 4)
  const isOwnChannels = frame[0] === 0xff
  const channels = isOwnChannels ? flacChannels(kinds >> 4) : ((third >> 1) & 7) + 1
  const bits = flacSizes[(kinds >> 1) & 7] ?? (((third & 1) << 4) | (fourth >> 4)) + 1
  const raw = rate * channels * bits
  // Frames of noise are slightly larger than their samples.
  return raw === 0 ? losslessBitsMax : Math.min(losslessBitsMax, raw * 1.1)
}

function flacChannels(assignment: number): number {
  return assignment < 8 ? assignment + 1 : 2
}

const flacRates: Readonly<Record<number, number>> = {
  1: 88_200,
  2: 176_400,
  3: 192_000,
  4: 8_000,
  5: 16_000,
  6: 22_050,
  7: 24_000,
  8: 32_000,
  9: 44_100,
  10: 48_000,
  11: 96_000,
}
const flacSizes: Readonly<Record<number, number>> = { 1: 8, 2: 12, 4: 16, 5: 20, 6: 24, 7: 32 }

/** Uses the names of codecs and of track kinds, which lie near the beginning or the end of MP4 and WebM files. */
async function boxedBits(blob: BoundedBlob): Promise<number> {
  const tailAt = Math.max(0, blob.size - boxedLookBytes)
  const ends = [await blob.read(0, boxedLookBytes), await blob.read(tailAt, blob.size)].map((bytes) =>
    Buffer.from(bytes),
  )
  const has = (names: readonly string[]) => ends.some((bytes) => names.some((name) => bytes.includes(name)))
  if (has(['vmhd', 'V_'])) return videoBitsMax
  return has(['alac', 'fLaC', 'lpcm', 'sowt', 'twos', 'A_FLAC', 'A_PCM', 'A_ALAC'])
    ? losslessBitsMax
    : compressedBitsMax
}

/** Enough for the head of any table of tracks. */
const boxedLookBytes = 32_768
