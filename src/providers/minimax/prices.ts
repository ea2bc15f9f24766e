import type { PriceEntry } from '../../catalog/prices/provider-prices.ts'

/** From a reseller's list; MiniMax's own list is by plan. */
export const miniMaxPrices: readonly PriceEntry[] = [
  {
    upstream: ['speech-2.8-hd', 'speech-2.6-hd', 'speech-02-hd'],
    prices: { characters_per_million: '100' },
    source: 'https://github.com/MiniMax-AI/MiniMax-MCP',
    seen: '2026-11',
    isThirdParty: true,
  },
  {
    upstream: ['speech-2.8-turbo', 'speech-2.6-turbo', 'speech-02-turbo'],
    prices: { characters_per_million: '60' },
    source: 'https://github.com/MiniMax-AI/MiniMax-MCP',
    seen: '2026-11',
    isThirdParty: true,
  },
]
