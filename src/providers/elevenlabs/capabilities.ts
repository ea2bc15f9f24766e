import type { AudioCapabilities } from '../../canonical/endpoint.ts'
import type { ModelRule } from '../../catalog/capabilities.ts'

const speed = { min: 0.7, max: 1.2 }

/**
 * How much text each of its voices' models takes at once (https://elevenlabs.io/docs/models, 2026-11). Of those that listen, the one
 * behind a socket is no model of ours.
 */
export const elevenLabsModels: readonly ModelRule[] = [
  { name: /^eleven_v3/, modality: 'speech', audio: { speed, inputCharactersMax: 5_000 } },
  { name: /^eleven_(?:flash|turbo)_v2_5/, modality: 'speech', audio: { speed, inputCharactersMax: 40_000 } },
  { name: /^eleven_(?:flash|turbo)_v2/, modality: 'speech', audio: { speed, inputCharactersMax: 30_000 } },
  { name: /^eleven_multilingual/, modality: 'speech', audio: { speed, inputCharactersMax: 10_000 } },
  { name: /^eleven_/, modality: 'speech', audio: { speed } },
  { name: /^scribe.*realtime/, modality: null },
  { name: /^scribe/, modality: 'transcription' },
]

/** What Scribe offers. https://elevenlabs.io/docs/api-reference/speech-to-text/convert */
export const scribe: Partial<AudioCapabilities> = {
  verboseJson: true,
  wordTimes: true,
  diarize: true,
  entities: true,
  url: true,
  // Each has fewer than fifty characters.
  keyterms: { countMax: 1000, charactersMax: 49, wordsMax: 5, tokensMax: null, forbidden: '<>{}[]\\' },
  uploadBytesMax: 5_000_000_000,
  // A third party's figure.
  audioMillisecondsMax: 10 * 3_600_000,
}
