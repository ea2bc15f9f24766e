import { audioReadBytes } from '../core/limits/audio.ts'
import type { BoundedBlob } from './bounded-blob.ts'

/**
 * Seconds of an Ogg file with Opus, Vorbis, FLAC or Speex: the position of its last complete page, divided by the rate
 * in the first page. Two reads, whatever the length.
 */
export async function measureOgg(blob: BoundedBlob): Promise<number | null> {
  const head = Buffer.from(await blob.read(0, 256))
  const clock = readClock(head)
  if (clock === null) return null
  const tail = Buffer.from(await blob.read(Math.max(0, blob.size - audioReadBytes), blob.size))
  const serial = head.subarray(14, 18)
  for (let at = tail.lastIndexOf('OggS'); at >= 0; at = at === 0 ? -1 : tail.lastIndexOf('OggS', at - 1)) {
    if (!isWholePage(tail, at) || !tail.subarray(at + 14, at + 18).equals(serial)) continue
    const position = tail.readBigInt64LE(at + 6)
    if (position > 0n) return Math.max(0, Number(position) - clock.skip) / clock.rate
  }
  return null
}

/** An incomplete page at the end is not played. */
function isWholePage(tail: Buffer, at: number): boolean {
  const lacings = tail.subarray(at + 27, at + 27 + (tail[at + 26] ?? 0))
  return at + 27 + lacings.reduce((sum, bytes) => sum + bytes, lacings.length) <= tail.length
}

function readClock(head: Buffer): { rate: number; skip: number } | null {
  const opus = head.indexOf('OpusHead')
  // Opus positions count at 48 kHz whatever the input was.
  if (opus >= 0 && opus + 12 <= head.length) return { rate: 48_000, skip: head.readUInt16LE(opus + 10) }
  const rate = vorbisRate(head) ?? flacRate(head) ?? speexRate(head) ?? 0
  return rate > 0 ? { rate, skip: 0 } : null
}

function vorbisRate(head: Buffer): number | null {
  const at = head.indexOf('\x01vorbis', 0, 'latin1')
  return at < 0 || at + 16 > head.length ? null : head.readUInt32LE(at + 12)
}

/** The mapping's own header of 13 bytes, a block header of 4, and the rate in the 20 bits after 10 bytes of the block. */
function flacRate(head: Buffer): number | null {
  const at = head.indexOf('\x7fFLAC', 0, 'latin1')
  return at < 0 || at + 30 > head.length ? null : head.readUIntBE(at + 27, 3) >> 4
}

function speexRate(head: Buffer): number | null {
  const at = head.indexOf('Speex   ')
  return at < 0 || at + 40 > head.length ? null : head.readUInt32LE(at + 36)
}
