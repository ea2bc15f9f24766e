import { speech, transcription, withWords } from '../../../test/vendor-sdks/asks.ts'
import { everyLanguage } from '../../../test/vendor-sdks/languages.ts'
import type { VendorSdk } from '../../../test/vendor-sdks/vendor.ts'

export const sdk: VendorSdk = {
  packages: { registry: 'npm', versions: { '@cartesia/cartesia-js': '4.2.0' } },
  base: '',
  simulated: '/cartesia',
  asks: {
    mp3: speech('sonic-3', { voice: 'a0e99841', response_format: 'mp3' }),
    pcm: speech('sonic-3', { voice: 'a0e99841', response_format: 'pcm', speed: 1.2 }),
    transcript: transcription('ink-whisper'),
    words: transcription('ink-whisper', withWords),
  },
  differences: [
    {
      at: 'POST /tts/bytes: header.accept',
      sdk: 'audio/wav',
      ours: null,
      why: 'the SDK says so whatever format is asked for',
    },
  ],
  enumerations: [
    {
      name: 'languages',
      declared: { file: '@cartesia/cartesia-js/resources/stt/stt.d.ts', line: "language?: 'en'" },
      words: everyLanguage,
      ask: (language) => transcription('ink-whisper', { language }),
      at: 'body.language',
      unreached: {
        haw: 'a caller names languages by two letters',
        yue: 'a caller names languages by two letters',
      },
    },
  ],
}
