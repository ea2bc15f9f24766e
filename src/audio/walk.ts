import { durationWalkBytes } from '../core/limits.ts'
import type { BoundedBlob } from './bounded-blob.ts'
import { readFrame } from './mpeg-frames.ts'

/** What was heard on a way through the bytes of a file. */
export interface Walk {
  milliseconds: number
  /** How far it came, from where it began. */
  bytes: number
}

/** How much of `window`, from `at` on, is one piece of the stream; null when no piece begins there. */
type ReadPiece = (window: Uint8Array, at: number) => { bytes: number; milliseconds: number } | null

/** Adds up the frames of MPEG audio from `start`, whatever a header says of their number. At most `bytesMax` bytes. */
export function walkMpeg(blob: BoundedBlob, start: number, bytesMax: number): Promise<Walk> {
  return walk(blob, { start, bytesMax, headBytesMax: 4, read: readFrame })
}

/** Adds up the packets of an Ogg file's Opus stream, whatever its pages say of their positions. At most `bytesMax` bytes. */
export function walkOpus(blob: BoundedBlob, serial: Uint8Array, bytesMax: number): Promise<Walk> {
  const read: ReadPiece = (window, at) => readOpusPage(window, at, serial)
  return walk(blob, { start: 0, bytesMax, headBytesMax: oggPageBytesMax, read })
}

/** A page as large as one can be: its head, 255 lacing values, 255 bytes each. */
const oggPageBytesMax = 27 + 255 + 255 * 255

async function walk(
  blob: BoundedBlob,
  options: { start: number; bytesMax: number; headBytesMax: number; read: ReadPiece },
): Promise<Walk> {
  const { start, headBytesMax, read } = options
  const end = Math.min(blob.size, start + options.bytesMax)
  let milliseconds = 0
  let offset = start
  while (offset < end) {
    const window = await blob.read(offset, offset + durationWalkBytes + headBytesMax)
    // Whatever a piece needs is in the window, except near its end, where the next window begins.
    const last = offset + window.length >= blob.size ? window.length : window.length - headBytesMax
    let at = 0
    while (at < Math.max(1, last)) {
      const piece = read(window, at)
      milliseconds += piece?.milliseconds ?? 0
      at += piece?.bytes ?? 1
    }
    offset += at
  }
  return { milliseconds, bytes: Math.min(offset, blob.size) - start }
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

/** How long an Opus packet sounds, by its first two bytes (RFC 6716, section 3.1); the two header packets do not. */
function opusMilliseconds(bytes: Uint8Array, at: number): number {
  const first = bytes[at] ?? 0
  if (first === 0x4f && bytes[at + 1] === 0x70 && bytes[at + 2] === 0x75 && bytes[at + 3] === 0x73) return 0
  const frame = opusFrameMs(first >> 3)
  const code = first & 3
  if (code === 3) return Math.min(120, frame * ((bytes[at + 1] ?? 0) & 63))
  return code === 0 ? frame : 2 * frame
}

/** Speech has long frames, music short ones, and between them lies a mixture. */
function opusFrameMs(config: number): number {
  if (config < 12) return silkMs[config & 3] ?? 0
  return config < 16 ? 10 << (config & 1) : 2.5 * 2 ** (config & 3)
}

const silkMs: readonly number[] = [10, 20, 40, 60]
