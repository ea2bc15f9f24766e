import { openAiCompletions } from '../../formats/completions/quirks.ts'
import { defineProvider } from '../define-provider.ts'
import { openAiChat } from '../../formats/text/chat/quirks.ts'

export const cerebras = defineProvider({
  slug: 'cerebras',
  name: 'Cerebras',
  baseUrl: 'https://api.cerebras.ai/v1',
  keyVariable: 'CEREBRAS_API_KEY',
  author: 'cerebras',
  pricesProviderId: 'cerebras',
  hostsManyMakers: true,
  adapters: {
    language: [
      openAiChat({
        maxTokensField: 'max_completion_tokens',
        accepts: [
          'min_completion_tokens',
          'disable_reasoning',
          'clear_thinking',
          'reasoning_format',
          'prediction',
          'prompt_cache_key',
        ],
        // The prices of flex and priority are not documented, and `auto` may choose them.
        serviceTiers: ['default'],
        reasoningHistory: 'reasoning',
      }),
      openAiCompletions(),
    ],
  },
})
