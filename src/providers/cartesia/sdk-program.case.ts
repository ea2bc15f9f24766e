import Cartesia from '@cartesia/cartesia-js'
import type { At, Intentions } from '../../../test/vendor-sdks/programs/at.ts'

const clientOf = ({ url, key }: At) => new Cartesia({ apiKey: key, baseURL: url, maxRetries: 0 })
const fileOf = ({ sound }: At) => new File([sound], 'audio.wav', { type: 'audio/wav' })
const spoken = { model_id: 'sonic-3', transcript: 'Hello there', voice: 'a0e99841' } as const

export const intentions: Intentions = {
  mp3: (at) =>
    clientOf(at).tts.generate({
      ...spoken,
      output_format: { container: 'mp3', sample_rate: 44_100, bit_rate: 128_000 },
    }),
  pcm: (at) =>
    clientOf(at).tts.generate({
      ...spoken,
      output_format: { container: 'raw', encoding: 'pcm_s16le', sample_rate: 24_000 },
      generation_config: { speed: 1.2 },
    }),
  transcript: (at) => clientOf(at).stt.transcribe({ file: fileOf(at), model: 'ink-whisper' }),
  words: (at) =>
    clientOf(at).stt.transcribe({
      file: fileOf(at),
      model: 'ink-whisper',
      language: 'de',
      timestamp_granularities: ['word'],
    }),
}
