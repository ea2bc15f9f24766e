import { revAiTranscription } from './transcription.ts'
import { defineProvider } from '../define-provider.ts'
import { revAiModels } from './capabilities.ts'

/**
 * Its asynchronous jobs, done by machines. Other regions have other URLs. The price of a minute depends on the
 * language, which a model's price cannot express, so the operator states it.
 */
export const revai = defineProvider({
  slug: 'revai',
  name: 'Rev AI',
  baseUrl: 'https://api.rev.ai/speechtotext/v1',
  keyVariable: 'REVAI_API_KEY',
  author: 'revai',
  listing: null,
  documentedModels: ['machine', 'low_cost', 'fusion'],
  modelRules: revAiModels,
  adapters: { transcription: revAiTranscription },
  recordedAudio: ['transcription'],
})
