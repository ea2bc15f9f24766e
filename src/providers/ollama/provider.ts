import { defineProvider } from '../define-provider.ts'
import { openAiEmbeddings } from '../../formats/embeddings/quirks.ts'
import { anthropicMessages } from '../../formats/text/messages/quirks.ts'
import { openAiResponses } from '../../formats/text/responses/quirks.ts'
import { openAiChat } from '../../formats/text/chat/quirks.ts'
import { ownMachine } from '../own-machine.ts'
import { ollamaInspection } from './inspection.ts'

export const ollama = defineProvider({
  slug: 'ollama',
  name: 'Ollama',
  baseUrl: 'http://localhost:11434/v1',
  baseUrlVariable: 'OLLAMA_BASE_URL',
  author: 'ollama',
  inspection: ollamaInspection,
  isLocal: true,
  dataPolicy: ownMachine,
  hostsManyMakers: true,
  adapters: {
    language: [
      openAiChat({
        unknownMembers: 'forward',
        // It would ignore these members silently, so the gateway lists them as dropped.
        drops: ['logit_bias', 'user', 'tool_choice', 'web_search_options'],
        choicesMax: 1,
        // It refuses URLs of images and takes them only as data.
        addresses: { image: 'none', file: 'none' },
        reasoning: 'object',
        reasoningHistory: 'reasoning',
      }),
      // https://github.com/ollama/ollama/blob/main/docs/api/anthropic-compatibility.mdx
      anthropicMessages({
        hasDocuments: false,
        hasCacheMarks: false,
        hasToolChoice: false,
        hasMetadata: false,
        signsThoughts: false,
        addresses: { image: 'none', file: 'none' },
      }),
      openAiResponses({ addresses: { image: 'none', file: 'none' } }),
    ],
    embedding: [openAiEmbeddings({ unknownMembers: 'forward' })],
  },
})
