import type { PriceEntry, TierRule } from '../../catalog/prices/provider-prices.ts'

/** How Groq counts billed time; the package has the price. */
export const groqPrices: readonly PriceEntry[] = [
  {
    upstream: ['whisper-large-v3', 'whisper-large-v3-turbo'],
    prices: { minimum_seconds: 10, round_to_seconds: 1 },
    source: 'https://console.groq.com/docs/speech-to-text',
    seen: '2026-10',
  },
]

/**
 * Half of all tokens of a chat model; the page names no list of models that is kept up to date. The systems that search by
 * themselves are billed for their tools too, and are not among them.
 * https://console.groq.com/docs/batch
 */
export const groqTiers: readonly TierRule[] = [
  {
    tier: 'batch',
    models: /^(?!(?:groq\/)?compound)(?!.*(?:whisper|tts|orpheus|guard|safeguard))/,
    share: [1n, 2n],
  },
]
