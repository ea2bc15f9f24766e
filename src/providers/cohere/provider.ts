import { openRerank } from '../../formats/rerank/quirks.ts'
import { cohereChat, cohereEmbeddings } from '../../formats/text/cohere/quirks.ts'
import { defineProvider } from '../define-provider.ts'
import { coherePrices } from './prices.ts'
import { commandOf } from './quirks.ts'

/** Chat, embeddings and reranking in Cohere's own formats; what is billed is told in its own counts. */
export const cohere = defineProvider({
  slug: 'cohere',
  name: 'Cohere',
  status: 'recorded',
  baseUrl: 'https://api.cohere.com',
  keyVariable: 'COHERE_API_KEY',
  author: 'cohere',
  listing: { path: '/v1/models?page_size=1000', shape: 'openai' },
  pricesProviderId: 'cohere',
  prices: coherePrices,
  adapters: {
    language: [cohereChat({ modelOf: commandOf })],
    embedding: [cohereEmbeddings()],
    rerank: [openRerank({ cutField: 'max_tokens_per_doc' }, '/v2/rerank')],
  },
})
