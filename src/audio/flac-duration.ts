import { audioReadBytes } from '../core/limits/audio.ts'
import type { BoundedBlob } from './bounded-blob.ts'
import { flacHeadBytes } from './tag-bytes.ts'

/** The position that a frame states for itself. */
interface FlacFrame {
  /** The number of the frame when all frames have one length, otherwise of its first sample. */
  number: number
  samples: number
  isNumbered: boolean
}

/**
 * Seconds of the FLAC stream that begins at `start`, up to the end of its last frame, which states its own position. So
 * a header that was never completed, or that belongs to a longer, truncated file, does not count. The header counts
 * only when there is no such frame.
 */
export async function measureFlac(blob: BoundedBlob, start: number): Promise<number | null> {
  const info = Buffer.from(await blob.read(start + 8, start + 26))
  if (info.length < 18) return null
  const rate = info.readUIntBE(10, 3) >> 4
  if (rate === 0) return null
  const framesAt = start + (await flacHeadBytes(blob, start))
  const samples =
    (await samplesOfFrames(blob, framesAt)) ?? ((info[13] ?? 0) & 15) * 2 ** 32 + info.readUInt32BE(14)
  return samples > 0 ? samples / rate : null
}

async function samplesOfFrames(blob: BoundedBlob, framesAt: number): Promise<number | null> {
  const head = Buffer.from(await blob.read(framesAt, framesAt + headBytesMax))
  const first = readFrame(head, 0)
  if (first === null) return null
  const tail = Buffer.from(await blob.read(Math.max(framesAt, blob.size - audioReadBytes), blob.size))
  for (let at = tail.lastIndexOf(0xff); at >= 0; at = at === 0 ? -1 : tail.lastIndexOf(0xff, at - 1)) {
    // The kind of numbers, the rate and the width of samples are the same in all frames.
    const isAlike =
      tail[at + 1] === head[1] && sameLow(tail[at + 2], head[2]) && sameLow(tail[at + 3], head[3])
    const last = isAlike ? readFrame(tail, at) : null
    if (last === null) continue
    return (last.number - first.number) * (last.isNumbered ? first.samples : 1) + last.samples
  }
  return null
}

function sameLow(one = 0, other = 0): boolean {
  return (one & 15) === (other & 15)
}

/**
 * The longest head of a frame: four bytes, a number of up to seven, two of a length, two of a rate, and its checksum.
 */
const headBytesMax = 16

function readFrame(bytes: Buffer, at: number): FlacFrame | null {
  const [first = 0, second = 0, third = 0] = bytes.subarray(at, at + 3)
  if (first !== 0xff || (second & 0xfe) !== 0xf8) return null
  const number = readNumber(bytes, at + 4)
  if (number === null) return null
  let end = at + 4 + number.bytes
  const sizeCode = third >> 4
  const lengthBytes = lengthCodeBytes[sizeCode] ?? 0
  const rateBytes = rateCodeBytes[third & 15] ?? 0
  if (end + lengthBytes + rateBytes >= bytes.length) return null
  const samples = lengthBytes > 0 ? bytes.readUIntBE(end, lengthBytes) + 1 : blockSamples(sizeCode)
  end += lengthBytes + rateBytes
  if (samples === 0 || checksum(bytes.subarray(at, end)) !== bytes[end]) return null
  return { number: number.value, samples, isNumbered: second === 0xf8 }
}

/** The codes after which the length of a block, or the rate, follows explicitly. */
const lengthCodeBytes: Readonly<Record<number, number>> = { 6: 1, 7: 2 }
const rateCodeBytes: Readonly<Record<number, number>> = { 12: 1, 13: 2, 14: 2 }

function blockSamples(code: number): number {
  if (code >= 8) return 256 << (code - 8)
  if (code >= 2) return 576 << (code - 2)
  return code === 1 ? 192 : 0
}

/** A number in the encoding of UTF-8 characters, extended to seven bytes. */
function readNumber(bytes: Buffer, at: number): { value: number; bytes: number } | null {
  const first = bytes[at] ?? 0xff
  if (first < 0x80) return { value: first, bytes: 1 }
  const length = Math.clz32(~(first << 24))
  if (length < 2 || length > 7) return null
  let value = first & (0xff >> (length + 1))
  for (let index = 1; index < length; index++) {
    const byte = bytes[at + index] ?? 0
    if ((byte & 0xc0) !== 0x80) return null
    value = value * 64 + (byte & 0x3f)
  }
  return { value, bytes: length }
}

/** CRC-8 of the format, with the polynomial x^8 + x^2 + x + 1. */
function checksum(bytes: Uint8Array): number {
  let sum = 0
  for (const byte of bytes) {
    sum ^= byte
    for (let bit = 0; bit < 8; bit++) sum = sum & 0x80 ? ((sum << 1) ^ 7) & 0xff : sum << 1
  }
  return sum
}
