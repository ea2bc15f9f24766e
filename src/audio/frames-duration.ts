import { durationWalkBytesMax } from '../core/limits/audio.ts'
import type { BoundedBlob } from './bounded-blob.ts'
import { readAdtsFrame } from './adts-frames.ts'
import { readMpegFrame, type SoundFrame } from './mpeg-frames.ts'
import { walk, type ReadPiece } from './walk.ts'

/** The frame whose header lies at that place, or null. */
type ReadFrame = (bytes: Uint8Array, at: number) => SoundFrame | null

/** Seconds of MPEG audio of any version and layer, from `start` on: the sum of its frames. Null when it has none. */
export function measureMpeg(blob: BoundedBlob, start: number): Promise<number | null> {
  return measureFrames(blob, start, rememberFrames())
}

/**
 * Caches frames by header: nearly all frames of a file have one of a few headers, and an hour has a hundred thousand
 * frames.
 */
function rememberFrames(): ReadFrame {
  const known = new Map<number, SoundFrame | null>()
  return (bytes, at) => {
    if (bytes[at] !== 0xff) return null
    const head = (bytes[at + 1] ?? 0) * 256 + (bytes[at + 2] ?? 0)
    const found = known.get(head)
    if (found !== undefined) return found
    const frame = readMpegFrame(bytes, at)
    known.set(head, frame)
    return frame
  }
}

/** Seconds of AAC in ADTS frames, from `start` on. Null when it has none. */
export function measureAdts(blob: BoundedBlob, start: number): Promise<number | null> {
  return measureFrames(blob, start, readAdtsFrame)
}

/**
 * Frame counts in headers and tables are ignored, because decoders play the frames that exist. With a false count hours
 * could be billed as a second; with a true one a truncated file would be billed as a whole one.
 */
async function measureFrames(blob: BoundedBlob, start: number, read: ReadFrame): Promise<number | null> {
  const frames = new FrameReader(read)
  const way = await walk(blob, {
    start,
    bytesMax: durationWalkBytesMax,
    headBytesMax: frameBytesMax,
    read: frames.read,
  })
  const milliseconds = way.milliseconds + frames.scatteredMilliseconds
  // The walk ended at its bound; the rest of the file is assumed to sound like the part before.
  return milliseconds > 0 ? (milliseconds * (blob.size - start)) / way.bytes / 1000 : null
}

/** The longest frame, with a 13-bit length in ADTS, and the head of the next one. */
const frameBytesMax = 8_192 + 8

/**
 * Finds frames among tags, pictures and garbage. In arbitrary bytes something looks like a header every few kilobytes,
 * so a frame counts only when it follows another frame or a similar one follows it.
 */
class FrameReader {
  readonly #read: ReadFrame
  /** The kind of the frame that ended right before the current position; 0 for none. */
  #kind = 0
  #isFirst = true
  #otherBytes = 0
  /** Frames that are not followed directly by another one. */
  readonly #scattered = { bytes: 0, milliseconds: 0, left: 0 }

  constructor(read: ReadFrame) {
    this.#read = read
  }

  readonly read: ReadPiece = (window, at) => {
    const frame = this.#read(window, at)
    if (frame === null || !this.#isOneOfMany(window, at, frame)) {
      this.#kind = 0
      return this.#skip(window, at, frame)
    }
    this.#kind = frame.kind
    const isTable = this.#isFirst && isFrameTable(window.subarray(at, at + frame.bytes))
    this.#isFirst = false
    return isTable ? { bytes: frame.bytes, milliseconds: 0 } : frame
  }

  /** A file could hide its sound with one byte between any two frames, so many separate frames count too. */
  get scatteredMilliseconds(): number {
    const { bytes, milliseconds } = this.#scattered
    return bytes * 2 > this.#otherBytes ? milliseconds : 0
  }

  #isOneOfMany(window: Uint8Array, at: number, frame: SoundFrame): boolean {
    if (frame.kind === this.#kind) return true
    const end = at + frame.bytes
    return end === window.length || this.#read(window, end)?.kind === frame.kind || isTail(window, end)
  }

  #skip(window: Uint8Array, at: number, frame: SoundFrame | null): ReturnType<ReadPiece> {
    const scattered = this.#scattered
    if (frame !== null && scattered.left <= 0) {
      scattered.bytes += frame.bytes
      scattered.milliseconds += frame.milliseconds
      scattered.left = frame.bytes
    }
    const next = window.indexOf(0xff, at + 1)
    const bytes = (next < 0 ? window.length : next) - at
    this.#otherBytes += bytes
    scattered.left -= bytes
    return { bytes, milliseconds: 0 }
  }
}

/**
 * The first frame of many files is silent and holds the length of the others; it is known by the names of three
 * encoders' tables.
 */
function isFrameTable(frame: Uint8Array): boolean {
  const head = Buffer.from(frame.subarray(4, 44)).toString('latin1')
  return /Xing|Info|VBRI/.test(head)
}

/** After the last frame: an ID3v1, an APE or a lyrics tag. */
function isTail(window: Uint8Array, at: number): boolean {
  return /^(TAG|APE|LYR)/.test(Buffer.from(window.subarray(at, at + 3)).toString('latin1'))
}
