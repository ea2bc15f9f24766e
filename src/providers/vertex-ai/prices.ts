import type { PriceEntry } from '../../catalog/prices/provider-prices.ts'

const source = 'https://platform.claude.com/docs/en/about-claude/pricing'

/** Models of Claude that the price package has only at Anthropic; the same prices in `global`. */
export const vertexPrices: readonly PriceEntry[] = [
  {
    upstream: ['claude-opus-4-5*'],
    prices: {
      input_per_million: '5',
      cached_input_per_million: '0.5',
      cache_write_per_million: '6.25',
      output_per_million: '25',
    },
    source,
    seen: '2026-11',
  },
  {
    upstream: ['claude-haiku-4-5*'],
    prices: {
      input_per_million: '1',
      cached_input_per_million: '0.1',
      cache_write_per_million: '1.25',
      output_per_million: '5',
    },
    source,
    seen: '2026-11',
  },
]
