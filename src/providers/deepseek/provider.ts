import { defineProvider, openAiChat } from '../define-provider.ts'
import { deepSeekModels } from './capabilities.ts'

export const deepseek = defineProvider({
  slug: 'deepseek',
  name: 'DeepSeek',
  baseUrl: 'https://api.deepseek.com',
  keyVariable: 'DEEPSEEK_API_KEY',
  author: 'deepseek',
  pricesProviderId: 'deepseek',
  family: deepSeekModels,
  adapters: {
    language: [
      openAiChat({
        accepts: ['thinking'],
        renames: { user: 'user_id' },
        drops: ['seed', 'logit_bias'],
        jsonSchema: false,
        choicesMax: 1,
        // With thinking on, it refuses tool conversations whose earlier reasoning does not come back.
        reasoningHistory: 'reasoning_content',
      }),
    ],
  },
})
