import { inDetail, ofAddress, transcription } from '../../../test/vendor-sdks/asks.ts'
import type { VendorSdk } from '../../../test/vendor-sdks/vendor.ts'

export const sdk: VendorSdk = {
  packages: { registry: 'npm', versions: { 'revai-node-sdk': '3.8.5' } },
  base: '/speechtotext/v1',
  simulated: '/revai/speechtotext/v1',
  asks: {
    transcript: transcription('machine'),
    detailed: transcription('machine', inDetail),
    address: ofAddress('machine', { language: 'en' }),
  },
  differences: [
    {
      at: 'POST /speechtotext/v1/jobs: body.*metadata',
      sdk: null,
      ours: '<made up>',
      why: 'the mark by which the gateway finds its own job again',
    },
  ],
}
