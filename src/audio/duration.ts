import { pcmInputRate, type LocalAudio } from '../canonical/audio.ts'
import { audioDurationMsMax, durationReadsMax, durationWalkReadsMax } from '../core/limits.ts'
import { BoundedBlob } from './bounded-blob.ts'
import { leastDuration, type LeastDuration } from './least-duration.ts'
import { measureMp4 } from './mp4-duration.ts'
import { measureOgg } from './ogg-duration.ts'
import { sniffFormat } from './sniff.ts'
import { measureWav } from './wav-duration.ts'
import { measureWebm } from './webm-duration.ts'

/**
 * Whole milliseconds of stored audio, at least 1, from its container; null when the container does not tell or what it
 * tells cannot be true. Reads a bounded amount and gives way to other work in between; never rejects.
 */
export async function measureDuration(audio: Pick<LocalAudio, 'format' | 'stored'>): Promise<number | null> {
  const { stored } = audio
  const format = sniffFormat(stored.head) ?? audio.format
  if (audio.format === 'pcm' && format === 'pcm') return pcmMilliseconds(stored.sizeBytes)
  const blob = new BoundedBlob(stored.blob(), stored.sizeBytes, durationReadsMax)
  try {
    const seconds =
      (await measureDirectly(format, blob)) ??
      (await measureByParser(blob)) ??
      // The parser takes QuickTime's tracks for something else than sound.
      (format === 'm4a' ? await measureMp4(blob) : null)
    if (seconds === null) return null
    // On bytes of its own: what the parser read for its answer is no reason to believe it.
    const again = new BoundedBlob(stored.blob(), stored.sizeBytes, durationWalkReadsMax)
    return toPlausible(seconds, await leastDuration(format, again), stored.sizeBytes)
  } catch {
    // Not a container after all, or one that would need too many reads. What the provider says decides then.
    return null
  }
}

/**
 * An upper estimate for a hold when the length is unknown: compressed speech has hardly fewer than 16 kbit/s. Whole
 * milliseconds, at most a day.
 */
export function estimateDurationMs(format: string, sizeBytes: number): number {
  if (format === 'pcm' || format === 'wav') return Math.min(pcmMilliseconds(sizeBytes), audioDurationMsMax)
  return Math.min(Math.max(1, Math.ceil(sizeBytes / 2)), audioDurationMsMax)
}

/** Containers that tell their length in a few reads, or that the parser does not measure. */
async function measureDirectly(format: string, blob: BoundedBlob): Promise<number | null> {
  if (format === 'wav') return measureWav(blob)
  if (format === 'webm') return measureWebm(blob)
  return format === 'ogg' ? measureOgg(blob) : null
}

async function measureByParser(blob: BoundedBlob): Promise<number | null> {
  // Loaded when the first such file comes: a start without it is a twentieth shorter.
  const { parseBlob } = await import('music-metadata')
  const { format } = await parseBlob(blob.asBlob(), { duration: true, skipCovers: true })
  return format.duration !== undefined && format.duration > 0 ? format.duration : null
}

/** Silence in Opus and FLAC comes down to about this. */
const bitsPerSecondMin = 300
/** A header may leave out what a damaged or cut frame has. */
const headerShareMin = 0.9

/** What the container says, unless the sound in it is longer, or its size could not hold that much. */
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
