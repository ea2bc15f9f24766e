import { defineProvider } from '../define-provider.ts'
import { openAiChat } from '../../formats/text/chat/quirks.ts'
import { glmModels } from './capabilities.ts'

export const zai = defineProvider({
  slug: 'zai',
  name: 'Z.ai',
  baseUrl: 'https://api.z.ai/api/paas/v4',
  keyVariable: 'ZAI_API_KEY',
  author: 'z-ai',
  // No listing is documented: what has a price is offered, and what the configuration names.
  listing: null,
  pricesProviderId: 'zai',
  family: glmModels,
  adapters: {
    language: [
      openAiChat({
        // It tells usage in the last chunk unasked.
        streamOptions: 'drop',
        // Models before GLM-5.2 know no effort.
        reasoning: 'thinking',
        accepts: ['thinking', 'do_sample', 'tool_stream', 'request_id'],
        renames: { user: 'user_id' },
        drops: ['presence_penalty', 'frequency_penalty', 'logit_bias', 'seed'],
        // Its models choose among the tools themselves.
        refuses: ['logprobs', 'top_logprobs', 'tool_choice', 'parallel_tool_calls'],
        messageNames: false,
        jsonSchema: false,
        choicesMax: 1,
        reasoningHistory: 'reasoning_content',
      }),
    ],
  },
})
