import type { TranscriptMedia } from '../../canonical/audio.ts'
import { choosePreferred } from '../content-negotiation.ts'

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

/** The media type that an `Accept` header prefers among those of a transcript. */
export function chooseTranscriptMedia(accept: string | null): TranscriptMedia {
  return choosePreferred(accept, mediaOfType, 'json')
}
