import { auraVoicePattern, deepgramSpeech } from './speech.ts'
import { deepgramTranscription } from './transcription.ts'
import { defineProvider } from '../define-provider.ts'
import { deepgramListening, deepgramModels } from './capabilities.ts'
import { deepgramPrices } from './prices.ts'

export const deepgram = defineProvider({
  slug: 'deepgram',
  name: 'Deepgram',
  baseUrl: 'https://api.deepgram.com/v1',
  // Deepgram's own scheme. Its short-lived tokens, which are bearers, do not suit a gateway.
  auth: { type: 'header', name: 'authorization', prefix: 'Token ' },
  keyVariable: 'DEEPGRAM_API_KEY',
  author: 'deepgram',
  listing: null,
  familyOfVoice: (upstreamModel) => auraVoicePattern.exec(upstreamModel)?.[1] ?? null,
  documentedModels: ['nova-3-medical', 'nova-2'],
  modelRules: deepgramModels,
  prices: deepgramPrices,
  adapters: { speech: deepgramSpeech, transcription: deepgramTranscription },
  recordedAudio: ['transcription'],
  audio: { transcription: deepgramListening },
})
