import { openRerank } from '../../formats/rerank/quirks.ts'
import { defineProvider } from '../define-provider.ts'
import { openAiEmbeddings } from '../../formats/embeddings/quirks.ts'
import { jinaModels } from './capabilities.ts'

export const jina = defineProvider({
  slug: 'jina',
  name: 'Jina',
  baseUrl: 'https://api.jina.ai/v1',
  keyVariable: 'JINA_API_KEY',
  author: 'jina',
  listing: null,
  family: jinaModels,
  documentedModels: [
    'jina-embeddings-v4',
    'jina-embeddings-v3',
    'jina-clip-v2',
    'jina-reranker-v3',
    'jina-reranker-m0',
    'jina-reranker-v2-base-multilingual',
    'jina-colbert-v2',
  ],
  adapters: {
    // It selects encodings by its own member and names; without that member it sends floats.
    embedding: [openAiEmbeddings()],
    rerank: [openRerank({ documentObjects: true, members: { return_documents: false } })],
  },
})
