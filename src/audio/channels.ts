import type { LocalAudio } from '../canonical/audio.ts'
import { audioHeadBytes, audioReadBytes, durationReadsMax } from '../core/limits/audio.ts'
import { audioChannelsMax } from '../core/limits/billing.ts'
import { readAdtsFrame } from './adts-frames.ts'
import { BoundedBlob } from './bounded-blob.ts'
import { type Box, boxesIn } from './mp4-boxes.ts'
import { readSampleChannels } from './mp4-codec.ts'
import { readMpegFrame } from './mpeg-frames.ts'
import { sniffFormat } from './sniff.ts'
import { leadingTagBytes } from './tag-bytes.ts'
import { readElement, readUnsigned } from './webm-duration.ts'

/**
 * The channels of stored audio as decoders find them, at least 1; null when the beginning does not tell, or states more
 * than any recording has. Reads a bounded amount and yields to other work; never rejects.
 */
export async function measureChannels(audio: Pick<LocalAudio, 'format' | 'stored'>): Promise<number | null> {
  const { stored } = audio
  const format = sniffFormat(stored.head) ?? audio.format
  // The contract's headerless samples are mono.
  if (format === 'pcm') return 1
  const blob = new BoundedBlob(stored.blob(), stored.sizeBytes, durationReadsMax)
  try {
    const start = await leadingTagBytes(blob)
    const head = Buffer.from(await blob.read(start, start + audioReadBytes))
    const inner = start === 0 ? format : (sniffFormat(head.subarray(0, audioHeadBytes)) ?? format)
    const channels = await readChannels(inner, head, blob)
    return channels >= 1 && channels <= audioChannelsMax ? channels : null
  } catch {
    // The bytes are not such a container, or it would need too many reads.
    return null
  }
}

/** 0 when the bytes do not tell. */
function readChannels(format: string, head: Buffer, blob: BoundedBlob): Promise<number> | number {
  if (format === 'mp3') return inFirstFrame(head, readMpegFrame, mpegChannels)
  if (format === 'aac') return inFirstFrame(head, readAdtsFrame, adtsChannels)
  if (format === 'flac') return (((head[20] ?? 0) >> 1) & 7) + 1
  if (format === 'wav') return chunkNumber(head, 'fmt ', (at) => head.readUInt16LE(at + 2))
  if (format === 'aiff' || format === 'aif') return chunkNumber(head, 'COMM', (at) => head.readUInt16BE(at))
  if (format === 'ogg') return oggChannels(head)
  if (format === 'webm') return readWebmChannels(head)
  return format === 'm4a' ? mp4Channels(blob) : 0
}

type ReadFrame = typeof readMpegFrame

/** Reads the first frame that is followed by another one: arbitrary bytes may look like a single frame. */
function inFirstFrame(
  head: Buffer,
  read: ReadFrame,
  channelsAt: (head: Buffer, at: number) => number,
): number {
  for (let at = head.indexOf(0xff); at >= 0; at = head.indexOf(0xff, at + 1)) {
    const frame = read(head, at)
    if (frame === null) continue
    const end = at + frame.bytes
    if (end >= head.length || read(head, end)?.kind === frame.kind) return channelsAt(head, at)
  }
  return 0
}

/** The fourth of four modes is mono. */
function mpegChannels(head: Buffer, at: number): number {
  return (head[at + 3] ?? 0) >> 6 === 3 ? 1 : 2
}

/** Three bits. 0 means that the stream states the channels elsewhere, and 7 means eight channels. */
function adtsChannels(head: Buffer, at: number): number {
  const layout = (((head[at + 2] ?? 0) & 1) << 2) | ((head[at + 3] ?? 0) >> 6)
  return layout === 7 ? 8 : layout
}

/** Finds a chunk by its name, because files have a few other chunks before it. `at` is where its content begins. */
function chunkNumber(head: Buffer, name: string, readAt: (at: number) => number): number {
  const at = head.indexOf(name, 12, 'latin1')
  return at < 0 || at + 12 > head.length ? 0 : readAt(at + 8)
}

function oggChannels(head: Buffer): number {
  const opus = head.indexOf('OpusHead')
  if (opus >= 0) return head[opus + 9] ?? 0
  const vorbis = head.indexOf('\x01vorbis', 0, 'latin1')
  if (vorbis >= 0) return head[vorbis + 11] ?? 0
  const flac = head.indexOf('\x7fFLAC', 0, 'latin1')
  if (flac >= 0) return (((head[flac + 29] ?? 0) >> 1) & 7) + 1
  const speex = head.indexOf('Speex   ')
  return speex < 0 || speex + 52 > head.length ? 0 : head.readUInt32LE(speex + 48)
}

/** The most channels of any track. */
async function mp4Channels(blob: BoundedBlob): Promise<number> {
  let most = 0
  for await (const description of descriptionsIn(blob, { start: 0, end: blob.size }, [
    'moov',
    'trak',
    'mdia',
    'minf',
    'stbl',
  ]))
    most = Math.max(most, await readSampleChannels(blob, description))
  return most
}

async function* descriptionsIn(
  blob: BoundedBlob,
  within: Pick<Box, 'start' | 'end'>,
  path: readonly string[],
): AsyncGenerator<Box> {
  const [next, ...rest] = path
  for await (const box of boxesIn(blob, within, next ?? 'stsd')) {
    if (next === undefined) yield box
    else yield* descriptionsIn(blob, box, rest)
  }
}

const tracks: ReadonlySet<number> = new Set([0x18538067, 0x1654ae6b, 0xae, 0xe1])

const soundSettings = 0xe1

const channelCount = 0x9f

/**
 * The most channels of any audio track of a WebM file, from the file's beginning; a track that states none has one. 0
 * without audio.
 */
export function readWebmChannels(head: Uint8Array): number {
  let most = 0
  for (let at = 0; at < head.length;) {
    const element = readElement(head, at)
    if (element === null) return most
    const body = at + element.headBytes
    if (element.id === soundSettings) most = Math.max(most, 1)
    if (element.id === channelCount) most = Math.max(most, readUnsigned(head.subarray(body), element.size))
    at = tracks.has(element.id) ? body : body + element.size
  }
  return most
}
