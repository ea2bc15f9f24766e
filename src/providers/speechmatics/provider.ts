import { speechmaticsTranscription } from './transcription.ts'
import { defineProvider } from '../define-provider.ts'
import { speechmaticsModels } from './capabilities.ts'

/** Its batch jobs. Other regions have other URLs. Their price is unknown, so the operator states it. */
export const speechmatics = defineProvider({
  slug: 'speechmatics',
  name: 'Speechmatics',
  baseUrl: 'https://eu1.asr.api.speechmatics.com/v2',
  keyVariable: 'SPEECHMATICS_API_KEY',
  author: 'speechmatics',
  listing: null,
  documentedModels: ['standard', 'enhanced', 'melia-1'],
  modelRules: speechmaticsModels,
  adapters: { transcription: speechmaticsTranscription },
})
