import type { AudioCapabilities } from '../../canonical/endpoint.ts'
import type { ModelRule } from '../../catalog/capabilities.ts'
import { inkLanguages } from './languages.ts'

/** Speed works from Sonic 3 on. Ink 2 listens only over a WebSocket. https://docs.cartesia.ai, 2026-11. */
export const cartesiaModels: readonly ModelRule[] = [
  { name: /^sonic-(?:2|turbo|english|multilingual)/, modality: 'speech' },
  { name: /^sonic/, modality: 'speech', audio: { speed: { min: 0.6, max: 1.5 } } },
  { name: /^ink-whisper/, modality: 'transcription' },
  { name: /^ink/, modality: null },
]

/** The limits of its own Whisper. It fetches no URLs and takes neither terms nor speakers. */
export const inkWhisper: Partial<AudioCapabilities> = {
  verboseJson: true,
  wordTimes: true,
  uploadFormats: ['wav', 'mp3', 'flac', 'm4a', 'ogg', 'webm', 'pcm'],
  uploadBytesMax: 2_000_000_000,
  languages: inkLanguages,
}
