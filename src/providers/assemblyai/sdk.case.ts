import { inDetail, ofAddress, transcription } from '../../../test/vendor-sdks/asks.ts'
import type { VendorSdk } from '../../../test/vendor-sdks/vendor.ts'

export const sdk: VendorSdk = {
  packages: { registry: 'npm', versions: { assemblyai: '4.41.5' } },
  base: '',
  simulated: '/assemblyai',
  asks: {
    transcript: transcription('universal-3-5-pro'),
    detailed: transcription('universal-3-5-pro', { ...inDetail, temperature: 0.3 }),
    address: ofAddress('universal-2', { language: 'fr' }),
  },
  differences: [],
}
