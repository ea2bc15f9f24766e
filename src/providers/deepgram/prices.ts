import type { PriceEntry } from '../../catalog/price-overlay.ts'

/** What others list for the voices; the price of a family is that of each of its voices. */
export const auraPrices: readonly PriceEntry[] = [
  {
    upstream: ['aura-2', 'aura-2-thalia-en'],
    prices: { characters_per_million: '30' },
    source: 'https://developers.deepgram.com/docs/text-to-speech',
    seen: '2026-11',
  },
  {
    upstream: ['aura'],
    prices: { characters_per_million: '15' },
    source: 'https://developers.deepgram.com/docs/text-to-speech',
    seen: '2026-11',
  },
]
