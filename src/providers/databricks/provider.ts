import { openAiEmbeddings } from '../../formats/embeddings/quirks.ts'
import { openAiChat } from '../../formats/text/chat/quirks.ts'
import { defineProvider } from '../define-provider.ts'
import { fetchDatabricksLogin } from './login.ts'

/** Serving endpoints of a Databricks workspace. Each is a model of the operator's, by the name of its endpoint. */
export const databricks = defineProvider({
  slug: 'databricks',
  name: 'Databricks',
  // The operator's own: `https://<workspace>/serving-endpoints`.
  baseUrl: null,
  baseUrlEndings: ['/serving-endpoints'],
  identity: { kind: 'databricks', fetch: fetchDatabricksLogin },
  author: 'databricks',
  listing: null,
  onlyListed: true,
  hostsManyMakers: true,
  dataPolicy: { zdr: false, trains: false, stores: true },
  adapters: {
    language: [openAiChat()],
    embedding: [openAiEmbeddings()],
  },
})
