import type { SpeechAdapter } from '../../canonical/audio.ts'
import { mpegOr, rawSpeech } from '../../formats/speech/raw-speech.ts'
import {
  contractSamples,
  speechRequestAdapter,
  speedMember,
} from '../../formats/speech/speech-request-adapter.ts'

const formats = {
  mp3: { container: 'mp3', sample_rate: 44_100, bit_rate: 128_000 },
  pcm: { container: 'raw', encoding: 'pcm_s16le', sample_rate: 24_000 },
}

/** Cartesia's speech as bytes, in the API version of the preset's header. It reports no usage. */
export const cartesiaSpeech: SpeechAdapter = speechRequestAdapter({
  path: () => '/tts/bytes',
  body: (asked) => ({
    model_id: asked.endpoint.upstreamModel,
    transcript: asked.call.input,
    voice: asked.voice,
    output_format: formats[asked.format],
    ...(asked.call.speed === 1 ? {} : { generation_config: speedMember('speed', asked) }),
  }),
  // A named speed, which Cartesia has given up.
  reserved: ['output_format', 'speed'],
  open: ({ format }) => rawSpeech(mpegOr(format, contractSamples)),
})
