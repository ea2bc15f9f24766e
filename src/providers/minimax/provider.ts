import { miniMaxSpeech } from './speech.ts'
import { defineProvider } from '../define-provider.ts'
import { miniMaxModels } from './capabilities.ts'
import { miniMaxPrices } from './prices.ts'

export const minimax = defineProvider({
  slug: 'minimax',
  name: 'MiniMax',
  baseUrl: 'https://api.minimax.io/v1',
  keyVariable: 'MINIMAX_API_KEY',
  author: 'minimax',
  listing: null,
  modelRules: miniMaxModels,
  prices: miniMaxPrices,
  adapters: { speech: miniMaxSpeech },
})
