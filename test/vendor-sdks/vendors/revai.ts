import { inDetail, ofAddress, transcription } from '../asks.ts'
import type { Vendor } from '../vendor.ts'

export const revai: Vendor = {
  slug: 'revai',
  sdk: { registry: 'npm', versions: { 'revai-node-sdk': '3.8.5' } },
  program: 'revai.ts',
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
