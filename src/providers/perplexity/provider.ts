import { defineProvider } from '../define-provider.ts'
import { openAiEmbeddings } from '../../formats/embeddings/quirks.ts'
import { openAiResponses } from '../../formats/text/responses/quirks.ts'
import { sonarModels } from './capabilities.ts'

/** Its Agent API, which replaced chat completions in September 2026. */
export const perplexity = defineProvider({
  slug: 'perplexity',
  name: 'Perplexity',
  baseUrl: 'https://api.perplexity.ai/v1',
  keyVariable: 'PERPLEXITY_API_KEY',
  author: 'perplexity',
  // The package has prices only for names of the former interface. Searches cost extra, besides the tokens.
  onlyListed: true,
  family: sonarModels,
  hostsManyMakers: true,
  adapters: {
    language: [openAiResponses()],
    // It has only vectors of signed bytes and does not document their scale.
    embedding: [openAiEmbeddings({ int8: true })],
  },
})
