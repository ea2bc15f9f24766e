import type { PriceEntry } from '../../catalog/price-overlay.ts'

/** What the package lacks: speech, by the provider's own page. */
export const xAiPrices: readonly PriceEntry[] = [
  {
    upstream: ['grok-tts'],
    prices: { characters_per_million: '4.20' },
    source: 'https://docs.x.ai/developers/models/text-to-speech',
    seen: '2026-04',
  },
]
