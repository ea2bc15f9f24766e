import type { AudioApi } from '../audio-api.ts'
import { memberOf } from '../speech-api.ts'
import { elevenLabsSpeech, elevenLabsStyle } from './speech.ts'

export const elevenlabs: AudioApi = {
  slug: 'elevenlabs',
  style: elevenLabsStyle,
  uploadBytesMax: 1_000_000,
  modelOf: ({ json }) => String(memberOf(json, 'model_id') ?? '') || null,
  operations: [elevenLabsSpeech],
}
