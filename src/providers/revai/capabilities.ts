import { unboundedKeyterms } from '../../canonical/endpoint.ts'
import type { ModelRule } from '../../catalog/capabilities.ts'

/** This many terms for languages other than English; English takes six times as many. Terms have no digits. */
const keyterms = { ...unboundedKeyterms, countMax: 1_000, wordsMax: 12, forbidden: '0123456789' }

/**
 * Rev AI's transcribers; at another host these plain names would mean nothing. Words always have times. All but the
 * first hear only English: for any other language Rev AI uses another transcriber, at another price, whatever the
 * request says (https://docs.rev.ai/api/asynchronous/transcribers). Limits: https://docs.rev.ai/api/asynchronous/files
 * and https://docs.rev.ai/api/custom-vocabulary.
 */
export const revAiModels: readonly ModelRule[] = [
  { name: /^(?:low_cost|fusion)$/, audio: { languages: ['en'] } },
  {
    name: /^(?:machine|low_cost|fusion)$/,
    modality: 'transcription',
    audio: {
      verboseJson: true,
      wordTimes: true,
      diarize: true,
      keyterms,
      url: true,
      uploadBytesMax: 2_000_000_000,
      audioMillisecondsMax: 17 * 3_600_000,
    },
  },
]
