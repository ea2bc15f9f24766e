import type { MessagesModel } from '../../formats/text/messages/quirks.ts'
import { defineProvider } from '../define-provider.ts'
import { anthropicMessages } from '../../formats/text/messages/quirks.ts'
import { openAiChat } from '../../formats/text/chat/quirks.ts'
import { deepSeekModels } from './capabilities.ts'
import { deepSeekPrices } from './prices.ts'

/** No budget for thinking, and no form for the answer. */
const messagesModel: MessagesModel = {
  sampling: 'all',
  thinking: 'adaptive',
  hasEffort: true,
  hasSchema: false,
  hasSystemTurns: false,
  outputTokensMax: 8_192,
}

export const deepseek = defineProvider({
  slug: 'deepseek',
  name: 'DeepSeek',
  status: 'recorded',
  baseUrl: 'https://api.deepseek.com',
  keyVariable: 'DEEPSEEK_API_KEY',
  author: 'deepseek',
  pricesProviderId: 'deepseek',
  family: deepSeekModels,
  prices: deepSeekPrices,
  adapters: {
    language: [
      openAiChat({
        accepts: ['thinking'],
        reasoning: 'thinking',
        renames: { user: 'user_id' },
        drops: ['seed', 'logit_bias'],
        jsonSchema: false,
        choicesMax: 1,
        // While thinking, it refuses tool conversations without their earlier reasoning.
        reasoningHistory: 'reasoning_content',
      }),
      // https://api-docs.deepseek.com/guides/anthropic_api
      {
        ...anthropicMessages({
          modelOf: () => messagesModel,
          hasImages: false,
          hasDocuments: false,
          hasCacheMarks: false,
          signsThoughts: false,
        }),
        path: '/anthropic/v1/messages',
        elsewhere: { '/v1': '/anthropic/v1/messages' },
        auth: { authorization: { type: 'header', name: 'x-api-key', prefix: '' } },
      },
    ],
  },
})
