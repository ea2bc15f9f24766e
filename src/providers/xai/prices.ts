import type { PriceEntry } from '../../catalog/price-overlay.ts'

/** What the package lacks: sound, by the provider's own pages, under the names that the gateway gives it. */
export const xAiPrices: readonly PriceEntry[] = [
  {
    upstream: ['grok-stt'],
    prices: { audio_per_hour: '0.1' },
    source: 'https://docs.x.ai/developers/models/speech-to-text',
    seen: '2026-11',
  },
  {
    upstream: ['grok-tts'],
    prices: { characters_per_million: '4.20' },
    source: 'https://docs.x.ai/developers/models/text-to-speech',
    seen: '2026-04',
  },
]
