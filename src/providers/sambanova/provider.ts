import { openAiCompletions } from '../../formats/completions/quirks.ts'
import { openAiTranscription } from '../../formats/transcription/openai-transcription.ts'
import { defineProvider } from '../define-provider.ts'
import { openAiEmbeddings } from '../../formats/embeddings/quirks.ts'
import { anthropicMessages } from '../../formats/text/messages/quirks.ts'
import { openAiResponses } from '../../formats/text/responses/quirks.ts'
import { openAiChat } from '../../formats/text/chat/quirks.ts'

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
      openAiCompletions(),
    ],
    embedding: [openAiEmbeddings()],
    transcription: openAiTranscription(),
  },
})
