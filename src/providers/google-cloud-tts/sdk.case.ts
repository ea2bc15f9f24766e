import { speech } from '../../../test/vendor-sdks/asks.ts'
import type { VendorSdk } from '../../../test/vendor-sdks/vendor.ts'

const voice = 'en-US-Chirp3-HD-Kore'

export const sdk: VendorSdk = {
  packages: { registry: 'npm', versions: { '@google-cloud/text-to-speech': '6.4.1' }, isLarge: true },
  base: '/v1',
  simulated: '/google-cloud-tts/v1',
  asks: {
    mp3: speech('chirp3-hd', { voice, response_format: 'mp3' }),
    pcm: speech('chirp3-hd', { voice, response_format: 'pcm', speed: 1.2 }),
  },
  differences: [
    {
      at: 'POST /v1/text:synthesize: query.$alt',
      sdk: 'json;enum-encoding=int',
      ours: null,
      why: 'asks for enumerations as numbers',
    },
    {
      of: 'mp3',
      at: 'POST /v1/text:synthesize: body.audioConfig.audioEncoding',
      sdk: '2',
      ours: 'MP3',
      why: 'the same value of the enumeration, by its number',
    },
    {
      of: 'pcm',
      at: 'POST /v1/text:synthesize: body.audioConfig.audioEncoding',
      sdk: '7',
      ours: 'PCM',
      why: 'the same value of the enumeration, by its number',
    },
    {
      at: 'POST /v1/text:synthesize: header.x-goog-api-key',
      sdk: 'vendor-key-0001',
      ours: null,
      why: 'the SDK has a key here; the gateway is given an access token',
    },
    {
      at: 'POST /v1/text:synthesize: header.authorization',
      sdk: null,
      ours: 'Bearer vendor-key-0001',
      why: 'the SDK has a key here; the gateway is given an access token',
    },
  ],
}
