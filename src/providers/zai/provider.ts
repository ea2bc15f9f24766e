import { defineProvider } from '../define-provider.ts'
import { openAiChat } from '../../formats/text/chat/quirks.ts'
import { zhipuBatchJobs } from './jobs.ts'
import { glmModels } from './capabilities.ts'

export const zai = defineProvider({
  slug: 'zai',
  name: 'Z.ai',
  baseUrl: 'https://api.z.ai/api/paas/v4',
  keyVariable: 'ZAI_API_KEY',
  author: 'z-ai',
  // No listing is documented, so models come from prices and from the configuration.
  listing: null,
  pricesProviderId: 'zai',
  family: glmModels,
  // Half, of models of the fourth generation: https://docs.bigmodel.cn/cn/guide/tools/batch
  tiers: [{ tier: 'batch', models: /^glm-4/, share: [1n, 2n] }],
  // Only the domestic address has it, so the operator switches it on.
  jobs: zhipuBatchJobs,
  adapters: {
    language: [
      openAiChat({
        // It sends usage in the last chunk without being asked.
        streamOptions: 'drop',
        // Models before GLM-5.2 have no effort.
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
