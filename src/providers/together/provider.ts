import { openAiCompletions } from '../../formats/completions/quirks.ts'
import { openRerank } from '../../formats/rerank/quirks.ts'
import { openAiSpeech } from '../../formats/speech/openai-speech.ts'
import { openAiTranscription } from '../../formats/transcription/openai-transcription.ts'
import { defineProvider } from '../define-provider.ts'
import { openAiEmbeddings } from '../../formats/embeddings/quirks.ts'
import { openAiChat } from '../../formats/text/chat/quirks.ts'
import { togetherBatchJobs } from './jobs.ts'
import { togetherModels } from './capabilities.ts'

export const together = defineProvider({
  slug: 'together',
  name: 'Together',
  baseUrl: 'https://api.together.ai/v1',
  keyVariable: 'TOGETHER_API_KEY',
  author: 'together',
  listing: { path: '/models', shape: 'bare_array' },
  pricesProviderId: 'together',
  modelRules: togetherModels,
  hostsManyMakers: true,
  // Only some models cost less in batches, and no list of them was found, so the operator states it.
  batch: 'native',
  jobs: togetherBatchJobs,
  adapters: {
    language: [
      openAiChat({
        accepts: ['top_k', 'min_p', 'repetition_penalty', 'context_length_exceeded_behavior', 'safety_model'],
        reasoning: 'switch',
        nearestEfforts: { minimal: 'low', xhigh: 'high', max: 'high' },
      }),
      openAiCompletions(),
    ],
    embedding: [openAiEmbeddings()],
    rerank: [openRerank({ members: { return_documents: false } })],
    // Without a language it would assume English.
    transcription: openAiTranscription({ urlField: 'file', languageWhenOmitted: 'auto' }),
    speech: openAiSpeech({
      pcm: {
        name: 'raw',
        members: { response_encoding: 'pcm_s16le', sample_rate: 24_000 },
        output: { container: 'pcm', encoding: 's16le', rate: 24_000, channels: 1 },
      },
    }),
  },
  audio: { transcription: { url: true } },
})
