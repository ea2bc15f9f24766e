import { mistralSpeech } from './speech.ts'
import { openAiTranscription } from '../../formats/transcription/openai-transcription.ts'
import { defineProvider, named } from '../define-provider.ts'
import { openAiEmbeddings } from '../../formats/embeddings/quirks.ts'
import { openAiChat } from '../../formats/text/chat/quirks.ts'
import { mistralKeyterms, mistralModels, mistralVoices } from './capabilities.ts'
import { mistralBatchJobs } from './jobs.ts'
import { mistralPrices, mistralTiers } from './prices.ts'

/** The second of its family: it sends words as segments, and refuses a language together with times. The third has no words. */
const isSecondVoxtral = named(/voxtral-mini-(?:2602|latest)/i)

export const mistral = defineProvider({
  slug: 'mistral',
  name: 'Mistral',
  status: 'recorded',
  baseUrl: 'https://api.mistral.ai/v1',
  keyVariable: 'MISTRAL_API_KEY',
  author: 'mistralai',
  pricesProviderId: 'mistral',
  family: mistralModels,
  modelRules: mistralVoices,
  prices: mistralPrices,
  tiers: mistralTiers,
  batch: 'native',
  jobs: mistralBatchJobs,
  adapters: {
    language: [
      openAiChat({
        // It refuses unknown members, and sends usage in the last chunk without being asked.
        streamOptions: 'drop',
        renames: { seed: 'random_seed' },
        accepts: ['prompt_cache_key', 'safe_prompt', 'prompt_mode', 'random_seed'],
        drops: ['logit_bias', 'user'],
        refuses: ['logprobs', 'top_logprobs', 'functions', 'function_call'],
        toolChoiceRequired: 'any',
        messageNames: false,
        toolMessageNames: true,
        shortToolCallIds: true,
      }),
    ],
    embedding: [openAiEmbeddings({ dimensionsField: 'output_dimension' })],
    transcription: openAiTranscription({
      verboseFormat: null,
      listMark: '',
      urlField: 'file_url',
      keytermsField: 'context_bias',
      // A term may contain neither spaces nor commas, and the transcript may repeat the joiner.
      keytermJoiner: '_',
      diarizesSegments: true,
      streams: { delta: 'transcription.text.delta', deltaMember: 'text', done: 'transcription.done' },
      modelOf: (asked) =>
        isSecondVoxtral(asked) ? { hasWordsInSegments: true, combinesLanguageAndTimes: false } : {},
    }),
    speech: mistralSpeech,
  },
  recordedAudio: ['transcription'],
  audio: { transcription: { url: true, keyterms: mistralKeyterms, verboseJson: true } },
})
