import { resembleSpeech } from './speech.ts'
import { defineProvider } from '../define-provider.ts'
import { resembleModels } from './capabilities.ts'

export const resemble = defineProvider({
  slug: 'resemble',
  name: 'Resemble AI',
  baseUrl: 'https://f.cluster.resemble.ai',
  keyVariable: 'RESEMBLE_API_KEY',
  author: 'resemble',
  listing: null,
  documentedModels: ['chatterbox-turbo'],
  modelRules: resembleModels,
  adapters: { speech: resembleSpeech },
  // Only WAV is streamed; an mp3 file comes only when the speech is complete.
  audio: { speech: { speechFormats: ['pcm'] } },
})
