import type { ModelRule } from '../../catalog/capabilities.ts'
import { fishOwnVoice } from './speech.ts'

/** Every clip needs its transcript. https://docs.fish.audio, 2026-11. */
export const fishModels: readonly ModelRule[] = [
  {
    name: /^s\d/,
    modality: 'speech',
    audio: {
      speed: { min: 0.5, max: 2 },
      voiceCloning: true,
      multipleReferences: true,
      referenceTranscripts: true,
      defaultVoice: fishOwnVoice,
    },
  },
]
