import type { PriceEntry } from '../../catalog/prices/provider-prices.ts'

/**
 * The package lacks sound; the models have the gateway's own names. Speech cost 4.20 in 2026-04 and 15 at two resellers
 * in 2026-05; the higher price counts until the provider's page is read again.
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
