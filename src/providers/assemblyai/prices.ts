import type { PriceEntry } from '../../catalog/prices/provider-prices.ts'

/**
 * From third-party lists, which read https://www.assemblyai.com/pricing from 2026-05 to 2026-09. That page prices each
 * add-on by the hour of audio. Key terms are included in universal-2.
 */
export const assemblyAiPrices: readonly PriceEntry[] = [
  {
    upstream: ['universal-3-5-pro'],
    prices: {
      audio_per_hour: '0.21',
      surcharges: {
        diarize: { per_hour: '0.02' },
        keyterms: { per_hour: '0.05' },
        entities: { per_hour: '0.08' },
      },
    },
    source: 'https://www.assemblyai.com/pricing',
    seen: '2026-11',
    isThirdParty: true,
  },
  {
    upstream: ['universal-2'],
    prices: {
      audio_per_hour: '0.15',
      surcharges: {
        diarize: { per_hour: '0.02' },
        keyterms: { per_hour: '0' },
        entities: { per_hour: '0.08' },
      },
    },
    source: 'https://www.assemblyai.com/pricing',
    seen: '2026-11',
    isThirdParty: true,
  },
]
