import type { PriceEntry } from '../../catalog/prices/provider-prices.ts'

/** The price package still has the prices of early 2025. */
export const deepSeekPrices: readonly PriceEntry[] = [
  {
    upstream: ['deepseek-chat', 'deepseek-reasoner'],
    prices: { input_per_million: '0.28', cached_input_per_million: '0.028', output_per_million: '0.42' },
    source: 'https://api-docs.deepseek.com/quick_start/pricing',
    seen: '2026-06',
  },
]
