import type { ModelRule } from '../../catalog/capabilities.ts'

/** Speeds outside this range are not stable, and the hard limits are not documented. https://dev.hume.ai, 2026-11. */
export const humeModels: readonly ModelRule[] = [
  {
    name: /^octave/,
    modality: 'speech',
    audio: { speed: { min: 0.75, max: 1.5 }, inputCharactersMax: 5_000 },
  },
]
