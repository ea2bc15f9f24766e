import { speech } from '../../../test/vendor-sdks/asks.ts'
import type { VendorSdk } from '../../../test/vendor-sdks/vendor.ts'

export const sdk: VendorSdk = {
  packages: { registry: 'npm', versions: { 'lmnt-node': '2.12.0' } },
  base: '/v1',
  simulated: '/lmnt/v1',
  asks: {
    mp3: speech('blizzard', { voice: 'leah', response_format: 'mp3' }),
    pcm: speech('blizzard', { voice: 'leah', response_format: 'pcm' }),
  },
  differences: [
    {
      at: 'POST /v1/ai/speech/bytes: header.lmnt-version',
      sdk: '1.1',
      ours: '1.2',
      why: 'its clients send either; its client for Python the newer one',
    },
  ],
}
