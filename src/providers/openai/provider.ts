import { openAiCompletions } from '../../formats/completions/quirks.ts'
import { openAiSpeech } from '../../formats/speech/openai-speech.ts'
import { openAiTranscription } from '../../formats/transcription/openai-transcription.ts'
import { defineProvider, named, onlyFor } from '../define-provider.ts'
import { openAiEmbeddings } from '../../formats/embeddings/quirks.ts'
import { openAiResponses } from '../../formats/text/responses/quirks.ts'
import { openAiChat } from '../../formats/text/chat/quirks.ts'
import { openAiModels, openAiService } from './capabilities.ts'
import { openAiBatchJobs } from './jobs.ts'
import { openAiRetirements } from './retirements.ts'
import { openAiPrices, openAiTiers } from './prices.ts'
import {
  isChatServed,
  isResponsesServed,
  openAiChatOptions,
  openAiEmbeddingsOptions,
  openAiResponsesOptions,
  openAiTranscriptionOptions,
} from './quirks.ts'

export const openai = defineProvider({
  slug: 'openai',
  name: 'OpenAI',
  status: 'recorded',
  baseUrl: 'https://api.openai.com/v1',
  keyVariable: 'OPENAI_API_KEY',
  author: 'openai',
  pricesProviderId: 'openai',
  dataPolicy: { zdr: false, trains: false, stores: true },
  batch: 'native',
  jobs: openAiBatchJobs,
  family: openAiModels,
  modelRules: openAiService,
  prices: openAiPrices,
  retirements: openAiRetirements,
  tiers: openAiTiers,
  adapters: {
    // Calls in other formats are translated to the first interface that serves them.
    language: [
      onlyFor(isResponsesServed, openAiResponses({ ...openAiResponsesOptions, isMaker: true })),
      onlyFor(isChatServed, openAiChat(openAiChatOptions)),
      openAiCompletions({ serves: named(/instruct|davinci-002|babbage-002/) }),
    ],
    embedding: [openAiEmbeddings(openAiEmbeddingsOptions)],
    transcription: openAiTranscription(openAiTranscriptionOptions),
    speech: openAiSpeech(),
  },
  recordedAudio: ['transcription'],
})
