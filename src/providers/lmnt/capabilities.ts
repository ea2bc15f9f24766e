import type { ModelRule } from '../../catalog/capabilities.ts'

/** https://docs.lmnt.com/api-reference, 2026-11. */
export const lmntModels: readonly ModelRule[] = [
  { name: /^(?:blizzard|aurora)/, modality: 'speech', audio: { inputCharactersMax: 5_000 } },
]
