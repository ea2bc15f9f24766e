import { readMpegFrame } from './mpeg-frames.ts'
import { id3TagBytes } from './tag-bytes.ts'

/** What a stream's silent first frame states about the samples that a decoder returns. */
export interface Mp3Info {
  /** The number of samples before the source's first one. */
  leadSamples: number
  /** The number of the source's samples, and the most that follow them; null when the encoder did not know. */
  source: { samples: number; tailSamples: number } | null
}

/** The delay in samples of every layer III decoder. */
const decoderDelay = 529

/** Header, checksum, side information, counts with their table, and the encoder's fields up to its delays. */
const infoBytes = 4 + 2 + 32 + 120 + 24

/** Reads the first frame's facts, after tags of any length. Pass every piece until it is done. */
export class Mp3InfoReader {
  /** Null when the first frame states nothing, and until that frame has come. */
  info: Mp3Info | null = null
  #isDone = false
  #head: Buffer = Buffer.alloc(0)
  #skip = 0

  push(chunk: Uint8Array): void {
    if (this.#isDone) return
    const skipped = Math.min(this.#skip, chunk.length)
    this.#skip -= skipped
    this.#head = Buffer.concat([this.#head, chunk.subarray(skipped)])
    for (let tagBytes = id3TagBytes(this.#head); tagBytes > 0; tagBytes = id3TagBytes(this.#head)) {
      this.#skip += Math.max(0, tagBytes - this.#head.length)
      this.#head = this.#head.subarray(tagBytes)
    }
    if (this.#skip > 0 || this.#head.length < infoBytes) return
    this.#isDone = true
    this.info = readMp3Info(this.#head)
    this.#head = Buffer.alloc(0)
  }
}

/** The facts in the frame at the beginning of these bytes; null for a frame of sound, and for other bytes. */
function readMp3Info(frame: Buffer): Mp3Info | null {
  if (readMpegFrame(frame, 0) === null) return null
  const second = frame.readUInt8(1)
  const isMpeg1 = (second & 0x18) === 0x18
  const isMono = frame.readUInt8(3) >> 6 === 3
  const isChecked = (second & 1) === 0
  const [monoBytes, stereoBytes] = isMpeg1 ? [17, 32] : [9, 17]
  const sideBytes = isMono ? monoBytes : stereoBytes
  const tag = 4 + sideBytes + (isChecked ? 2 : 0)
  if (!/^(?:Xing|Info)$/.test(frame.toString('latin1', tag, tag + 4))) return null
  const flags = frame.readUInt32BE(tag + 4)
  // The counts of frames and bytes, a table of a hundred bytes, and a quality; each exists when its bit is set.
  const frames = flags & 1 ? frame.readUInt32BE(tag + 8) : 0
  const encoder =
    tag + 8 + (flags & 1 ? 4 : 0) + (flags & 2 ? 4 : 0) + (flags & 4 ? 100 : 0) + (flags & 8 ? 4 : 0)
  if (frame.readUInt8(encoder) === 0) return null
  const delays = frame.readUIntBE(encoder + 21, 3)
  const delay = delays >> 12
  const padding = delays & 0xfff
  const samples = frames * (isMpeg1 ? 1152 : 576) - delay - padding
  const tailSamples = Math.max(0, padding - decoderDelay)
  return { leadSamples: delay + decoderDelay, source: samples > 0 ? { samples, tailSamples } : null }
}
