import { unboundedKeyterms } from '../../canonical/endpoint.ts'
import type { ModelRule } from '../../catalog/capabilities.ts'
import { gladiaLanguages } from './languages.ts'

/** Gladia's models. Words always have times. Larger accounts may send longer recordings. */
export const gladiaModels: readonly ModelRule[] = [
  {
    name: /^solaria-/,
    modality: 'transcription',
    audio: {
      verboseJson: true,
      wordTimes: true,
      diarize: true,
      keyterms: unboundedKeyterms,
      entities: true,
      url: true,
      uploadBytesMax: 1_000_000_000,
      languages: gladiaLanguages,
      audioMillisecondsMax: 135 * 60_000,
    },
  },
]
