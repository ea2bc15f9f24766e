import { unboundedKeyterms } from '../../canonical/endpoint.ts'
import type { ModelRule } from '../../catalog/capabilities.ts'
import { speechmaticsLanguages } from './languages.ts'

/**
 * Speechmatics' models; at another host these plain names would mean nothing. Words always have times. Melia has no
 * custom dictionary yet (https://docs.speechmatics.com/speech-to-text/models, 2026-11).
 */
export const speechmaticsModels: readonly ModelRule[] = [
  { name: /^melia-1$/, audio: { keyterms: null } },
  {
    name: /^(?:standard|enhanced|melia-1)$/,
    modality: 'transcription',
    audio: {
      verboseJson: true,
      wordTimes: true,
      diarize: true,
      keyterms: unboundedKeyterms,
      url: true,
      uploadBytesMax: 1_000_000_000,
      languages: speechmaticsLanguages,
    },
  },
]
