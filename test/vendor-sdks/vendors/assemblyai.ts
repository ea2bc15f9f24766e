import { inDetail, ofAddress, transcription } from '../asks.ts'
import type { Vendor } from '../vendor.ts'

export const assemblyai: Vendor = {
  slug: 'assemblyai',
  sdk: { registry: 'npm', versions: { assemblyai: '4.41.5' } },
  program: 'assemblyai.ts',
  base: '',
  simulated: '/assemblyai',
  asks: {
    transcript: transcription('universal-3-5-pro'),
    detailed: transcription('universal-3-5-pro', { ...inDetail, temperature: 0.3 }),
    address: ofAddress('universal-2', { language: 'fr' }),
  },
  differences: [],
}
