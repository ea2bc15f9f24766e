import { nextTurn } from '../core/turns.ts'
import type { BoundedBlob } from './bounded-blob.ts'
import { opusMilliseconds } from './opus-packets.ts'

/** Bytes of frames that are added up in one turn of the event loop, which takes a few milliseconds. */
const durationWalkBytes = 262_144
/** Frames and other pieces of one file that are walked: twelve hours of frames. Bytes that only look like so many pieces cost half a second. */
const durationPiecesMax = 2_000_000
const durationPiecesAtOnce = 8_192

/** The sound that was found on a walk through the bytes of a file. */
export interface Walk {
  milliseconds: number
  /** How far it came, from where it began. */
  bytes: number
}

/**
 * How much of `window`, from `at` on, is one piece of the stream, which may end beyond the window; null when no piece
 * begins there. Asked in the order of the stream, each piece once.
 */
export type ReadPiece = (window: Uint8Array, at: number) => { bytes: number; milliseconds: number } | null

/** Adds up the packets of an Ogg file's Opus stream, whatever its pages say of their positions. At most `bytesMax` bytes. */
export function walkOpus(blob: BoundedBlob, serial: Uint8Array, bytesMax: number): Promise<Walk> {
  const read: ReadPiece = (window, at) => readOpusPage(window, at, serial)
  return walk(blob, { start: 0, bytesMax, headBytesMax: oggPageBytesMax, read })
}

/** A page as large as one can be: its head, 255 lacing values, 255 bytes each. */
const oggPageBytesMax = 27 + 255 + 255 * 255

/**
 * Adds up the pieces of a file from `start` on, at most `bytesMax` bytes of it. Whatever `read` looks at for one piece
 * lies within `headBytesMax`.
 */
export async function walk(
  blob: BoundedBlob,
  options: { start: number; bytesMax: number; headBytesMax: number; read: ReadPiece },
): Promise<Walk> {
  const { start, headBytesMax, read } = options
  const end = Math.min(blob.size, start + options.bytesMax)
  let milliseconds = 0
  let offset = start
  let pieces = 0
  while (offset < end && pieces < durationPiecesMax) {
    const window = await blob.read(offset, offset + durationWalkBytes + headBytesMax)
    // Whatever a piece needs is in the window, except near its end, where the next window begins.
    const last = offset + window.length >= blob.size ? window.length : window.length - headBytesMax
    let at = 0
    while (at < Math.max(1, last)) {
      const piece = read(window, at)
      milliseconds += piece?.milliseconds ?? 0
      at += piece?.bytes ?? 1
      pieces += 1
      if (pieces % durationPiecesAtOnce === 0) await nextTurn()
    }
    offset += at
  }
  return { milliseconds, bytes: Math.max(0, Math.min(offset, blob.size) - start) }
}

function readOpusPage(window: Uint8Array, at: number, serial: Uint8Array): ReturnType<ReadPiece> {
  const isPage = window[at] === 0x4f && window[at + 1] === 0x67 && window[at + 2] === 0x67
  if (!isPage || window[at + 3] !== 0x53 || at + 27 > window.length) return null
  const lacings = window[at + 26] ?? 0
  const isOurs = serial.every((byte, index) => window[at + 14 + index] === byte)
  let body = at + 27 + lacings
  // A packet that goes on from the page before was counted there.
  let isBeginning = ((window[at + 5] ?? 0) & 1) === 0
  let milliseconds = 0
  for (let index = 0; index < lacings; index++) {
    const lacing = window[at + 27 + index] ?? 0
    if (isBeginning && isOurs && lacing > 0) milliseconds += opusMilliseconds(window, body)
    isBeginning = lacing < 255
    body += lacing
  }
  return { bytes: body - at, milliseconds }
}
