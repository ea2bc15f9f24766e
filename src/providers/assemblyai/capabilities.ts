import { unboundedKeyterms } from '../../canonical/endpoint.ts'
import type { ModelRule } from '../../catalog/capabilities.ts'
import { assemblyAiLanguages } from './languages.ts'

/** A term has at most so many words. */
const keyterms = { ...unboundedKeyterms, wordsMax: 6 }

/** AssemblyAI's models. Words always have times; an upload may be smaller than what an address gives. */
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
