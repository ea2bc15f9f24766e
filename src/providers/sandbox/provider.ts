import { openRerank } from '../../formats/rerank/quirks.ts'
import { openAiSpeech } from '../../formats/speech/openai-speech.ts'
import { openAiTranscription } from '../../formats/transcription/openai-transcription.ts'
import { defineProvider } from '../define-provider.ts'
import { openAiEmbeddings } from '../../formats/embeddings/quirks.ts'
import { openAiChat } from '../../formats/text/chat/quirks.ts'
import { ownMachine } from '../own-machine.ts'
import { openAiService } from '../openai/capabilities.ts'
import { openAiPrices } from '../openai/prices.ts'
import { openAiChatOptions, openAiEmbeddingsOptions, openAiTranscriptionOptions } from '../openai/quirks.ts'

/** The simulator. It uses the names of real models, so that every example of the documentation works. */
export const sandbox = defineProvider({
  slug: 'sandbox',
  name: 'Sandbox',
  baseUrl: null,
  author: 'openai',
  pricesProviderId: 'openai',
  dataPolicy: ownMachine,
  batch: 'native',
  isSimulator: true,
  modelRules: openAiService,
  hostsManyMakers: true,
  prices: [
    ...openAiPrices,
    {
      upstream: ['cohere/rerank-v3.5'],
      prices: { search_units_per_thousand: '2' },
      source: 'https://developer.puter.com/tutorials/cohere-api-pricing/',
      seen: '2026-06',
      isThirdParty: true,
    },
  ],
  adapters: {
    language: [openAiChat(openAiChatOptions)],
    embedding: [openAiEmbeddings(openAiEmbeddingsOptions)],
    rerank: [openRerank({ cutField: 'max_tokens_per_doc' })],
    transcription: openAiTranscription(openAiTranscriptionOptions),
    speech: openAiSpeech(),
  },
})
