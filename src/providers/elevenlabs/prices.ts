import type { PriceEntry } from '../../catalog/prices/provider-prices.ts'

/**
 * The prices of Scribe v2 and its entities come from readers of https://elevenlabs.io/pricing/api (2026-08 and
 * 2026-09). The fractions, and that separately requested channels are billed one by one, come from the provider's own
 * reference. Its minimum of 20 s with terms applies to more than 100 terms, and a call here has at most 100.
 */
export const elevenLabsPrices: readonly PriceEntry[] = [
  {
    upstream: ['scribe_v2', 'scribe_v1'],
    prices: {
      per_channel: 'when_asked',
      surcharges: {
        keyterms: { percent: 20 },
        transcript_edit: { percent: 30, minimum_seconds: 10 },
        speaker_roles: { percent: 10 },
      },
    },
    source: 'https://elevenlabs.io/docs/api-reference/speech-to-text/convert',
    seen: '2026-11',
  },
  {
    upstream: ['scribe_v2'],
    prices: { audio_per_hour: '0.22', surcharges: { entities: { per_hour: '0.07' } } },
    source: 'https://elevenlabs.io/pricing/api',
    seen: '2026-11',
    isThirdParty: true,
  },
]
