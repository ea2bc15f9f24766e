import { openAiCompletions } from '../../formats/completions/quirks.ts'
import { openRerank } from '../../formats/rerank/quirks.ts'
import { openAiChat, openAiMembers } from '../../formats/text/chat/quirks.ts'
import { openAiSpeech } from '../../formats/speech/openai-speech.ts'
import { contractReferences } from '../../formats/speech/reference-members.ts'
import { jsonAudioTranscription } from './transcription.ts'
import { claudeOf } from '../anthropic/quirks.ts'
import { defineProvider } from '../define-provider.ts'
import { openAiEmbeddings } from '../../formats/embeddings/quirks.ts'
import { anthropicMessages } from '../../formats/text/messages/quirks.ts'
import { openAiResponses } from '../../formats/text/responses/quirks.ts'
import { openRouterBatchJobs } from './jobs.ts'
import { openRouterModels } from './capabilities.ts'

/** OpenRouter as one provider among others; it decides which host serves a model. */
export const openrouter = defineProvider({
  slug: 'openrouter',
  name: 'OpenRouter',
  baseUrl: 'https://openrouter.ai/api/v1',
  keyVariable: 'OPENROUTER_API_KEY',
  author: 'openrouter',
  pricesProviderId: 'openrouter',
  modelRules: openRouterModels,
  hostsManyMakers: true,
  freeEnding: ':free',
  // What a model costs in batches the list of prices says.
  batch: 'native',
  jobs: openRouterBatchJobs,
  adapters: {
    language: [
      openAiChat({
        maxTokensField: 'as_sent',
        // It sends usage without being asked.
        streamOptions: 'drop',
        accepts: [
          ...openAiMembers,
          'top_k',
          'min_p',
          'top_a',
          'repetition_penalty',
          'image_config',
          'cache_control',
        ],
        reasoning: 'object',
        addresses: { image: 'any', file: 'any' },
        // Details of reasoning must come back unchanged.
        reasoningHistory: 'keep',
        developerRole: true,
      }),
      anthropicMessages({ modelOf: claudeOf }),
      openAiResponses({ sealsThoughts: true, hasOpenAiMembers: true }),
      openAiCompletions(),
    ],
    embedding: [openAiEmbeddings({ base64: true, contentInputs: true, inputType: true, user: true })],
    rerank: [openRerank({ documentObjects: true })],
    transcription: jsonAudioTranscription(),
    speech: openAiSpeech({ references: contractReferences }),
  },
  // It reports missing capabilities of a model itself, in the contract's words.
  audio: {
    transcription: {
      url: true,
      verboseJson: true,
      uploadFormats: ['wav', 'mp3', 'flac', 'm4a', 'ogg', 'webm', 'aac', 'pcm'],
    },
    speech: {
      speed: { min: 0.25, max: 4 },
      isVoiceOptional: true,
      voiceCloning: true,
      multipleReferences: true,
      imageReference: true,
    },
  },
})
