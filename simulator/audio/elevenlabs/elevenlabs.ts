import { type AudioApi, fieldOf } from '../audio-api.ts'
import { memberOf } from '../speech-api.ts'
import { elevenLabsSpeech, elevenLabsStyle } from './speech.ts'
import { removeTranscript, speechToText } from './speech-to-text.ts'

/** ElevenLabs' API. Webhooks and WebSocket streams are not simulated. */
export const elevenlabs: AudioApi = {
  slug: 'elevenlabs',
  style: elevenLabsStyle,
  uploadBytesMax: 5_000_000_000,
  modelOf: ({ body, json }) =>
    fieldOf(body, 'model_id') ?? (String(memberOf(json, 'model_id') ?? '') || null),
  operations: [
    elevenLabsSpeech,
    { method: 'POST', path: /^\/v1\/speech-to-text$/, answer: speechToText },
    { method: 'DELETE', path: /^\/v1\/speech-to-text\/transcripts\/([^/]+)$/, answer: removeTranscript },
  ],
}
