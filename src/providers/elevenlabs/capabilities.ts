import type { AudioCapabilities } from '../../canonical/endpoint.ts'
import type { ModelRule } from '../../catalog/capabilities.ts'

const speed = { min: 0.7, max: 1.2 }

/**
 * The most text in one request, by model (https://elevenlabs.io/docs/models, 2026-11). A model that listens only over a
 * WebSocket is left out.
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

/** The features of Scribe. https://elevenlabs.io/docs/api-reference/speech-to-text/convert */
export const scribe: Partial<AudioCapabilities> = {
  verboseJson: true,
  wordTimes: true,
  diarize: true,
  entities: true,
  url: true,
  // Each term has fewer than fifty characters.
  keyterms: { countMax: 1000, charactersMax: 49, wordsMax: 5, tokensMax: null, forbidden: '<>{}[]\\' },
  uploadBytesMax: 5_000_000_000,
  // From a third party.
  audioMillisecondsMax: 10 * 3_600_000,
}
