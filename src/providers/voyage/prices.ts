import type { PriceEntry } from '../../catalog/prices/provider-prices.ts'

/** Priced by tokens: the query's once for each document, and the documents'. */
export const voyagePrices: readonly PriceEntry[] = [
  {
    upstream: ['rerank-2.5', 'rerank-2'],
    prices: { input_per_million: '0.05' },
    source: 'https://www.getmaxim.ai/bifrost/model-library/provider/voyage',
    seen: '2026-11',
    isThirdParty: true,
  },
  {
    upstream: ['rerank-2.5-lite', 'rerank-2-lite'],
    prices: { input_per_million: '0.02' },
    source: 'https://openrouter.ai/voyageai',
    seen: '2026-11',
    isThirdParty: true,
  },
]
