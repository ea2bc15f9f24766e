import type { ModelRule } from '../../catalog/capabilities.ts'

/** https://docs.resemble.ai, 2026-11. */
export const resembleModels: readonly ModelRule[] = [
  { name: /^chatterbox/, modality: 'speech', audio: { inputCharactersMax: 3_000 } },
]
