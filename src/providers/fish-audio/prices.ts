import type { PriceEntry } from '../../catalog/prices/provider-prices.ts'

/** Priced by bytes of UTF-8: a Chinese character costs three times as much as a Latin letter. */
export const fishPrices: readonly PriceEntry[] = [
  {
    upstream: ['s2.1-pro', 's2-pro', 's1'],
    prices: { utf8_bytes_per_million: '15' },
    source: 'https://github.com/fishaudio/docs',
    seen: '2026-11',
  },
]
