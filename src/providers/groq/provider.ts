import { pcmFromWav } from '../../formats/speech/openai-speech-options.ts'
import { openAiSpeech } from '../../formats/speech/openai-speech.ts'
import { openAiTranscription } from '../../formats/transcription/openai-transcription.ts'
import { defineProvider } from '../define-provider.ts'
import { openAiResponses } from '../../formats/text/responses/quirks.ts'
import { openAiChat } from '../../formats/text/chat/quirks.ts'
import { groqModels } from './capabilities.ts'
import { groqBatchJobs } from './jobs.ts'
import { groqPrices, groqTiers } from './prices.ts'

export const groq = defineProvider({
  slug: 'groq',
  name: 'Groq',
  status: 'recorded',
  baseUrl: 'https://api.groq.com/openai/v1',
  keyVariable: 'GROQ_API_KEY',
  author: 'groq',
  pricesProviderId: 'groq',
  modelRules: groqModels,
  hostsManyMakers: true,
  prices: groqPrices,
  tiers: groqTiers,
  batch: 'native',
  jobs: groqBatchJobs,
  adapters: {
    language: [
      openAiChat({
        maxTokensField: 'max_completion_tokens',
        accepts: ['reasoning_format', 'include_reasoning'],
        drops: ['logit_bias'],
        refuses: ['logprobs', 'top_logprobs'],
        // Flex costs the same as the default; the performance tier has its own prices.
        serviceTiers: ['auto', 'on_demand', 'flex'],
        messageNames: false,
        choicesMax: 1,
        temperatureMin: 1e-8,
      }),
      // In beta, and stateless. https://console.groq.com/docs/responses-api
      openAiResponses({ takesOpenThoughts: true }),
    ],
    transcription: openAiTranscription({ urlField: 'url' }),
    // Only WAV is documented for its voices, so samples are taken from it, and mp3 is not offered.
    speech: openAiSpeech({ pcm: pcmFromWav }),
  },
  audio: { transcription: { url: true }, speech: { speechFormats: ['pcm'] } },
})
