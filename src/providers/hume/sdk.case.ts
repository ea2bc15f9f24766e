import { speech } from '../../../test/vendor-sdks/asks.ts'
import type { VendorSdk } from '../../../test/vendor-sdks/vendor.ts'

export const sdk: VendorSdk = {
  packages: { registry: 'npm', versions: { hume: '0.16.0' } },
  base: '/v0',
  simulated: '/hume/v0',
  asks: {
    mp3: speech('octave-2', { voice: 'ito', response_format: 'mp3' }),
    pcm: speech('octave-1', { voice: 'ito', response_format: 'pcm', speed: 1.2 }),
  },
  differences: [],
}
