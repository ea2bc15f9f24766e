import type { PriceEntry } from '../../catalog/prices/provider-prices.ts'

/** Cohere's own list no longer has a price per search; it only defines a search unit. */
export const coherePrices: readonly PriceEntry[] = [
  {
    upstream: ['rerank-v4.0-fast', 'rerank-v3.5', 'rerank-english-v3.0', 'rerank-multilingual-v3.0'],
    prices: { search_units_per_thousand: '2' },
    source: 'https://developer.puter.com/tutorials/cohere-api-pricing/',
    seen: '2026-06',
    isThirdParty: true,
  },
  {
    upstream: ['rerank-v4.0-pro'],
    prices: { search_units_per_thousand: '2.5' },
    source: 'https://developer.puter.com/tutorials/cohere-api-pricing/',
    seen: '2026-06',
    isThirdParty: true,
  },
]
