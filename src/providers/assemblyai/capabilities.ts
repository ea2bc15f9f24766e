import { unboundedKeyterms } from '../../canonical/endpoint.ts'
import type { ModelRule } from '../../catalog/capabilities.ts'
import { assemblyAiLanguages } from './languages.ts'

/** The most words in a term. */
const keyterms = { ...unboundedKeyterms, wordsMax: 6 }

/** AssemblyAI's models. Words always have times. The size limit of an upload is lower than that of a URL. */
export const assemblyAiModels: readonly ModelRule[] = [
  { name: /^universal-2$/, audio: { keyterms: { ...keyterms, countMax: 200 } } },
  {
    name: /^universal-\d/,
    modality: 'transcription',
    audio: {
      verboseJson: true,
      wordTimes: true,
      diarize: true,
      keyterms: { ...keyterms, countMax: 1000 },
      entities: true,
      url: true,
      uploadBytesMax: 2_200_000_000,
      languages: assemblyAiLanguages,
      audioMillisecondsMax: 36_000_000,
    },
  },
]
