import {
  anthropicMessages,
  defineProvider,
  openAiChat,
  openAiEmbeddings,
  openAiResponses,
} from '../define-provider.ts'

const accountPath = /^accounts\/[^/]+\/models\//

/** Its models stand below accounts, as `accounts/fireworks/models/x`; the public id has the name alone. */
function withoutAccount(upstreamModel: string): string {
  return upstreamModel.replace(accountPath, '')
}

export const fireworks = defineProvider({
  slug: 'fireworks',
  name: 'Fireworks',
  baseUrl: 'https://api.fireworks.ai/inference/v1',
  keyVariable: 'FIREWORKS_API_KEY',
  author: 'fireworks',
  pricesProviderId: 'fireworks',
  publicName: withoutAccount,
  hostsManyMakers: true,
  adapters: {
    language: [
      openAiChat({
        streamOptions: 'drop',
        accepts: [
          'top_k',
          'min_p',
          'repetition_penalty',
          'context_length_exceeded_behavior',
          'prompt_truncate_len',
          'reasoning_history',
        ],
        reasoningHistory: 'reasoning_content',
      }),
      // At the same address and for the same models. https://docs.fireworks.ai/tools-sdks/anthropic-compatibility.md
      anthropicMessages(),
      openAiResponses(),
    ],
    embedding: [openAiEmbeddings()],
  },
})
