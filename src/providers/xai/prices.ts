import type { PriceEntry } from '../../catalog/prices/provider-prices.ts'

/**
 * What the package lacks: sound, under the names that the gateway gives it. Speech cost 4.20 by a reading of 2026-04, and 15 at
 * two resellers in 2026-05: the dearer one counts until the provider's page was read again.
 */
export const xAiPrices: readonly PriceEntry[] = [
  {
    upstream: ['grok-stt'],
    prices: { audio_per_hour: '0.1' },
    source: 'https://docs.x.ai/developers/models/speech-to-text',
    seen: '2026-11',
  },
  {
    upstream: ['grok-tts'],
    prices: { characters_per_million: '15' },
    source: 'https://docs.x.ai/developers/models/text-to-speech',
    seen: '2026-05',
    isThirdParty: true,
  },
]
