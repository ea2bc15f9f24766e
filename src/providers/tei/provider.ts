import { openRerank } from '../../formats/rerank/quirks.ts'
import { defineProvider } from '../define-provider.ts'
import { openAiEmbeddings } from '../../formats/embeddings/quirks.ts'
import { ownMachine } from '../own-machine.ts'

/**
 * Text embeddings inference: a server of one model. The operator names the model, because the server has no listing.
 */
export const tei = defineProvider({
  slug: 'tei',
  name: 'Text Embeddings Inference',
  baseUrl: 'http://localhost:8080',
  baseUrlVariable: 'TEI_BASE_URL',
  author: 'tei',
  listing: null,
  isLocal: true,
  dataPolicy: ownMachine,
  hostsManyMakers: true,
  adapters: {
    embedding: [openAiEmbeddings({ dimensionsField: null }, '/v1/embeddings')],
    rerank: [openRerank({ documentsField: 'texts', limitField: null, namesModel: false })],
  },
})
