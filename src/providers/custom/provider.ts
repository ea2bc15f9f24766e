import { openRerank } from '../../formats/rerank/quirks.ts'
import { openAiChat, openAiMembers } from '../../formats/text/chat/quirks.ts'
import { pcmFromWav } from '../../formats/speech/openai-speech-options.ts'
import { openAiSpeech } from '../../formats/speech/openai-speech.ts'
import { openAiTranscription } from '../../formats/transcription/openai-transcription.ts'
import { defineProvider, named } from '../define-provider.ts'
import { openAiEmbeddings } from '../../formats/embeddings/quirks.ts'
import { customBatchJobs } from './jobs.ts'
import { ownServers } from './capabilities.ts'
import { openAiTranscriptionOptions } from '../openai/quirks.ts'

const isPiper = named(/piper/i)

/** Any other server with OpenAI's formats: the caller's request passes unchanged. */
export const custom = defineProvider({
  slug: 'custom',
  name: 'Custom',
  status: 'recorded',
  baseUrl: null,
  author: 'custom',
  isOperatorNamed: true,
  modelRules: ownServers,
  hostsManyMakers: true,
  jobs: customBatchJobs,
  adapters: {
    language: [
      openAiChat({
        maxTokensField: 'as_sent',
        unknownMembers: 'forward',
        // Cache marks of another format go there only if the operator sets `cache_marks`.
        accepts: [
          ...openAiMembers,
          'top_k',
          'min_p',
          'top_a',
          'repetition_penalty',
          'image_config',
          'cache_control',
        ],
        // Only a caller that uses the server's own format knows which members it takes.
        reasoning: 'as_sent',
        reasoningHistory: 'keep',
        developerRole: true,
      }),
    ],
    embedding: [
      openAiEmbeddings({
        tokenArrays: true,
        contentInputs: true,
        inputType: true,
        user: true,
        unknownMembers: 'forward',
      }),
    ],
    rerank: [
      openRerank({ documentObjects: true, cutField: 'max_tokens_per_doc', unknownMembers: 'forward' }),
    ],
    transcription: openAiTranscription(openAiTranscriptionOptions),
    speech: openAiSpeech({
      // Each of these voices has its own sample rate, which raw samples do not tell.
      modelOf: (asked) => (isPiper(asked) ? { pcm: pcmFromWav } : {}),
    }),
  },
})
