import { unboundedKeyterms } from '../../canonical/endpoint.ts'
import type { ModelRule } from '../../catalog/capabilities.ts'

/**
 * The service's limits: files below 250 MB and two hours. Words always have times. The most phrases that it takes is
 * unknown. https://learn.microsoft.com/en-us/azure/ai-services/speech-service/fast-transcription-create, 2026-11
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
