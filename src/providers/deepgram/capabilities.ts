import { type AudioCapabilities, unboundedKeyterms } from '../../canonical/endpoint.ts'
import type { ModelRule } from '../../catalog/capabilities.ts'
import { auraVoicePattern } from './speech.ts'

const bounds = { speed: { min: 0.7, max: 1.5 }, inputCharactersMax: 2_000 }

/**
 * A full Aura name includes its voice, so no voice is needed (https://developers.deepgram.com/docs/text-to-speech,
 * 2026-11). Only Nova 3 takes terms (https://developers.deepgram.com/docs/keyterm, 2026-11).
 */
export const deepgramModels: readonly ModelRule[] = [
  { name: auraVoicePattern, modality: 'speech', audio: { ...bounds, defaultVoice: 'the one in its name' } },
  { name: /^aura/, modality: 'speech', audio: bounds },
  { name: /^nova-3/, audio: { keyterms: { ...unboundedKeyterms, countMax: 100, tokensMax: 500 } } },
  { name: /^(?:nova|enhanced|base|whisper)/, modality: 'transcription' },
]

/** The features of all its listening models. https://developers.deepgram.com/docs/pre-recorded-audio */
export const deepgramListening: Partial<AudioCapabilities> = {
  verboseJson: true,
  wordTimes: true,
  diarize: true,
  entities: true,
  url: true,
  uploadBytesMax: 2_000_000_000,
}
