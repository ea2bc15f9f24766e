import { openRerank } from '../../formats/rerank/quirks.ts'
import { defineProvider } from '../define-provider.ts'
import { openAiEmbeddings } from '../../formats/embeddings/quirks.ts'
import { openAiChat } from '../../formats/text/chat/quirks.ts'
import { coherePrices } from './prices.ts'

/** Reranking in Cohere's own format; chat and embeddings by its compatibility interface. */
export const cohere = defineProvider({
  slug: 'cohere',
  name: 'Cohere',
  baseUrl: 'https://api.cohere.com',
  keyVariable: 'COHERE_API_KEY',
  author: 'cohere',
  listing: { path: '/v1/models?page_size=1000', shape: 'openai' },
  pricesProviderId: 'cohere',
  prices: coherePrices,
  adapters: {
    language: [
      openAiChat(
        {
          drops: ['logit_bias', 'logprobs', 'top_logprobs', 'parallel_tool_calls', 'user'],
          nearestEfforts: { minimal: 'none', low: 'high', medium: 'high', xhigh: 'high', max: 'high' },
          choicesMax: 1,
          messageNames: false,
        },
        '/compatibility/v1/chat/completions',
      ),
    ],
    embedding: [openAiEmbeddings({ dimensionsField: null }, '/compatibility/v1/embeddings')],
    rerank: [openRerank({ cutField: 'max_tokens_per_doc' }, '/v2/rerank')],
  },
})
