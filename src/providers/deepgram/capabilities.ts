import type { ModelRule } from '../../catalog/capabilities.ts'
import { auraVoicePattern } from '../../formats/speech/deepgram-speech.ts'

const bounds = { speed: { min: 0.7, max: 1.5 }, inputCharactersMax: 2_000 }

/** A whole name has its voice in it, so that none need be given. https://developers.deepgram.com/docs/text-to-speech, 2026-11. */
export const auraModels: readonly ModelRule[] = [
  { name: auraVoicePattern, modality: 'speech', audio: { ...bounds, defaultVoice: 'the one in its name' } },
  { name: /^aura/, modality: 'speech', audio: bounds },
]
