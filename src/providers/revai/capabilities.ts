import { unboundedKeyterms } from '../../canonical/endpoint.ts'
import type { ModelRule } from '../../catalog/capabilities.ts'

/** Languages other than English take so many terms, English six times as many. Terms have no digits. */
const keyterms = { ...unboundedKeyterms, countMax: 1_000, wordsMax: 12, forbidden: '0123456789' }

/**
 * Rev AI's transcribers, whose plain names say nothing at another host. Words always have times. All but the first hear
 * English alone: for every other language Rev AI takes another one, at another price, whatever is asked for
 * (https://docs.rev.ai/api/asynchronous/transcribers). Bounds: https://docs.rev.ai/api/asynchronous/files and
 * https://docs.rev.ai/api/custom-vocabulary.
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
