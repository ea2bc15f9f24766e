import type { TranscriptMedia } from '../../canonical/audio.ts'

const mediaOfType: Readonly<Record<string, TranscriptMedia>> = {
  'application/json': 'json',
  'application/*': 'json',
  '*/*': 'json',
  'text/vtt': 'vtt',
  'application/x-subrip': 'srt',
  'text/plain': 'text',
}

const contentTypes: Readonly<Record<TranscriptMedia, string>> = {
  json: 'application/json',
  vtt: 'text/vtt; charset=utf-8',
  srt: 'application/x-subrip; charset=utf-8',
  text: 'text/plain; charset=utf-8',
}

/** The content type of a rendered transcript. */
export function transcriptContentType(media: TranscriptMedia): string {
  return contentTypes[media]
}

/**
 * What an `Accept` header prefers among the media a transcript comes in. JSON wins ties, and is also the answer to a
 * header that names none of them, because every client can be told its errors in JSON anyway.
 */
export function chooseTranscriptMedia(accept: string | null): TranscriptMedia {
  let best: TranscriptMedia = 'json'
  let bestQuality = 0
  for (const range of (accept ?? '').split(',')) {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim().toLowerCase())
    const media = Object.hasOwn(mediaOfType, type) ? mediaOfType[type] : undefined
    const quality = qualityOf(parameters)
    if (media === undefined || quality < bestQuality || quality === 0) continue
    if (quality === bestQuality && media !== 'json') continue
    best = media
    bestQuality = quality
  }
  return best
}

function qualityOf(parameters: readonly string[]): number {
  const stated = parameters.find((parameter) => parameter.startsWith('q='))
  if (stated === undefined) return 1
  const quality = Number(stated.slice(2))
  return quality >= 0 && quality <= 1 ? quality : 0
}
