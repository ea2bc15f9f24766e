import type { PriceEntry } from '../../catalog/price-overlay.ts'

/**
 * What an hour costs depends on the plan and nobody tells it; that terms cost a fifth more is told. Its least time of 20 s is for
 * more than 100 terms, and a call here has at most 100.
 */
export const elevenLabsPrices: readonly PriceEntry[] = [
  {
    upstream: ['scribe_v2', 'scribe_v1'],
    prices: { surcharges: { keyterms: { percent: 20 } } },
    source: 'https://elevenlabs.io/docs/api-reference/speech-to-text/convert',
    seen: '2026-11',
  },
]
