import { openAiCompletions } from '../../formats/completions/quirks.ts'
import { openRerank } from '../../formats/rerank/quirks.ts'
import { defineProvider } from '../define-provider.ts'
import { openAiEmbeddings } from '../../formats/embeddings/quirks.ts'
import { anthropicMessages } from '../../formats/text/messages/quirks.ts'
import { openAiResponses } from '../../formats/text/responses/quirks.ts'
import { openAiChat } from '../../formats/text/chat/quirks.ts'
import { ownMachine } from '../own-machine.ts'
import { llamaCppInspection } from './inspection.ts'

export const llamacpp = defineProvider({
  slug: 'llamacpp',
  name: 'llama.cpp',
  baseUrl: 'http://localhost:8080/v1',
  baseUrlVariable: 'LLAMACPP_BASE_URL',
  author: 'llamacpp',
  inspection: llamaCppInspection,
  isLocal: true,
  dataPolicy: ownMachine,
  hostsManyMakers: true,
  adapters: {
    language: [
      openAiChat({
        // It would fetch any URL, from inside the operator's network.
        addresses: { image: 'none', file: 'none' },
        unknownMembers: 'forward',
        accepts: ['top_k', 'min_p'],
        renames: { repetition_penalty: 'repeat_penalty' },
        reasoningHistory: 'reasoning_content',
      }),
      anthropicMessages({ signsThoughts: false, addresses: { image: 'none', file: 'none' } }),
      // It turns responses into chat completions itself.
      openAiResponses({ addresses: { image: 'none', file: 'none' } }),
      openAiCompletions({ unknownMembers: 'forward' }),
    ],
    embedding: [
      openAiEmbeddings({
        dimensionsField: null,
        base64: true,
        tokenArrays: true,
        unknownMembers: 'forward',
      }),
    ],
    // Its scores have no fixed range; a larger score is more relevant.
    rerank: [openRerank({ unknownMembers: 'forward' })],
  },
})
