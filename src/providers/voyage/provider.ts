import { openRerank } from '../../formats/rerank/quirks.ts'
import { defineProvider } from '../define-provider.ts'
import { openAiEmbeddings } from '../../formats/embeddings/quirks.ts'
import { voyageModels } from './capabilities.ts'
import { voyagePrices } from './prices.ts'

/** It refuses other words than `query` and `document`. */
const inputTypes = { search_query: 'query', search_document: 'document', passage: 'document' }

export const voyage = defineProvider({
  slug: 'voyage',
  name: 'Voyage',
  baseUrl: 'https://api.voyageai.com/v1',
  keyVariable: 'VOYAGE_API_KEY',
  author: 'voyageai',
  listing: null,
  pricesProviderId: 'voyageai',
  prices: voyagePrices,
  family: voyageModels,
  adapters: {
    embedding: [openAiEmbeddings({ dimensionsField: 'output_dimension', inputType: inputTypes })],
    rerank: [openRerank({ limitField: 'top_k', documentsMax: 1_000 })],
  },
})
