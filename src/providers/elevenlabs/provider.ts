import { elevenLabsSpeech } from './speech.ts'
import { elevenLabsTranscription } from './transcription.ts'
import { defineProvider } from '../define-provider.ts'
import { elevenLabsModels, scribe } from './capabilities.ts'
import { elevenLabsPrices } from './prices.ts'

export const elevenlabs = defineProvider({
  slug: 'elevenlabs',
  name: 'ElevenLabs',
  baseUrl: 'https://api.elevenlabs.io/v1',
  auth: { type: 'header', name: 'xi-api-key', prefix: '' },
  keyVariable: 'ELEVENLABS_API_KEY',
  author: 'elevenlabs',
  listing: null,
  documentedModels: [
    'eleven_v3',
    'eleven_multilingual_v2',
    'eleven_flash_v2_5',
    'eleven_flash_v2',
    'eleven_turbo_v2_5',
    'eleven_turbo_v2',
    'scribe_v2',
    'scribe_v1',
  ],
  modelRules: elevenLabsModels,
  prices: elevenLabsPrices,
  adapters: { speech: elevenLabsSpeech, transcription: elevenLabsTranscription },
  recordedAudio: ['transcription'],
  audio: { transcription: scribe },
})
