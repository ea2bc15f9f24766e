import { defineProvider } from '../define-provider.ts'
import { openAiEmbeddings } from '../../formats/embeddings/quirks.ts'
import { openAiResponses } from '../../formats/text/responses/quirks.ts'
import { sonarModels } from './capabilities.ts'

/** Its Agent API, which took the place of chat completions in September 2026. */
export const perplexity = defineProvider({
  slug: 'perplexity',
  name: 'Perplexity',
  baseUrl: 'https://api.perplexity.ai/v1',
  keyVariable: 'PERPLEXITY_API_KEY',
  author: 'perplexity',
  // What has a price in the package are names of the interface that is no more. Its searches cost besides the tokens.
  onlyListed: true,
  family: sonarModels,
  hostsManyMakers: true,
  adapters: {
    language: [openAiResponses()],
    // Vectors of signed bytes are all it has; what they are a share of it does not tell.
    embedding: [openAiEmbeddings({ int8: true })],
  },
})
