import { openAiSpeech } from '../../formats/speech/openai-speech.ts'
import { openAiTranscription } from '../../formats/transcription/openai-transcription.ts'
import { defineProvider, openAiChat, openAiEmbeddings } from '../define-provider.ts'

export const deepinfra = defineProvider({
  slug: 'deepinfra',
  name: 'DeepInfra',
  baseUrl: 'https://api.deepinfra.com/v1/openai',
  keyVariable: 'DEEPINFRA_API_KEY',
  author: 'deepinfra',
  hostsManyMakers: true,
  adapters: {
    language: [
      openAiChat({
        accepts: ['top_k', 'min_p', 'repetition_penalty'],
        // Some of its models leave reasoning out of the completion's count.
        reasoningNotCounted: true,
      }),
    ],
    embedding: [openAiEmbeddings()],
    transcription: openAiTranscription(),
    speech: openAiSpeech(),
  },
})
