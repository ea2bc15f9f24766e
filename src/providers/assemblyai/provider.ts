import { assemblyAiTranscription } from './transcription.ts'
import { defineProvider } from '../define-provider.ts'
import { assemblyAiModels } from './capabilities.ts'
import { assemblyAiPrices } from './prices.ts'

/** Its transcripts of recordings, which are jobs. Its interface for short recordings in one request is not asked. */
export const assemblyai = defineProvider({
  slug: 'assemblyai',
  name: 'AssemblyAI',
  baseUrl: 'https://api.assemblyai.com',
  keyVariable: 'ASSEMBLYAI_API_KEY',
  author: 'assemblyai',
  // The key stands alone, without a word for a scheme.
  auth: { type: 'header', name: 'authorization', prefix: '' },
  listing: null,
  documentedModels: ['universal-3-5-pro', 'universal-3-pro', 'universal-2'],
  family: assemblyAiModels,
  prices: assemblyAiPrices,
  adapters: { transcription: assemblyAiTranscription },
})
