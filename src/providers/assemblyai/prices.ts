import type { PriceEntry } from '../../catalog/price-overlay.ts'

/** Known from other people's lists only. What speakers, terms and entities cost besides is not known. */
export const assemblyAiPrices: readonly PriceEntry[] = [
  {
    upstream: ['universal-3-5-pro'],
    prices: { audio_per_hour: '0.21' },
    source: 'https://github.com/api-evangelist/assemblyai',
    seen: '2026-10',
  },
  {
    upstream: ['universal-2'],
    prices: { audio_per_hour: '0.15' },
    source: 'https://github.com/api-evangelist/assemblyai',
    seen: '2026-10',
  },
]
