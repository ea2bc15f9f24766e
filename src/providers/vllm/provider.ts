import { openAiCompletions } from '../../formats/completions/quirks.ts'
import { openRerank } from '../../formats/rerank/quirks.ts'
import { openAiTranscription } from '../../formats/transcription/openai-transcription.ts'
import { defineProvider } from '../define-provider.ts'
import { openAiEmbeddings } from '../../formats/embeddings/quirks.ts'
import { anthropicMessages } from '../../formats/text/messages/quirks.ts'
import { openAiResponses } from '../../formats/text/responses/quirks.ts'
import { openAiChat } from '../../formats/text/chat/quirks.ts'
import { ownMachine } from '../own-machine.ts'

export const vllm = defineProvider({
  slug: 'vllm',
  name: 'vLLM',
  baseUrl: 'http://localhost:8000/v1',
  baseUrlVariable: 'VLLM_BASE_URL',
  author: 'vllm',
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
        reasoningHistory: 'reasoning',
      }),
      anthropicMessages({ signsThoughts: false, addresses: { image: 'none', file: 'none' } }),
      openAiResponses({ takesOpenThoughts: true, addresses: { image: 'none', file: 'none' } }),
      openAiCompletions({ refuses: ['suffix'], unknownMembers: 'forward' }),
    ],
    embedding: [openAiEmbeddings({ base64: true, tokenArrays: true, unknownMembers: 'forward' })],
    rerank: [openRerank({ unknownMembers: 'forward' })],
    transcription: openAiTranscription(),
  },
})
