import { inDetail, ofAddress, speech, transcription } from '../../../test/vendor-sdks/asks.ts'
import type { VendorSdk } from '../../../test/vendor-sdks/vendor.ts'

export const sdk: VendorSdk = {
  packages: { registry: 'npm', versions: { '@deepgram/sdk': '5.13.0' } },
  base: '/v1',
  simulated: '/deepgram/v1',
  asks: {
    mp3: speech('aura-2', { voice: 'thalia-en', response_format: 'mp3' }),
    pcm: speech('aura-2', { voice: 'thalia-en', response_format: 'pcm', speed: 1.2 }),
    transcript: transcription('nova-3'),
    detailed: transcription('nova-3', inDetail),
    address: ofAddress('nova-3', { language: 'en' }),
    private: transcription(
      'nova-3',
      { language: 'en', provider: { data_collection: 'deny' } },
      { provider: { data_policy: { zdr: true, trains: false, stores: false } } },
    ),
  },
  differences: [
    {
      at: 'POST /v1/listen: header.content-type',
      sdk: 'application/octet-stream',
      ours: 'audio/wav',
      why: 'the type of the sound says more than that of any bytes',
    },
  ],
}
