import { mpegSearchBytesMax } from '../core/limits/audio.ts'
import { id3HeadBytes, id3TagBytes } from './tag-bytes.ts'

/** Kilobits per second by their index, for layers III, II and I. MPEG 2.5 has those of MPEG 2. */
const bitRates1: readonly (readonly number[])[] = [
  [],
  [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  [0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384],
  [0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448],
]
const bitRates2: readonly (readonly number[])[] = [
  [],
  [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
  [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
  [0, 32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256],
]
/** MPEG 1 has these rates, MPEG 2 half of them, MPEG 2.5 a quarter. */
const rateShifts: readonly number[] = [2, 0, 1, 0]
const sampleRates: readonly number[] = [44_100, 48_000, 32_000]

const headBytes = 4

/** Detects the first complete MPEG audio frame; a leading ID3 tag of any length is skipped. */
export class MpegFrameDetector {
  hasFrame = false
  #window: Uint8Array = new Uint8Array(0)
  #tagLeft = 0
  #isTagRead = false
  #searched = 0

  push(chunk: Uint8Array): void {
    if (this.hasFrame || this.#searched > mpegSearchBytesMax) return
    const skipped = Math.min(this.#tagLeft, chunk.length)
    this.#tagLeft -= skipped
    this.#window = Buffer.concat([this.#window, chunk.subarray(skipped)])
    if (this.#tagLeft > 0) return
    if (!this.#isTagRead && !this.#readTag()) return
    this.#search()
  }

  /** False while more bytes are needed to know whether a tag leads. */
  #readTag(): boolean {
    const window = this.#window
    if (window.length < id3HeadBytes) return false
    this.#isTagRead = true
    const size = id3TagBytes(window)
    if (size === 0) return true
    this.#tagLeft = Math.max(0, size - window.length)
    this.#window = window.subarray(size)
    return this.#tagLeft === 0
  }

  #search(): void {
    const window = this.#window
    let at = 0
    for (; at + headBytes <= window.length; at++) {
      const frame = readMpegFrame(window, at)
      if (frame === null) continue
      // In arbitrary bytes something looks like a header every few kilobytes, so a header that is not first must be
      // followed by another.
      const isFirst = this.#searched + at === 0
      const end = at + frame.bytes
      if (window.length < end + (isFirst ? 0 : headBytes)) break
      this.hasFrame = isFirst || readMpegFrame(window, end)?.kind === frame.kind
      if (this.hasFrame) break
    }
    this.#searched += at
    // A copy without the searched bytes, so that no chunk is kept alive.
    this.#window = this.hasFrame ? new Uint8Array(0) : new Uint8Array(this.#window.subarray(at))
  }
}

/** A frame of coded sound: its bytes, header included, and its duration. */
export interface SoundFrame {
  bytes: number
  milliseconds: number
  /** Equal for all frames of one stream. */
  kind: number
}

/** The frame of MPEG audio whose header lies at `at`, or null when there is no valid header. */
export function readMpegFrame(bytes: Uint8Array, at: number): SoundFrame | null {
  const second = bytes[at + 1] ?? 0
  const third = bytes[at + 2] ?? 0
  if (bytes[at] !== 0xff || (second & 0xe0) !== 0xe0) return null
  const version = (second >> 3) & 3
  const layer = (second >> 1) & 3
  const rateIndex = (third >> 2) & 3
  const bitRate = (version === 3 ? bitRates1 : bitRates2)[layer]?.[third >> 4] ?? 0
  if (version === 1 || layer === 0 || rateIndex === 3 || bitRate === 0) return null
  const shift = rateShifts[version] ?? 0
  const sampleRate = (sampleRates[rateIndex] ?? 0) >> shift
  const padding = (third >> 1) & 1
  const kind = (second & 0x1e) * 256 + (third & 0x0c)
  if (layer === 3) {
    const length = (Math.floor((12_000 * bitRate) / sampleRate) + padding) * 4
    return { bytes: length, milliseconds: 384_000 / sampleRate, kind }
  }
  const samplesOver8 = layer === 1 && version !== 3 ? 72 : 144
  const length = Math.floor((samplesOver8 * 1_000 * bitRate) / sampleRate) + padding
  return { bytes: length, milliseconds: (samplesOver8 * 8_000) / sampleRate, kind }
}
