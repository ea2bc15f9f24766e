import type { ModelRule } from '../../catalog/capabilities.ts'

/** Speed has an effect from Sonic 3 on. https://docs.cartesia.ai, 2026-11. */
export const cartesiaModels: readonly ModelRule[] = [
  { name: /^sonic-(?:2|turbo|english|multilingual)/, modality: 'speech' },
  { name: /^sonic/, modality: 'speech', audio: { speed: { min: 0.6, max: 1.5 } } },
]
