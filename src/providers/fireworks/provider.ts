import { openAiCompletions } from '../../formats/completions/quirks.ts'
import { openAiTranscription } from '../../formats/transcription/openai-transcription.ts'
import { defineProvider } from '../define-provider.ts'
import { openAiEmbeddings } from '../../formats/embeddings/quirks.ts'
import { anthropicMessages } from '../../formats/text/messages/quirks.ts'
import { openAiResponses } from '../../formats/text/responses/quirks.ts'
import { openAiChat } from '../../formats/text/chat/quirks.ts'
import { fireworksModels } from './capabilities.ts'
import { fireworksPrices } from './prices.ts'

const address = 'https://api.fireworks.ai/inference/v1'

/**
 * The hosts for transcription in its reference (https://docs.fireworks.ai/api-reference/audio-transcriptions). Older
 * pages name `audio-prod` and `audio-turbo` of `us-virginia-1.direct.fireworks.ai`. A URL of the operator's replaces
 * all of them.
 */
function audioHostOf(model: string): string {
  return `https://audio-${/turbo/.test(model) ? 'turbo' : 'prod'}.api.fireworks.ai`
}

const accountPath = /^accounts\/[^/]+\/models\//

/** Its model names include an account, as in `accounts/fireworks/models/x`; the public id has only the name. */
function withoutAccount(upstreamModel: string): string {
  return upstreamModel.replace(accountPath, '')
}

export const fireworks = defineProvider({
  slug: 'fireworks',
  name: 'Fireworks',
  baseUrl: address,
  keyVariable: 'FIREWORKS_API_KEY',
  author: 'fireworks',
  pricesProviderId: 'fireworks',
  publicName: withoutAccount,
  modelRules: fireworksModels,
  prices: fireworksPrices,
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
      // At the same base URL and for the same models. https://docs.fireworks.ai/tools-sdks/anthropic-compatibility.md
      anthropicMessages(),
      openAiResponses(),
      openAiCompletions(),
    ],
    embedding: [openAiEmbeddings()],
    transcription: openAiTranscription({
      // Transcription has its own host for each model.
      elsewhere: { [address]: ({ model }) => `${audioHostOf(model)}/v1/audio/transcriptions` },
      nameOf: withoutAccount,
      listMark: '',
      urlField: 'file',
    }),
  },
  audio: { transcription: { url: true } },
})
