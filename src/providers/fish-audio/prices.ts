import type { PriceEntry } from '../../catalog/prices/provider-prices.ts'

/** By the bytes of the text in UTF-8: a Chinese character costs three times what a Latin letter does. */
export const fishPrices: readonly PriceEntry[] = [
  {
    upstream: ['s2.1-pro', 's2-pro', 's1'],
    prices: { utf8_bytes_per_million: '15' },
    source: 'https://github.com/fishaudio/docs',
    seen: '2026-11',
  },
]
