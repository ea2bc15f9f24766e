import type { ModelRule } from '../../catalog/capabilities.ts'

/**
 * A whole file may have 3,000 characters, a stream 2,000; the gateway asks for streams. https://docs.resemble.ai,
 * 2026-11.
 */
export const resembleModels: readonly ModelRule[] = [
  { name: /^chatterbox/, modality: 'speech', audio: { inputCharactersMax: 2_000 } },
]
