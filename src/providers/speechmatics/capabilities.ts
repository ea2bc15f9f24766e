import { unboundedKeyterms } from '../../canonical/endpoint.ts'
import type { ModelRule } from '../../catalog/capabilities.ts'

/** Speechmatics' models, whose plain names say nothing at another host. Words always have times. */
export const speechmaticsModels: readonly ModelRule[] = [
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
    },
  },
]
