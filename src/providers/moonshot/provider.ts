import type { ChatQuirkOptions } from '../../formats/text/chat/quirks.ts'
import { defineProvider, named, notNamed, onlyFor } from '../define-provider.ts'
import { anthropicMessages } from '../../formats/text/messages/quirks.ts'
import { openAiChat } from '../../formats/text/chat/quirks.ts'
import { kimiModels } from './capabilities.ts'
import { moonshotBatchJobs } from './jobs.ts'

const moonshotChat: ChatQuirkOptions = {
  accepts: ['thinking', 'prompt_cache_key'],
  reasoning: 'thinking',
  drops: ['logit_bias', 'seed', 'user'],
  refuses: ['logprobs', 'top_logprobs'],
  // It refuses a tool conversation without its earlier reasoning.
  reasoningHistory: 'reasoning_content',
}

const kimi = /kimi/i

export const moonshot = defineProvider({
  slug: 'moonshot',
  name: 'Moonshot AI',
  baseUrl: 'https://api.moonshot.ai/v1',
  keyVariable: 'MOONSHOT_API_KEY',
  author: 'moonshotai',
  pricesProviderId: 'moonshotai',
  family: kimiModels,
  // Batches cost 60 % of the usual price, and take this model alone, by the page of batch pricing at platform.kimi.ai.
  tiers: [{ tier: 'batch', models: /^kimi-k2\.5$/, share: [3n, 5n] }],
  batch: 'native',
  jobs: moonshotBatchJobs,
  adapters: {
    language: [
      onlyFor(
        named(kimi),
        // Its sampling is fixed, and it refuses other values. https://platform.kimi.ai/docs/api/models-overview
        openAiChat({
          ...moonshotChat,
          drops: [
            'temperature',
            'top_p',
            'presence_penalty',
            'frequency_penalty',
            'logit_bias',
            'seed',
            'user',
          ],
          choicesMax: 1,
        }),
      ),
      onlyFor(notNamed(kimi), openAiChat(moonshotChat)),
      {
        ...anthropicMessages({ signsThoughts: false }),
        path: '/anthropic/v1/messages',
        elsewhere: { '/v1': '/anthropic/v1/messages' },
      },
    ],
  },
})
