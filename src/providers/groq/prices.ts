import type { PriceEntry } from '../../catalog/prices/provider-prices.ts'

/** How Groq counts billed time; the package has the price. */
export const groqPrices: readonly PriceEntry[] = [
  {
    upstream: ['whisper-large-v3', 'whisper-large-v3-turbo'],
    prices: { minimum_seconds: 10, round_to_seconds: 1 },
    source: 'https://console.groq.com/docs/speech-to-text',
    seen: '2026-10',
  },
]
