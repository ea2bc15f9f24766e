import type { ModelRule } from '../../catalog/capabilities.ts'

/** Whole files may have 3,000 characters, a stream 2,000, which is what the gateway asks for. https://docs.resemble.ai, 2026-11. */
export const resembleModels: readonly ModelRule[] = [
  { name: /^chatterbox/, modality: 'speech', audio: { inputCharactersMax: 2_000 } },
]
