import type { ModelRule } from '../../catalog/capabilities.ts'

/** https://platform.minimax.io/docs/api-reference/speech-t2a-http, 2026-11. */
export const miniMaxModels: readonly ModelRule[] = [
  {
    name: /^speech-/,
    modality: 'speech',
    audio: { speed: { min: 0.5, max: 2 }, inputCharactersMax: 10_000 },
  },
]
