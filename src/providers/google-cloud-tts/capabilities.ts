import type { ModelRule } from '../../catalog/capabilities.ts'

/**
 * Limits of the interface, so they apply to every family of voices. The text may have 5,000 bytes.
 * https://docs.cloud.google.com/text-to-speech/quotas, 2026-11.
 */
export const googleCloudTtsModels: readonly ModelRule[] = [
  { name: /./, modality: 'speech', audio: { speed: { min: 0.25, max: 2 }, inputCharactersMax: 5_000 } },
]
