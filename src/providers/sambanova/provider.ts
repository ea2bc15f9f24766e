import { openAiTranscription } from '../../formats/transcription/openai-transcription.ts'
import {
  anthropicMessages,
  defineProvider,
  openAiChat,
  openAiEmbeddings,
  openAiResponses,
} from '../define-provider.ts'

export const sambanova = defineProvider({
  slug: 'sambanova',
  name: 'SambaNova',
  baseUrl: 'https://api.sambanova.ai/v1',
  keyVariable: 'SAMBANOVA_API_KEY',
  author: 'sambanova',
  hostsManyMakers: true,
  adapters: {
    language: [
      openAiChat({ accepts: ['top_k'] }),
      // For the same models. https://docs.sambanova.ai/docs/en/features/anthropic-compatibility
      anthropicMessages({ signsThoughts: false }),
      openAiResponses(),
    ],
    embedding: [openAiEmbeddings()],
    transcription: openAiTranscription(),
  },
})
