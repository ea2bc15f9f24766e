import { defineProvider } from '../define-provider.ts'
import { openAiEmbeddings } from '../../formats/embeddings/quirks.ts'
import { anthropicMessages } from '../../formats/text/messages/quirks.ts'
import { openAiResponses } from '../../formats/text/responses/quirks.ts'
import { openAiChat } from '../../formats/text/chat/quirks.ts'
import { ownMachine } from '../own-machine.ts'

export const lmstudio = defineProvider({
  slug: 'lmstudio',
  name: 'LM Studio',
  baseUrl: 'http://127.0.0.1:1234/v1',
  baseUrlVariable: 'LMSTUDIO_BASE_URL',
  author: 'lmstudio',
  isLocal: true,
  dataPolicy: ownMachine,
  hostsManyMakers: true,
  adapters: {
    language: [
      openAiChat({
        // It takes images only as data.
        addresses: { image: 'none', file: 'none' },
        unknownMembers: 'forward',
        accepts: ['top_k'],
        renames: { repetition_penalty: 'repeat_penalty' },
      }),
      anthropicMessages({ addresses: { image: 'none', file: 'none' }, signsThoughts: false }),
      openAiResponses({ addresses: { image: 'none', file: 'none' } }),
    ],
    embedding: [openAiEmbeddings({ unknownMembers: 'forward' })],
  },
})
