import { revAiTranscription } from './transcription.ts'
import { defineProvider } from '../define-provider.ts'
import { revAiModels } from './capabilities.ts'

/**
 * Its asynchronous jobs, done by machines. Other regions are other addresses. What a minute costs depends on its language, which
 * no price of a model can say: the operator states it.
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
