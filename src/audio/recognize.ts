import { toFormat, type SoundFinding, type StoredAudio } from '../canonical/audio.ts'
import { audioHeadBytes, mpegSearchBytesMax } from '../core/limits/audio.ts'
import { readAdtsFrame } from './adts-frames.ts'
import { BoundedBlob } from './bounded-blob.ts'
import { readMpegFrame, type SoundFrame } from './mpeg-frames.ts'
import { isText, nameOfOther } from './no-sound.ts'
import { sniffFormat } from './sniff.ts'
import { leadingTagBytes } from './tag-bytes.ts'

/** The reads for recognising a format: of the beginning, and after a leading tag. */
const recognizeReadsMax = 16

/**
 * Recognises received bytes, and checks whether they can be of the format that the sender stated (null when none was
 * stated). Reads at most the beginning and the bytes after a leading tag. Never rejects because of the bytes.
 */
export async function recognizeSound(
  stored: Pick<StoredAudio, 'sizeBytes' | 'head' | 'blob'>,
  stated: string | null,
): Promise<SoundFinding> {
  const known = stated === null ? null : toFormat(stated)
  const blob = new BoundedBlob(stored.blob(), stored.sizeBytes, recognizeReadsMax)
  const start = await leadingTagBytes(blob)
  const begin = await blob.read(start, start + mpegSearchBytesMax)
  const container = start === 0 ? containerOf(stored.head) : containerOf(begin)
  if (container !== null) return found(container, known, stated)
  // Headerless samples may look like frames of any format, so they are refused only when they are clearly something
  // else.
  const other = nameOfOther(begin) ?? (isText(begin) ? 'text' : null)
  if (other !== null) return { type: 'no_sound', what: other }
  if (known === 'pcm') return { type: 'sound', format: 'pcm' }
  if (stated !== null && known === null) return { type: 'sound', format: stated.toLowerCase() }
  const isWhole = start + begin.length === stored.sizeBytes
  const frames = framesOf(begin, isWhole)
  if (frames !== null) return found(frames, known, stated)
  if (known === 'm4a' && isBox(begin)) return { type: 'sound', format: 'm4a' }
  if (known === 'aac' && isOtherAac(begin)) return { type: 'sound', format: 'aac' }
  return { type: 'no_sound', what: null }
}

function found(seen: string, known: string | null, stated: string | null): SoundFinding {
  if (stated === null || known === seen) return { type: 'sound', format: seen }
  // An unknown name, such as `3gp` or `mka`, may belong to such a container.
  if (known === null) return { type: 'sound', format: stated.toLowerCase() }
  return { type: 'other_sound', format: seen }
}

/** A container that begins with its name. */
function containerOf(head: Uint8Array): string | null {
  const seen = sniffFormat(head.subarray(0, audioHeadBytes))
  if (seen === 'm4a') return isPictureBrand(head) ? null : seen
  return seen !== null && selfNamed.has(seen) ? seen : null
}

const selfNamed: ReadonlySet<string> = new Set(['wav', 'flac', 'ogg', 'webm'])

/** AVIF and HEIC are pictures in the same boxes as MP4. */
function isPictureBrand(head: Uint8Array): boolean {
  return /^(?:avi[fs]|he[iv][csx]|mif1|msf1|crx )/.test(latin1(head, 8, 12))
}

/** Boxes at the beginning of files without a leading `ftyp`: old QuickTime, and fragments. */
function isBox(head: Uint8Array): boolean {
  return /^(?:moov|mdat|wide|free|skip|pnot|styp|moof|sidx)$/.test(latin1(head, 4, 8))
}

/** AAC in other framings than ADTS: with one header for the whole file, or broadcast frames. */
function isOtherAac(head: Uint8Array): boolean {
  return latin1(head, 0, 4) === 'ADIF' || (head[0] === 0x56 && ((head[1] ?? 0) & 0xe0) === 0xe0)
}

/** Frames without a container that begin within `window`. */
function framesOf(window: Uint8Array, isWhole: boolean): 'mp3' | 'aac' | null {
  const at = window.indexOf(0xff)
  if (at < 0) return null
  if (hasFrames(window, at, { read: readAdtsFrame, isWhole })) return 'aac'
  return hasFrames(window, at, { read: readMpegFrame, isWhole }) ? 'mp3' : null
}

interface FrameSearch {
  read: (bytes: Uint8Array, at: number) => SoundFrame | null
  /** Whether the window reaches the end of the audio. */
  isWhole: boolean
}

/**
 * In arbitrary bytes something looks like a header every few kilobytes, so a similar header, or the end, must follow.
 */
function hasFrames(window: Uint8Array, from: number, { read, isWhole }: FrameSearch): boolean {
  for (let at = from; at >= 0; at = window.indexOf(0xff, at + 1)) {
    const frame = read(window, at)
    if (frame === null) continue
    const end = at + frame.bytes
    if (read(window, end)?.kind === frame.kind) return true
    if (end === window.length && isWhole) return true
    if (/^(?:TAG|APE|LYR)/.test(latin1(window, end, end + 3))) return true
  }
  return false
}

function latin1(bytes: Uint8Array, start: number, end: number): string {
  return Buffer.from(bytes.subarray(start, end)).toString('latin1')
}
