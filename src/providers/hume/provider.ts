import { humeSpeech } from './speech.ts'
import { defineProvider } from '../define-provider.ts'
import { humeModels } from './capabilities.ts'

export const hume = defineProvider({
  slug: 'hume',
  name: 'Hume',
  baseUrl: 'https://api.hume.ai/v0',
  auth: { type: 'header', name: 'x-hume-api-key', prefix: '' },
  keyVariable: 'HUME_API_KEY',
  author: 'hume',
  listing: null,
  documentedModels: ['octave-2', 'octave-1'],
  modelRules: humeModels,
  adapters: { speech: humeSpeech },
})
