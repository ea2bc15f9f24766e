import { pcmInputRate, type LocalAudio } from '../canonical/audio.ts'
import { audioDurationMsMax, audioHeadBytes, durationReadsMax } from '../core/limits/audio.ts'
import { measureAiff } from './aiff-duration.ts'
import { BoundedBlob } from './bounded-blob.ts'
import { measureFlac } from './flac-duration.ts'
import { measureAdts, measureMpeg } from './frames-duration.ts'
import { leastDuration, type LeastDuration } from './least-duration.ts'
import { measureMp4 } from './mp4-duration.ts'
import { measureOgg } from './ogg-duration.ts'
import { sniffFormat } from './sniff.ts'
import { leadingTagBytes } from './tag-bytes.ts'
import { measureWav } from './wav-duration.ts'
import { measureWebm } from './webm-duration.ts'

/**
 * Whole milliseconds of stored audio, at least 1, from its content; null when the content does not tell, or is
 * impossible. Reads a bounded amount and yields to other work; never rejects.
 */
export async function measureDuration(audio: Pick<LocalAudio, 'format' | 'stored'>): Promise<number | null> {
  const { stored } = audio
  const format = sniffFormat(stored.head) ?? audio.format
  if (audio.format === 'pcm' && format === 'pcm') return pcmMilliseconds(stored.sizeBytes)
  const open = () => new BoundedBlob(stored.blob(), stored.sizeBytes, durationReadsMax)
  try {
    const start = await leadingTagBytes(open())
    const inner = start === 0 ? format : ((await sniffAt(open(), start)) ?? format)
    const seconds = await measureStream(inner, open(), start)
    if (seconds === null) return null
    return toPlausible(seconds, await leastDuration(inner, open(), start), stored.sizeBytes)
  } catch {
    // The bytes are not such a container, or it would need too many reads. The provider's figure decides then.
    return null
  }
}

/**
 * An upper estimate for a hold when the length is unknown: compressed speech rarely has less than 16 kbit/s. Whole
 * milliseconds, at most a day.
 */
export function estimateDurationMs(format: string, sizeBytes: number): number {
  if (format === 'pcm' || format === 'wav') return Math.min(pcmMilliseconds(sizeBytes), audioDurationMsMax)
  return Math.min(Math.max(1, Math.ceil(sizeBytes / 2)), audioDurationMsMax)
}

async function sniffAt(blob: BoundedBlob, start: number): Promise<string | null> {
  return sniffFormat(await blob.read(start, start + audioHeadBytes))
}

/** Only these two formats may begin with a tag of another kind; they are measured from its end. */
async function measureStream(format: string, blob: BoundedBlob, start: number): Promise<number | null> {
  if (format === 'mp3') return measureMpeg(blob, start)
  if (format === 'aac') return measureAdts(blob, start)
  if (format === 'flac') return measureFlac(blob, start)
  if (format === 'wav') return measureWav(blob)
  if (format === 'aiff' || format === 'aif') return measureAiff(blob)
  if (format === 'ogg') return measureOgg(blob)
  if (format === 'webm') return measureWebm(blob)
  return format === 'm4a' ? measureMp4(blob) : null
}

/** Silence in Opus and FLAC needs about this little. */
const bitsPerSecondMin = 300
/** The sound may be longer than the header states, when a frame is damaged or the file is truncated. */
const headerShareMin = 0.9

/** The container's figure, unless the sound in it is longer, or a file of its size could not hold that much. */
function toPlausible(seconds: number, least: LeastDuration, sizeBytes: number): number | null {
  const milliseconds = Math.max(1, Math.round(seconds * 1000))
  const longest = Math.min(audioDurationMsMax, (sizeBytes * 8_000) / bitsPerSecondMin)
  if (milliseconds > longest) return null
  if (milliseconds >= least.milliseconds * headerShareMin) return milliseconds
  return least.isHeard ? Math.min(Math.round(least.milliseconds), audioDurationMsMax) : null
}

function pcmMilliseconds(sizeBytes: number): number {
  return Math.max(1, Math.round(sizeBytes / ((pcmInputRate * 2) / 1000)))
}
