import { openAiTranscription } from '../../formats/transcription/openai-transcription.ts'
import { defineProvider, openAiChat, openAiEmbeddings } from '../define-provider.ts'
import { mistralModels } from './capabilities.ts'
import { mistralPrices } from './prices.ts'

export const mistral = defineProvider({
  slug: 'mistral',
  name: 'Mistral',
  status: 'recorded',
  baseUrl: 'https://api.mistral.ai/v1',
  keyVariable: 'MISTRAL_API_KEY',
  author: 'mistralai',
  pricesProviderId: 'mistral',
  family: mistralModels,
  prices: mistralPrices,
  adapters: {
    language: [
      openAiChat({
        // It refuses unknown members, and tells usage in the last chunk unasked.
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
      granularitiesField: 'timestamp_granularities',
      hasWordsInSegments: true,
      hasResponseFormat: false,
      urlField: 'file_url',
      keytermsField: 'context_bias',
      combinesLanguageAndTimes: false,
    }),
  },
  audio: { transcription: { url: true, keyterms: true, verboseJson: true } },
})
