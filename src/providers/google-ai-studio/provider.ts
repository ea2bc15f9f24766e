import { defineProvider } from '../define-provider.ts'
import { geminiContent, geminiEmbeddings } from '../../formats/text/gemini/quirks.ts'
import { geminiSpeech } from './speech.ts'
import { geminiBatchJobs } from './jobs.ts'
import { geminiTranscription } from './transcription.ts'
import { googleModels, studioModels, studioSpeech, studioTranscription } from './capabilities.ts'
import { studioPrices, studioTiers } from './prices.ts'
import { geminiOf } from './quirks.ts'

export const googleAiStudio = defineProvider({
  slug: 'google-ai-studio',
  name: 'Google AI Studio',
  status: 'recorded',
  baseUrl: 'https://generativelanguage.googleapis.com/v1beta',
  // The query could carry the key too, but then every log on the way would have it.
  auth: { type: 'header', name: 'x-goog-api-key', prefix: '' },
  keyVariable: 'GEMINI_API_KEY',
  author: 'google',
  listing: { path: '/models?pageSize=1000', shape: 'pages' },
  pricesProviderId: 'google',
  prices: studioPrices,
  tiers: studioTiers,
  batch: 'native',
  jobs: geminiBatchJobs,
  // The path of a model, which some clients and Google's own documentation write as its name.
  publicName: (upstreamModel) => upstreamModel.replace(/^models\//, ''),
  family: googleModels,
  modelRules: studioModels,
  adapters: {
    language: [geminiContent({ modelOf: geminiOf, isMaker: true })],
    embedding: [geminiEmbeddings()],
    transcription: geminiTranscription({ modelOf: geminiOf }),
    speech: geminiSpeech(),
  },
  audio: { transcription: studioTranscription, speech: studioSpeech },
})
