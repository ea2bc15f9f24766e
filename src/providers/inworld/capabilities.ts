import type { ModelRule } from '../../catalog/capabilities.ts'

/** https://docs.inworld.ai/api-reference/ttsAPI, 2026-11. */
export const inworldModels: readonly ModelRule[] = [
  {
    name: /^inworld-tts/,
    modality: 'speech',
    audio: { speed: { min: 0.5, max: 1.5 }, inputCharactersMax: 2_000 },
  },
]
