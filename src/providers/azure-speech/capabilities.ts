import { unboundedKeyterms } from '../../canonical/endpoint.ts'
import type { ModelRule } from '../../catalog/capabilities.ts'

/**
 * What the service offers; words always have times. Files have less than 250 MB and last less than two hours. How many phrases it
 * takes is not known. https://learn.microsoft.com/en-us/azure/ai-services/speech-service/fast-transcription-create, 2026-11
 */
export const fastTranscription: readonly ModelRule[] = [
  {
    name: /^fast-transcription$/,
    modality: 'transcription',
    audio: {
      verboseJson: true,
      wordTimes: true,
      diarize: true,
      keyterms: unboundedKeyterms,
      url: true,
      uploadBytesMax: 250_000_000 - 1,
      audioMillisecondsMax: 2 * 3_600_000 - 1,
    },
  },
]
