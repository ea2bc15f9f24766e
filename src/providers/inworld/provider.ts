import { inworldSpeech } from './speech.ts'
import { bearer, defineProvider } from '../define-provider.ts'
import { inworldModels } from './capabilities.ts'

export const inworld = defineProvider({
  slug: 'inworld',
  name: 'Inworld',
  baseUrl: 'https://api.inworld.ai/tts/v1',
  auth: { type: 'header', name: 'authorization', prefix: 'Basic ' },
  // A JWT, which must be renewed.
  keyForms: { bearer },
  keyVariable: 'INWORLD_API_KEY',
  author: 'inworld',
  listing: null,
  documentedModels: ['inworld-tts-2', 'inworld-tts-1.5-max'],
  modelRules: inworldModels,
  adapters: { speech: inworldSpeech },
})
