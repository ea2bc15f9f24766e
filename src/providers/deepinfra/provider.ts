import { openAiCompletions } from '../../formats/completions/quirks.ts'
import { openAiSpeech } from '../../formats/speech/openai-speech.ts'
import { openAiTranscription } from '../../formats/transcription/openai-transcription.ts'
import { defineProvider } from '../define-provider.ts'
import { openAiEmbeddings } from '../../formats/embeddings/quirks.ts'
import { anthropicMessages } from '../../formats/text/messages/quirks.ts'
import { openAiResponses } from '../../formats/text/responses/quirks.ts'
import { openAiChat } from '../../formats/text/chat/quirks.ts'
import { deepinfraBatchJobs } from './jobs.ts'

export const deepinfra = defineProvider({
  slug: 'deepinfra',
  name: 'DeepInfra',
  baseUrl: 'https://api.deepinfra.com/v1/openai',
  keyVariable: 'DEEPINFRA_API_KEY',
  author: 'deepinfra',
  hostsManyMakers: true,
  // A fifth less, of all models that take batches: https://deepinfra.com/blog/batch-api
  tiers: [{ tier: 'batch', models: /^(?!.*(?:whisper|voxtral|tts|kokoro|orpheus))/i, share: [4n, 5n] }],
  batch: 'native',
  jobs: deepinfraBatchJobs,
  adapters: {
    language: [
      openAiChat({
        accepts: ['top_k', 'min_p', 'repetition_penalty'],
        // Some of its models omit reasoning from the completion's count.
        reasoningNotCounted: true,
      }),
      // https://docs.deepinfra.com/api-reference/chat-completions/anthropic-messages
      {
        ...anthropicMessages({ signsThoughts: false }),
        path: '/anthropic/v1/messages',
        elsewhere: { '/v1/openai': '/anthropic/v1/messages' },
      },
      {
        ...openAiResponses(),
        elsewhere: { '/v1/openai': '/v1/responses' },
      },
      openAiCompletions(),
    ],
    embedding: [openAiEmbeddings()],
    transcription: openAiTranscription(),
    speech: openAiSpeech(),
  },
})
