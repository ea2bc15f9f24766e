import { googleCloudTtsSpeech } from './speech.ts'
import { defineProvider } from '../define-provider.ts'
import { googleCloudTtsModels } from './capabilities.ts'

export const googleCloudTts = defineProvider({
  slug: 'google-cloud-tts',
  name: 'Google Cloud Text-to-Speech',
  baseUrl: 'https://texttospeech.googleapis.com/v1',
  // An access token of OAuth. If the project must be named, the operator adds the header `x-goog-user-project`.
  keyVariable: 'GOOGLE_CLOUD_TTS_API_KEY',
  author: 'google',
  listing: null,
  // The provider prices voices by family, so a family is a model here. The names of voices include their family.
  documentedModels: ['chirp3-hd'],
  modelRules: googleCloudTtsModels,
  adapters: { speech: googleCloudTtsSpeech },
})
