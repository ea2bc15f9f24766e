import type { SpeechAdapter } from '../../canonical/audio.ts'
import { mpegOr, rawSpeech } from '../../formats/speech/raw-speech.ts'
import {
  contractSamples,
  speechRequestAdapter,
  speedMember,
} from '../../formats/speech/speech-request-adapter.ts'

const formats = {
  mp3: { codec: 'mp3', sample_rate: 24_000, bit_rate: 128_000 },
  pcm: { codec: 'pcm', sample_rate: 24_000 },
}

/**
 * xAI's speech as bytes. The request names no model. A language is required: the caller's options may name one,
 * otherwise xAI detects it (https://docs.x.ai/developers/model-capabilities/audio/text-to-speech).
 */
export const xAiSpeech: SpeechAdapter = speechRequestAdapter({
  path: () => '/tts',
  usual: { language: 'auto' },
  body: (asked) => ({
    text: asked.call.input,
    voice_id: asked.voice,
    output_format: formats[asked.format],
    ...speedMember('speed', asked),
  }),
  reserved: ['output_format', 'with_timestamps', 'speed'],
  open: ({ format }) => rawSpeech(mpegOr(format, contractSamples)),
})
