import type { SpeechAdapter } from '../../canonical/audio.ts'
import { mpegOr } from '../../formats/speech/raw-speech.ts'
import {
  contractSamples,
  speechRequestAdapter,
  speedMember,
} from '../../formats/speech/speech-request-adapter.ts'
import { wrappedSpeech } from '../../formats/speech/wrapped-speech.ts'

const formats = {
  mp3: { audioEncoding: 'MP3' },
  // `LINEAR16` would have a WAV header.
  pcm: { audioEncoding: 'PCM', sampleRateHertz: 24_000 },
}

/**
 * Google Cloud's speech, as base64 in one JSON object without usage. No model is sent: the name of a voice begins with
 * its language and its family (`en-US-Chirp3-HD-Kore`).
 */
export const googleCloudTtsSpeech: SpeechAdapter = speechRequestAdapter({
  path: () => '/text:synthesize',
  body: (asked) => ({
    input: { text: asked.call.input },
    voice: { ...languageOf(asked.voice), name: asked.voice },
    audioConfig: { ...formats[asked.format], ...speedMember('speakingRate', asked) },
  }),
  // Further members of these two would change the spoken text, or select a model with another price.
  reserved: ['input', 'voice'],
  open: ({ format }) =>
    wrappedSpeech({
      framing: 'json',
      at: ['audioContent'],
      encoding: 'base64',
      output: mpegOr(format, contractSamples),
      read: () => ({}),
    }),
})

/** The language and region at the beginning of a voice's name. The provider refuses a name without them. */
const languagePattern = /^[a-z]{2,3}-[a-z0-9]{2,3}(?=-)/i

function languageOf(voice: string | null): { languageCode?: string } {
  const [languageCode] = languagePattern.exec(voice ?? '') ?? []
  return languageCode === undefined ? {} : { languageCode }
}
