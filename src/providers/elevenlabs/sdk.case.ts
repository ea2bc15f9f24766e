import { inDetail, ofAddress, speech, transcription } from '../../../test/vendor-sdks/asks.ts'
import type { VendorSdk } from '../../../test/vendor-sdks/vendor.ts'

const voice = 'JBFqnCBsd6RMkjVDRZzb'

export const sdk: VendorSdk = {
  packages: { registry: 'npm', versions: { '@elevenlabs/elevenlabs-js': '2.73.0' }, isLarge: true },
  base: '/v1',
  simulated: '/elevenlabs/v1',
  asks: {
    mp3: speech('eleven_flash_v2_5', { voice, response_format: 'mp3' }),
    pcm: speech('eleven_flash_v2_5', { voice, response_format: 'pcm', speed: 1.2 }),
    transcript: transcription('scribe_v2'),
    detailed: transcription('scribe_v2', inDetail),
    address: ofAddress('scribe_v2', { language: 'fr', response_format: 'verbose_json' }),
  },
  differences: [],
}
