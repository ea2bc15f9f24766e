import { fishSpeech } from '../../formats/speech/fish-speech.ts'
import { defineProvider } from '../define-provider.ts'
import { fishModels } from './capabilities.ts'

export const fishAudio = defineProvider({
  slug: 'fish-audio',
  name: 'Fish Audio',
  baseUrl: 'https://api.fish.audio/v1',
  keyVariable: 'FISH_AUDIO_API_KEY',
  author: 'fish-audio',
  listing: null,
  // It bills the bytes of UTF-8.
  documentedModels: ['s2.1-pro', 's2-pro', 's1'],
  modelRules: fishModels,
  adapters: { speech: fishSpeech },
})
