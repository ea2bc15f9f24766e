import { speech } from '../../../test/vendor-sdks/asks.ts'
import type { VendorSdk } from '../../../test/vendor-sdks/vendor.ts'

export const sdk: VendorSdk = {
  packages: { registry: 'python', versions: { 'inworld-tts': '1.2.1' } },
  base: '/tts/v1',
  simulated: '/inworld/tts/v1',
  asks: {
    mp3: speech('inworld-tts-2', { voice: 'Ashley', response_format: 'mp3' }),
    pcm: speech('inworld-tts-2', { voice: 'Ashley', response_format: 'pcm', speed: 1.2 }),
  },
  differences: [
    {
      at: 'POST /tts/v1/voice:stream: body.temperature',
      sdk: '1',
      ours: null,
      why: 'the SDK spells out its default',
    },
    {
      of: 'mp3',
      at: 'POST /tts/v1/voice:stream: body.audioConfig.speakingRate',
      sdk: '1',
      ours: null,
      why: 'the SDK spells out its default',
    },
  ],
}
