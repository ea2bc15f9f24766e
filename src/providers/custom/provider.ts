import { openRerank } from '../../formats/rerank/quirks.ts'
import { openAiChat, openAiMembers } from '../../formats/text/chat/quirks.ts'
import { pcmFromWav } from '../../formats/speech/openai-speech-options.ts'
import { openAiSpeech } from '../../formats/speech/openai-speech.ts'
import { openAiTranscription } from '../../formats/transcription/openai-transcription.ts'
import { defineProvider, named } from '../define-provider.ts'
import { openAiEmbeddings } from '../../formats/embeddings/quirks.ts'
import { ownServers } from './capabilities.ts'
import { openAiTranscriptionOptions } from '../openai/quirks.ts'

const isPiper = named(/piper/i)

/** Any other server that speaks OpenAI's formats: what the caller sends goes through as it is. */
export const custom = defineProvider({
  slug: 'custom',
  name: 'Custom',
  status: 'recorded',
  baseUrl: null,
  author: 'custom',
  isOperatorNamed: true,
  modelRules: ownServers,
  hostsManyMakers: true,
  adapters: {
    language: [
      openAiChat({
        maxTokensField: 'as_sent',
        unknownMembers: 'forward',
        // Marks of another format go there only where the operator says so, by `cache_marks`.
        accepts: [
          ...openAiMembers,
          'top_k',
          'min_p',
          'top_a',
          'repetition_penalty',
          'image_config',
          'cache_control',
        ],
        // Which members an unknown server takes only a caller of its own format knows.
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
      // Of these voices each has a rate of its own, which its samples alone do not tell.
      modelOf: (asked) => (isPiper(asked) ? { pcm: pcmFromWav } : {}),
    }),
  },
})
