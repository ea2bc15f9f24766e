import { defineProvider } from '../define-provider.ts'
import { openAiEmbeddings } from '../../formats/embeddings/quirks.ts'
import { openAiChat } from '../../formats/text/chat/quirks.ts'
import { ownMachine } from '../own-machine.ts'

export const sglang = defineProvider({
  slug: 'sglang',
  name: 'SGLang',
  baseUrl: 'http://localhost:30000/v1',
  baseUrlVariable: 'SGLANG_BASE_URL',
  author: 'sglang',
  isLocal: true,
  dataPolicy: ownMachine,
  hostsManyMakers: true,
  adapters: {
    language: [
      openAiChat({
        // It would fetch any URL, from inside the operator's network.
        addresses: { image: 'none', file: 'none' },
        unknownMembers: 'forward',
        accepts: ['top_k', 'min_p', 'repetition_penalty'],
        drops: ['user'],
        reasoningHistory: 'reasoning_content',
      }),
    ],
    embedding: [openAiEmbeddings({ unknownMembers: 'forward' })],
  },
})
