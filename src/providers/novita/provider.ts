import { novitaBatchJobs } from './jobs.ts'
import { openAiCompletions } from '../../formats/completions/quirks.ts'
import { defineProvider, onlyFor } from '../define-provider.ts'
import { openAiEmbeddings } from '../../formats/embeddings/quirks.ts'
import { anthropicMessages } from '../../formats/text/messages/quirks.ts'
import { openAiChat } from '../../formats/text/chat/quirks.ts'

export const novita = defineProvider({
  slug: 'novita',
  name: 'Novita',
  baseUrl: 'https://api.novita.ai/openai/v1',
  keyVariable: 'NOVITA_API_KEY',
  author: 'novita',
  pricesProviderId: 'novita',
  hostsManyMakers: true,
  // Its page states no price of batches, so the operator does.
  batch: 'native',
  jobs: novitaBatchJobs,
  adapters: {
    language: [
      openAiChat({ accepts: ['top_k', 'min_p', 'repetition_penalty'] }),
      // Only for some models, which its listing marks. https://novita.ai/docs/guides/llm-anthropic-compatibility.md
      onlyFor(({ interfaces }) => interfaces?.includes('anthropic') ?? false, {
        ...anthropicMessages({ signsThoughts: false }),
        path: '/anthropic/v1/messages',
        elsewhere: { '/openai/v1': '/anthropic/v1/messages', '/v3/openai': '/anthropic/v1/messages' },
      }),
      openAiCompletions(),
    ],
    embedding: [openAiEmbeddings()],
  },
})
