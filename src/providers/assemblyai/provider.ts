import { assemblyAiTranscription } from './transcription.ts'
import { defineProvider } from '../define-provider.ts'
import { assemblyAiModels } from './capabilities.ts'
import { assemblyAiPrices } from './prices.ts'

/**
 * Transcripts of recordings, which are jobs. The gateway does not use its interface for short recordings in one
 * request.
 */
export const assemblyai = defineProvider({
  slug: 'assemblyai',
  name: 'AssemblyAI',
  baseUrl: 'https://api.assemblyai.com',
  keyVariable: 'ASSEMBLYAI_API_KEY',
  author: 'assemblyai',
  // The header has the key alone, without a scheme.
  auth: { type: 'header', name: 'authorization', prefix: '' },
  listing: null,
  documentedModels: ['universal-3-5-pro', 'universal-3-pro', 'universal-2'],
  family: assemblyAiModels,
  prices: assemblyAiPrices,
  adapters: { transcription: assemblyAiTranscription },
})
