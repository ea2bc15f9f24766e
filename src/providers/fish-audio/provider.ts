import { fishSpeech } from './speech.ts'
import { defineProvider } from '../define-provider.ts'
import { fishModels } from './capabilities.ts'
import { fishPrices } from './prices.ts'

export const fishAudio = defineProvider({
  slug: 'fish-audio',
  name: 'Fish Audio',
  baseUrl: 'https://api.fish.audio/v1',
  keyVariable: 'FISH_AUDIO_API_KEY',
  author: 'fish-audio',
  listing: null,
  documentedModels: ['s2.1-pro', 's2-pro', 's1'],
  modelRules: fishModels,
  prices: fishPrices,
  adapters: { speech: fishSpeech },
})
