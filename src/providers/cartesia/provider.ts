import { cartesiaSpeech } from './speech.ts'
import { cartesiaTranscription } from './transcription.ts'
import { defineProvider } from '../define-provider.ts'
import { cartesiaModels, inkWhisper } from './capabilities.ts'

export const cartesia = defineProvider({
  slug: 'cartesia',
  name: 'Cartesia',
  baseUrl: 'https://api.cartesia.ai',
  keyVariable: 'CARTESIA_API_KEY',
  author: 'cartesia',
  listing: null,
  documentedModels: ['sonic-3.5', 'sonic-3', 'sonic-latest', 'ink-whisper'],
  modelRules: cartesiaModels,
  adapters: { speech: cartesiaSpeech, transcription: cartesiaTranscription },
  recordedAudio: ['transcription'],
  audio: { transcription: inkWhisper },
  // This date selects the behaviour; a request without it is refused.
  headers: { 'cartesia-version': '2026-08-14' },
})
