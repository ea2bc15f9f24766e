import { speech } from '../asks.ts'
import type { Vendor } from '../vendor.ts'

export const hume: Vendor = {
  slug: 'hume',
  sdk: { registry: 'npm', versions: { hume: '0.16.0' } },
  program: 'hume.ts',
  base: '/v0',
  simulated: '/hume/v0',
  asks: {
    mp3: speech('octave-2', { voice: 'ito', response_format: 'mp3' }),
    pcm: speech('octave-1', { voice: 'ito', response_format: 'pcm', speed: 1.2 }),
  },
  differences: [],
}
