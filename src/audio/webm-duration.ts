import { durationTracksMax, durationWalkBytesMax } from '../core/limits/audio.ts'
import type { BoundedBlob } from './bounded-blob.ts'
import { opusMilliseconds } from './opus-packets.ts'
import { walk, type ReadPiece } from './walk.ts'

const id = {
  segment: 0x18538067,
  info: 0x1549a966,
  timecodeScale: 0x2ad7b1,
  duration: 0x4489,
  tracks: 0x1654ae6b,
  track: 0xae,
  trackNumber: 0xd7,
  trackType: 0x83,
  codec: 0x86,
  cluster: 0x1f43b675,
  timecode: 0xe7,
  blockGroup: 0xa0,
  block: 0xa1,
  simpleBlock: 0xa3,
} as const

const parents: ReadonlySet<number> = new Set([
  id.segment,
  id.info,
  id.tracks,
  id.track,
  id.cluster,
  id.blockGroup,
])

/**
 * Seconds of a WebM file, from its first block of sound to its last; at least the sum of its Opus packets, since decoders
 * play those whatever their times. The header's length counts only when no block has a time, and for a file too long to
 * walk through.
 */
export async function measureWebm(blob: BoundedBlob): Promise<number | null> {
  const reader = new WebmReader()
  const { bytes } = await walk(blob, {
    start: 0,
    bytesMax: durationWalkBytesMax,
    headBytesMax: elementHeadBytesMax,
    read: reader.read,
  })
  const heard = reader.heardSeconds * (blob.size / bytes)
  const isWhole = bytes >= blob.size
  const stated = isWhole && heard > 0 ? 0 : reader.statedSeconds
  const longest = Math.max(stated, reader.opusSeconds * (blob.size / bytes), stated > 0 ? 0 : heard)
  return longest > 0 ? longest : null
}

/** Bytes of an element that are looked at: its head, and the beginning of what it holds. */
const elementHeadBytesMax = 32

interface Element {
  id: number
  size: number
  headBytes: number
}

/** One track that blocks belong to. Times are in units of the file. */
interface Track {
  isSound: boolean
  isOpus: boolean
  first: number
  last: number
  opusMilliseconds: number
}

class WebmReader {
  #scaleNs = 1_000_000
  #duration = 0
  #clusterTime = 0
  #entry = newTrack()
  readonly #tracks = new Map<number, Track>()

  /** Elements one after the other; those that hold others are entered, the rest passed by. */
  readonly read: ReadPiece = (window, at) => {
    const element = readElement(window, at)
    if (element === null) return null
    this.#take(element, window.subarray(at + element.headBytes, at + elementHeadBytesMax))
    return {
      bytes: element.headBytes + (parents.has(element.id) ? 0 : element.size),
      milliseconds: 0,
    }
  }

  get statedSeconds(): number {
    return (this.#duration * this.#scaleNs) / 1e9
  }

  /** From the first block of sound to the end of the last one. */
  get heardSeconds(): number {
    const lengths = this.#sounds().map(({ first, last }) => last - first)
    return (Math.max(0, ...lengths) * this.#scaleNs) / 1e9
  }

  get opusSeconds(): number {
    return Math.max(0, ...this.#sounds().map((track) => track.opusMilliseconds)) / 1000
  }

  #sounds(): Track[] {
    return [...this.#tracks.values()].filter(({ isSound }) => isSound)
  }

  #take(element: Element, body: Uint8Array): void {
    const number = () => readUnsigned(body, element.size)
    if (element.id === id.simpleBlock || element.id === id.block) this.#takeBlock(body)
    else if (element.id === id.timecode) this.#clusterTime = number()
    else if (element.id === id.timecodeScale) this.#scaleNs = number()
    else if (element.id === id.duration) this.#duration = Math.max(0, readFloat(body, element.size))
    else if (element.id === id.track) this.#entry = newTrack()
    else if (element.id === id.trackNumber && this.#tracks.size < durationTracksMax)
      this.#tracks.set(number(), this.#entry)
    else if (element.id === id.trackType) this.#entry.isSound = number() === soundTrack
    else if (element.id === id.codec)
      this.#entry.isOpus = Buffer.from(body.subarray(0, element.size)).toString('latin1') === 'A_OPUS'
  }

  /** Before the sound come its track's number, a signed time of 16 bits, and flags. */
  #takeBlock(body: Uint8Array): void {
    const numberBytes = vintLength(body[0] ?? 0)
    const track = this.#tracks.get(readVint(body, 0, numberBytes))
    if (track === undefined) return
    const time = this.#clusterTime + (((body[numberBytes] ?? 0) << 24) >> 16) + (body[numberBytes + 1] ?? 0)
    track.first = Math.min(track.first, time)
    track.last = Math.max(track.last, time)
    if (!track.isOpus) return
    // A block with several packets has their sizes first. No recorder writes Opus so; for such a block the times count.
    const isLaced = ((body[numberBytes + 2] ?? 0) & 6) !== 0
    if (!isLaced) track.opusMilliseconds += opusMilliseconds(body, numberBytes + 3)
  }
}

const soundTrack = 2

function newTrack(): Track {
  return { isSound: false, isOpus: false, first: Infinity, last: -Infinity, opusMilliseconds: 0 }
}

/** The element whose head lies there; null where none does, or the window ends before its head. */
export function readElement(window: Uint8Array, at: number): Element | null {
  const idBytes = vintLength(window[at] ?? 0)
  const sizeBytes = vintLength(window[at + idBytes] ?? 0)
  const headBytes = idBytes + sizeBytes
  if (idBytes > 4 || sizeBytes > 8 || at + headBytes > window.length) return null
  const size = readVint(window, at + idBytes, sizeBytes)
  return { id: readUnsigned(window.subarray(at, at + idBytes), idBytes), size, headBytes }
}

/** Bytes of a variable-length integer, from the position of its first bit that is set; 9 when there is none. */
function vintLength(first: number): number {
  return Math.clz32(first) - 23
}

/** The marker bit is taken off first: with it, an eight-byte number would not fit a double. */
function readVint(bytes: Uint8Array, at: number, length: number): number {
  const top = (bytes[at] ?? 0) & (0xff >> length)
  return top * 256 ** (length - 1) + readUnsigned(bytes.subarray(at + 1), length - 1)
}

/** A big-endian number of at most eight bytes; those beyond a double's digits are rounded. */
export function readUnsigned(bytes: Uint8Array, length: number): number {
  let value = 0
  for (const byte of bytes.subarray(0, Math.min(length, 8))) value = value * 256 + byte
  return value
}

function readFloat(bytes: Uint8Array, length: number): number {
  if (bytes.length < length) return 0
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  if (length === 8) return view.getFloat64(0)
  return length === 4 ? view.getFloat32(0) : 0
}
