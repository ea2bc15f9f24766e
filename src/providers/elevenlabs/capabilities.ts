import type { ModelRule } from '../../catalog/capabilities.ts'

const speed = { min: 0.7, max: 1.2 }

/** How much text each of its voices' models takes at once. https://elevenlabs.io/docs/models, 2026-11. */
export const elevenLabsModels: readonly ModelRule[] = [
  { name: /^eleven_v3/, modality: 'speech', audio: { speed, inputCharactersMax: 5_000 } },
  { name: /^eleven_(?:flash|turbo)_v2_5/, modality: 'speech', audio: { speed, inputCharactersMax: 40_000 } },
  { name: /^eleven_(?:flash|turbo)_v2/, modality: 'speech', audio: { speed, inputCharactersMax: 30_000 } },
  { name: /^eleven_multilingual/, modality: 'speech', audio: { speed, inputCharactersMax: 10_000 } },
  { name: /^eleven_/, modality: 'speech', audio: { speed } },
]
