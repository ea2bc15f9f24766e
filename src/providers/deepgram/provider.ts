import { deepgramSpeech } from '../../formats/speech/deepgram-speech.ts'
import { defineProvider } from '../define-provider.ts'
import { auraModels } from './capabilities.ts'
import { deepgramPrices } from './prices.ts'

export const deepgram = defineProvider({
  slug: 'deepgram',
  name: 'Deepgram',
  baseUrl: 'https://api.deepgram.com/v1',
  auth: { type: 'header', name: 'authorization', prefix: 'Token ' },
  keyVariable: 'DEEPGRAM_API_KEY',
  author: 'deepgram',
  listing: null,
  modelRules: auraModels,
  prices: deepgramPrices,
  adapters: { speech: deepgramSpeech },
})
